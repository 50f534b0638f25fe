package config

import (
	"os"
	"regexp"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Store says where approvals, grants and freezes are kept that several sidecars share.
type Store struct {
	Postgres Postgres
	// Replica is this sidecar's name among them.
	Replica string
}

// Postgres is the database; without a DSN the state folder holds what there is.
type Postgres struct {
	// DSN holds the connection string.
	DSN settings.Credential
	// CAFile holds the certificates of who may vouch for the server; empty means those that
	// the system trusts.
	CAFile string
}

// Settings are the keys of store.postgres.
func (p *Postgres) Settings() []settings.Setting {
	return []settings.Setting{{Key: "dsn", Into: &p.DSN}, {Key: "ca_file", Into: &p.CAFile, Path: true}}
}

var replicaName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func (r *reader) store(s *Store, at place) {
	r.section(at, fields{
		"postgres": func(at place) {
			r.settings(s.Postgres.Settings(), at)
			if !s.Postgres.DSN.Given() {
				r.fault(at, "lacks dsn: want {file: PATH} or {env: NAME}, which say where the connection string is kept")
			}
		},
		"replica": as(&s.Replica, func(at place) (string, bool) {
			return r.shaped(at, replicaName, "want a name of letters, digits, ., _ and -, is %q")
		}),
	})
	if s.Replica == "" {
		s.Replica, _ = os.Hostname()
	}
	if s.Postgres.DSN.Given() && !replicaName.MatchString(s.Replica) {
		r.fault(at, "lacks replica: the host's name %q is none; want one of letters, digits, ., _ and -", s.Replica)
	}
}
