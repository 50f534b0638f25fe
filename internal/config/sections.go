package config

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff"
)

// messaging are the platforms on which a person may have accounts; a webhook stands for
// whatever service is behind it.
var messaging = []string{"telegram", "slack", "discord", "whatsapp", "signal", "matrix", "webhook"}

func (r *reader) config(c *Config, at place) {
	want := fields{
		"state_dir":    as(&c.StateDir, r.path),
		"agent":        func(at place) { r.agent(&c.Agent, at) },
		"operator":     func(at place) { r.operator(c, at) },
		"people":       func(at place) { r.people(c, at) },
		"metrics":      func(at place) { r.section(at, fields{"listen": r.hostPort(&c.Metrics.Listen)}) },
		"policies":     func(at place) { r.policies(&c.Policies, at) },
		"decision_log": func(at place) { r.decisionLog(&c.DecisionLog, at) },
		"traces":       func(at place) { r.traces(&c.Traces, at) },
		"env":          func(at place) { r.section(at, fields{"sources": r.sources(&c.Env)}) },
		"guards":       func(at place) { r.list(at, func(at place) { r.guard(c, at) }) },
		"approvals":    func(at place) { r.approvals(c, at) },
		"limits":       func(at place) { r.shares(&c.Limits, at) },
		"backends":     func(at place) { r.backends(c, at) },
		"egress":       func(at place) { r.egress(&c.Egress, at) },
		"store":        func(at place) { r.store(&c.Store, at) },
		"runner":       func(at place) { r.section(at, fields{"path": as(&c.Runner.Path, r.path)}) },
		"log": func(at place) {
			r.section(at, fields{
				"format": r.oneOf(&c.Log.Format, "format", "text", "json"),
				"level":  r.oneOf(&c.Log.Level, "level", "debug", "info", "warn", "error"),
			})
		},
	}
	maps.Copy(want, r.chatSections(&c.Chat))
	r.top = want
	r.section(at, want)
	r.checkListeners(c)
	for _, check := range r.whole {
		check()
	}
}

// checkListeners keeps agents from the operator's address.
func (r *reader) checkListeners(c *Config) {
	for i, l := range c.Agent.Listeners {
		if at, given := r.places[fmt.Sprintf("agent.listeners[%d].listen", i)]; given && l.Listen == c.Operator.Listen {
			r.fault(at, "%s is operator.listen, want an address of its own", l.Listen)
		}
	}
}

func (r *reader) agent(a *Agent, at place) {
	r.sectionOf(at, fields{
		"data_paths": r.each(&a.DataPaths, r.dataPath),
		"listeners": func(at place) {
			a.Listeners = []Listener{}
			r.list(at, func(at place) { r.listener(a, at) })
		},
	}, map[string]string{"max_sandboxes": "is limits.sandboxes.caller now, beside the other bounds on sandboxes"})
}

var dataPath = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)

func (r *reader) dataPath(at place) (string, bool) {
	return r.readShape(at, dataPath, `want a path such as "bailiff/decision", is %q`)
}

func (r *reader) listener(a *Agent, at place) {
	var l Listener
	before := len(r.faults)
	r.section(at, fields{
		"name":       as(&l.Name, r.label),
		"listen":     func(at place) { l.Listen = r.address(at) },
		"uids":       r.uids(&l.UIDs),
		"platforms":  r.each(&l.Platforms, r.platform),
		"token_file": as(&l.TokenFile, r.trustedPath),
		"mcp":        func(at place) { l.MCP = r.mcp(at) },
	})
	if len(r.faults) == before {
		r.checkListener(l, a.Listeners, at)
	}
	a.Listeners = append(a.Listeners, l)
}

