package config

import (
	"net"
	"os"
	"regexp"

	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Store says where approvals, grants and freezes are kept that several sidecars share.
type Store struct {
	Postgres Postgres
	// Replica is this sidecar's name among them.
	Replica string
	Peer    Peer
	// OnOutage is what becomes of what runs while the store does not answer: [OnOutageStop], or that it
	// goes on to its end.
	OnOutage string
	// OnStop is when a sidecar that is told to stop gives its sessions to the others: [OnStopRemove], or
	// each as soon as nothing of it runs.
	OnStop string
}

// The words of OnOutage: what runs is stopped, or goes on to its end. Nothing new runs either way.
const (
	OnOutageStop = "stop"
	finish       = "finish"
)

// The words of OnStop: sessions are given away once no sandbox is left, or as soon as nothing of them runs.
const (
	OnStopRemove = "remove"
	handOver     = "hand_over"
)

// Peer is where the sidecars reach this one, which then serves sessions of the others; without
// Listen each serves what comes to it.
type Peer struct {
	// Listen is the host:port where they come in, Address the one by which they find it.
	Listen, Address string
	// CA holds the certificates of who vouches for the sidecars, Cert and Key this one's.
	CA, Cert, Key string
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
			if !s.Postgres.DSN.IsSet() {
				r.fault(at, "lacks dsn: want {file: PATH} or {env: NAME}, which say where the connection string is kept")
			}
		},
		"replica": as(&s.Replica, func(at place) (string, bool) {
			return r.readShape(at, replicaName, "want a name of letters, digits, ., _ and -, is %q")
		}),
		"peer":      func(at place) { r.peer(&s.Peer, at) },
		"on_outage": r.oneOf(&s.OnOutage, "reaction", finish, OnOutageStop),
		"on_stop":   r.oneOf(&s.OnStop, "reaction", handOver, OnStopRemove),
	})
	if s.OnStop != "" && s.Peer.Listen == "" {
		r.fault(at, "has on_stop and lacks peer: without it there is no session that another sidecar would take over")
	}
	if s.OnOutage != "" && !s.Postgres.DSN.IsSet() {
		r.fault(at, "has on_outage and lacks postgres: without it there is no store whose outage would stop anything")
	}
	if s.Replica == "" {
		s.Replica, _ = os.Hostname()
	}
	if s.Postgres.DSN.IsSet() && !replicaName.MatchString(s.Replica) {
		r.fault(at, "lacks replica: the host's name %q is none; want one of letters, digits, ., _ and -", s.Replica)
	}
	if s.Peer.Listen != "" && !s.Postgres.DSN.IsSet() {
		r.fault(at, "lacks postgres: by what it holds sidecars know each other's sessions; without it there is no peer")
	}
	if _, port, err := net.SplitHostPort(s.Peer.Listen); err == nil && s.Peer.Address == "" {
		s.Peer.Address = net.JoinHostPort(s.Replica, port)
	}
}

func (r *reader) peer(p *Peer, at place) {
	r.section(at, fields{
		"listen": r.hostPort(&p.Listen), "address": r.hostPort(&p.Address),
		"tls": func(at place) {
			r.section(at, fields{"ca": as(&p.CA, r.path), "cert": as(&p.Cert, r.path), "key": as(&p.Key, r.path)})
		},
	})
	if p.Listen == "" || p.CA == "" || p.Cert == "" || p.Key == "" {
		r.fault(at, "lacks listen or tls: want {listen: \"0.0.0.0:7411\", tls: {ca: peers-ca.pem, cert: peer.pem, key: peer.key}}")
	}
}
