package offline

import (
	"os"

	"github.com/bailiff-dev/bailiff/enforcer/requesters"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
)

// openPeople knows people by the configuration alone: what an OpenID provider said of their groups only a sidecar knows.
func openPeople(cfg *config.Config) (known requesters.People, err error) {
	roster, err := people.New(cfg, noLogins{})
	if err != nil {
		return known, err
	}
	own, err := OpenPersonal(cfg)
	return requesters.People{Roster: roster, Own: own}, err
}

type noLogins struct{}

func (noLogins) Groups(string) []string { return nil }

// OpenPersonal opens the variables that each person has apart.
func OpenPersonal(cfg *config.Config) (*env.Personal, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	files := map[string][]string{}
	for _, p := range cfg.People {
		for _, file := range p.Env {
			files[p.Name] = append(files[p.Name], "file:"+file)
		}
	}
	return env.OpenPersonal(files, home)
}