func (r *reader) checkListener(l Listener, others []Listener, at place) {
	tcp := l.Listen.Network == "tcp"
	switch {
	case l.Name == "":
		r.fault(at, "name is missing")
	case l.Name == bailiff.ChannelOperator:
		r.fault(at, `the name "operator" is taken: by it the log knows what operators run themselves`)
	case slices.Contains(channels, l.Name):
		r.fault(at, "the name %q is taken: by it the log knows what came in by chat", l.Name)
	case l.Listen.Network == "":
		r.fault(at, "listen is missing")
	case tcp && l.TokenFile == "":
		r.fault(at, "token_file is missing: on tcp only a token tells who is calling")
	case tcp && len(l.UIDs) > 0:
		r.fault(at, "uids cannot be checked on tcp, want a Unix socket or no uids")
	case !tcp && l.TokenFile != "":
		r.fault(at, "token_file is for tcp; a Unix socket checks uids")
	case l.MCP != nil && !l.SpeaksFor(l.MCP.Session.Platform):
		r.fault(at, "mcp.platform is %s, for which the listener may not speak; name it in platforms", l.MCP.Session.Platform)
	}
	for _, o := range others {
		if o.Name == l.Name {
			r.fault(at, "the name %q is taken by another listener", l.Name)
		}
		if o.Listen == l.Listen {
			r.fault(at, "%s is taken by another listener", l.Listen)
		}
	}
}

var nameShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func (r *reader) label(at place) (string, bool) {
	return r.readShape(at, nameShape, "want up to 64 letters, digits and _.- only, is %q")
}

// readShape reads a text of a shape, or says of another text what is wanted.
func (r *reader) readShape(at place, shape *regexp.Regexp, want string) (string, bool) {
	at.describe(func(s *jsonschema.Schema) { s.Pattern = shape.String() })
	s, ok := r.text(at)
	if ok && !shape.MatchString(s) {
		r.fault(at, want, s)
		return "", false
	}
	return s, ok
}

var platformShape = regexp.MustCompile(`^(\*|[a-z0-9][a-z0-9_-]{0,63})$`)

// IsPlatform tells whether a text can be a platform's name, which "*" is not.
func IsPlatform(name string) bool { return name != "*" && platformShape.MatchString(name) }

func (r *reader) platform(at place) (string, bool) {
	return r.readShape(at, platformShape, `want a platform in lower case, "cli" or "*", is %q`)
}

// maxSocketPath is what the kernel has room for.
const maxSocketPath = 107

func (r *reader) address(at place) Address {
	s, ok := r.text(at)
	if !ok {
		return Address{}
	}
	network, rest, _ := strings.Cut(s, "://")
	switch {
	case network == "unix" && !filepath.IsAbs(rest):
		r.fault(at, "want an absolute path, as in unix:///run/bailiff/agent.sock, is %q", s)
	case network == "unix" && len(filepath.Clean(rest)) > maxSocketPath:
		r.fault(at, "is longer than the %d bytes that a socket's path may have", maxSocketPath)
	case network == "unix":
		return Address{network, filepath.Clean(rest)}
	case network == "tcp" && !isHostPort(rest):
		r.fault(at, "want tcp://host:port, is %q", s)
	case network == "tcp":
		return Address{network, rest}
	default:
		r.fault(at, "want unix:///path or tcp://host:port, is %q", s)
	}
	return Address{}
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, wrong := strconv.ParseUint(port, 10, 16)
	return err == nil && wrong == nil && host != "" && !strings.ContainsAny(host, "/@ ") && (n > 0 || port == "0")
}

// hostPort reads host:port, or "" for nowhere.
func (r *reader) hostPort(into *string) func(place) {
	return func(at place) {
		s, ok := r.anyText(at)
		if ok && s != "" && !isHostPort(s) {
			r.fault(at, `want host:port, or "" for none, is %q`, s)
			return
		}
		if ok {
			*into = s
		}
	}
}

func (r *reader) operator(c *Config, at place) {
	o := &c.Operator
	r.section(at, fields{
		"listen": func(at place) {
			o.Listen = r.address(at)
			if o.Listen.Network == "tcp" {
				r.fault(at, "want a Unix socket, as in unix:///run/bailiff/operator.sock")
			}
		},
		"uids": func(at place) {
			before := len(r.faults)
			if r.uids(&o.UIDs)(at); len(o.UIDs) == 0 && len(r.faults) == before {
				r.fault(at, "names no user, so nobody could operate the sidecar")
			}
		},
		"console":         r.hostPort(&o.Console),
		"tls":             func(at place) { r.consoleTLS(c, at) },
		"oidc":            func(at place) { r.oidc(c, at) },
		"tokens":          func(at place) { r.tokens(c, at) },
		"allow_same_user": r.boolean(&o.AllowSameUser),
		"break_glass":     r.boolean(&o.BreakGlass),
	})
}

