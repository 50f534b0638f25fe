package offline

import (
	"context"
	"os"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/requesters"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/secrets/env"
)

// openPeople knows people by the configuration, and their groups by what is known of their logins.
func openPeople(cfg *config.Config, logins people.Logins) (known requesters.People, err error) {
	roster, err := people.New(cfg, logins)
	if err != nil {
		return known, err
	}
	own, err := OpenPersonal(cfg)
	return requesters.People{Roster: roster, Own: own}, err
}

// logins are those of which a caller knows; without one none is known.
type logins struct{ people.Logins }

func (l *logins) Groups(account string) []string {
	if l.Logins == nil {
		return nil
	}
	return l.Logins.Groups(account)
}

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

// PeopleOf are those whom the table of roles may name.
func PeopleOf(cfg *config.Config) tables.People {
	known := tables.People{Accounts: map[string][]string{}, Groups: []string{}}
	for _, p := range cfg.People {
		known.Accounts[p.Name] = []string{}
		for platform, ids := range p.Accounts {
			for _, id := range ids {
				known.Accounts[p.Name] = append(known.Accounts[p.Name], platform+"/"+id)
			}
		}
		known.Groups = append(known.Groups, p.Groups...)
	}
	if cfg.Operator.OIDC.Issuer != "" {
		known.Groups = nil // the provider's are known once people log in
	}
	return known
}

// StrangersInRoles are sentences about what the table of roles in force says of people whom the configuration does not name.
func StrangersInRoles(ctx context.Context, policies *pdp.PDP, cfg *config.Config) (all []string) {
	found, _, err := policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/roles")
	if err != nil {
		return nil // policies of before there were roles
	}
	for _, f := range tables.CheckRoles(map[string]any{"roles": found}, PeopleOf(cfg)) {
		all = append(all, strings.Join(f.At, ".")+": "+f.Wrong)
	}
	return all
}
