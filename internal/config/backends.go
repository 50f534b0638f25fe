package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// backends reads the sections of technologies that are known; each says itself which
// keys it has.
func (r *reader) backends(c *Config, at place) {
	if _, empty := at.node.(*ast.NullNode); empty {
		return
	}
	c.Backends = Backends{}
	want := fields{}
	for name, section := range r.known {
		want[name] = func(at place) {
			c.Backends[name] = section()
			r.backend(c.Backends[name], at)
		}
	}
	before := len(r.faults)
	r.sectionOf(at, want, r.aliases())
	if len(c.Backends) == 0 && len(r.faults) == before {
		r.fault(at, "names no backend, want one or more of %s", strings.Join(slices.Sorted(maps.Keys(r.known)), ", "))
	}
}

// aliases are the other names of technologies, by which policies may call them.
func (r *reader) aliases() map[string]string {
	all := map[string]string{}
	for alias, name := range bailiff.BackendAliases {
		if r.known[name] != nil {
			all[alias] = fmt.Sprintf("is a name for policies only, write %q here", name)
		}
	}
	return all
}

func (r *reader) backend(section backends.Maker, at place) {
	before := len(r.faults)
	r.settings(section.Settings(), at)
	if len(r.faults) > before {
		return
	}
	if err := section.Check(); err != nil {
		r.fault(at, "%v", err)
	}
}

// sections are those that are settings, by their keys.
func (c *Config) sections() map[string][]settings.Setting {
	all := map[string][]settings.Setting{"decision_log.export": c.DecisionLog.Export.Settings(),
		"decision_log.syslog": c.DecisionLog.Syslog.Settings(), "traces": c.Traces.Settings(),
		"egress.upstream_proxy": {{Key: "credential", Into: &c.Egress.UpstreamProxy.Credential}},
		"store.postgres":        c.Store.Postgres.Settings(), "operator.oidc": c.Operator.OIDC.Settings()}
	for name, section := range c.Backends {
		all["backends."+name] = section.Settings()
	}
	if b := c.Policies.Bundle; b != nil {
		all["policies.bundle"] = b.Settings()
	}
	for name, section := range c.Chat.sections() {
		all[name] = section.Settings()
	}
	return all
}

// server reads a section that is a server, or has one among its settings, and wants to
// know where it is.
func (r *reader) server(s *httpapi.Server, list []settings.Setting, at place, where string) (sound bool) {
	before := len(r.faults)
	if r.settings(list, at); len(r.faults) == before && s.URL == "" {
		r.fault(at, "url is missing: say %s", where)
	}
	return len(r.faults) == before
}

func (r *reader) settings(list []settings.Setting, at place) {
	want := fields{}
	for _, s := range list {
		want[s.Key] = r.setting(s)
	}
	r.section(at, want)
}

// setting is what reads the value of one.
func (r *reader) setting(s settings.Setting) func(place) {
	one := func(at place) (string, bool) { return r.readChecked(s, at) }
	switch into := s.Into.(type) {
	case *string:
		return as(into, one)
	case *[]string:
		return r.each(into, one)
	case *bool:
		return r.boolean(into)
	case *int:
		return r.number(into, s.Least, s.Most)
	case *float64:
		return r.fraction(into)
	case *time.Duration:
		return r.duration(into, time.Duration(s.Least)*time.Second, time.Duration(s.Most)*time.Second)
	case *settings.Credential:
		return func(at place) { r.credential(into, at) }
	case []settings.Setting:
		return func(at place) { r.settings(into, at) }
	default:
		return func(at place) { r.fault(at, "is of a kind that nobody reads: %T", into) }
	}
}

// readChecked reads a text or a path that its setting has nothing against.
func (r *reader) readChecked(s settings.Setting, at place) (value string, ok bool) {
	switch {
	case len(s.Valid) > 0:
		r.oneOf(&value, "value", s.Valid...)(at)
		return value, value != ""
	case s.Path:
		value, ok = r.path(at)
	default:
		value, ok = r.text(at)
	}
	if !ok || s.Check == nil {
		return value, ok
	}
	err := s.Check(value)
	switch {
	case err == nil:
		return value, true
	case holdsPassword.MatchString(value):
		r.fault(at, "%v", err)
	default:
		r.fault(at, "%v, is %q", err, value)
	}
	return "", false
}

// holdsPassword knows addresses that are not repeated.
var holdsPassword = regexp.MustCompile(`(?s):.*@`)