func (r *reader) people(c *Config, at place) {
	c.People = []Person{}
	taken := map[string]string{}
	r.list(at, func(at place) {
		p := r.person(at)
		for _, id := range p.identities() {
			if other, twice := taken[id]; twice {
				r.fault(at, "%s belongs to %q already", id, other)
			}
			taken[id] = p.Name
		}
		c.People = append(c.People, p)
	})
}

func (r *reader) person(at place) Person {
	p := Person{Accounts: map[string][]string{}}
	want := fields{"name": as(&p.Name, r.label), "groups": r.each(&p.Groups, r.text), "uids": r.uids(&p.UIDs),
		"oidc": r.each(&p.OIDC, r.account), "roles": func(at place) { r.roles(&p.Roles, at) },
		"env": r.personal(&p.Env)}
	for _, platform := range messaging {
		want[platform] = func(at place) {
			var ids []string
			r.each(&ids, r.text)(at)
			p.Accounts[platform] = ids
		}
	}
	before := len(r.faults)
	r.section(at, want)
	if p.Name == "" && len(r.faults) == before {
		r.fault(at, "name is missing")
	}
	return p
}

// identities are what must be no one else's.
func (p Person) identities() []string {
	var ids []string
	if p.Name != "" {
		ids = append(ids, "the name "+p.Name)
	}
	for _, uid := range p.UIDs {
		ids = append(ids, "uid "+strconv.FormatUint(uint64(uid), 10))
	}
	for _, account := range p.OIDC {
		ids = append(ids, "oidc account "+account)
	}
	for _, platform := range messaging {
		for _, id := range p.Accounts[platform] {
			ids = append(ids, platform+" account "+id)
		}
	}
	for _, file := range p.Env {
		ids = append(ids, "the file of variables "+file)
	}
	return ids
}

// personal reads the files of variables that are one person's alone. The sidecar's own environment is no one's.
func (r *reader) personal(to *[]string) func(place) {
	return func(at place) {
		r.listOfTexts(at, func(at place) {
			s, ok := r.text(at)
			file, isFile := strings.CutPrefix(s, "file:")
			switch {
			case !ok:
			case !isFile || file == "":
				r.fault(at, `want "file:PATH", a file of this person's variables alone, is %q`, s)
			default:
				path, _ := r.absolute(at, file)
				*to = append(*to, path)
			}
		})
	}
}

func (r *reader) sources(e *Env) func(place) {
	return func(at place) {
		e.Sources = []Source{}
		r.listOfTexts(at, func(at place) {
			s, ok := r.text(at)
			file, isFile := strings.CutPrefix(s, "file:")
			switch {
			case !ok:
			case s == "process":
				e.Sources = append(e.Sources, Source{})
			case !isFile || file == "":
				r.fault(at, `want "process" or "file:PATH", is %q`, s)
			default:
				path, _ := r.absolute(at, file)
				e.Sources = append(e.Sources, Source{File: path})
			}
		})
	}
}

func (r *reader) shares(l *Limits, at place) {
	r.section(at, fields{
		"requests_per_minute": func(at place) { r.share(&l.RequestsPerMinute, at, 0, 1_000_000) },
		"pending_approvals":   func(at place) { r.share(&l.PendingApprovals, at, 1, 10_000) },
		"sandboxes":           func(at place) { r.sandboxes(&l.Sandboxes, at) },
		"warm":                func(at place) { r.warm(&l.Warm, at) },
	})
}

func (r *reader) sandboxes(s *SandboxShares, at place) {
	r.section(at, fields{
		"total": r.number(&s.Total, 1, 10_000), "caller": r.number(&s.Caller, 1, 10_000),
		"user": r.number(&s.User, 1, 10_000), "backend": r.number(&s.Backend, 1, 10_000),
	})
}

func (r *reader) warm(w *Warm, at place) {
	r.section(at, fields{"sandboxes": r.number(&w.Sandboxes, 0, 1000), "memory_mb": r.number(&w.MemoryMB, 0, 1<<20)})
}

func (r *reader) share(s *Shares, at place, least, most int) {
	r.section(at, fields{
		"caller": r.number(&s.Caller, least, most), "session": r.number(&s.Session, least, most),
		"user": r.number(&s.User, least, most),
	})
}
