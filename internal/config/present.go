package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

// Outlook is what a sidecar would find of that which its configuration names.
type Outlook struct {
	// Faults are what it could not use, Doubts what may be otherwise where it runs.
	Faults, Doubts Faults
}

// Check loads a configuration and looks at what it would use: files of
// credentials, keys and certificates, images, folders, variables. What is wrong with
// that keeps no sidecar from starting, but its backend from being ready.
func Check(path string, known backends.Catalogue) (*Config, Outlook, error) {
	c, r, err := load(path, known)
	if err != nil {
		return nil, Outlook{}, err
	}
	return c, r.look(c), nil
}

func (r *reader) look(c *Config) (o Outlook) {
	sections := c.sections()
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		r.lookAt(&o, sections[name], name)
	}
	for i, l := range c.Agent.Listeners {
		if l.TokenFile != "" {
			r.note(&o, fmt.Sprintf("agent.listeners[%d].token_file", i), settings.Credential{File: l.TokenFile}.Present())
		}
	}
	if c.Runner.Path != "" {
		r.note(&o, "runner.path", checkRunner(c.Runner.Path))
	}
	r.lookAtEgress(&o, c.Egress)
	r.lookAtTLS(&o, c.Operator.TLS)
	r.lookAtTokens(&o, c.Operator.Tokens)
	byLine := func(a, b Fault) int { return a.Line - b.Line }
	slices.SortStableFunc(o.Faults, byLine)
	slices.SortStableFunc(o.Doubts, byLine)
	return o
}

func (r *reader) lookAt(o *Outlook, list []settings.Setting, section string) {
	for _, s := range list {
		key := under(section, s.Key)
		switch into := s.Into.(type) {
		case []settings.Setting:
			r.lookAt(o, into, key)
		case *settings.Credential:
			if into.IsSet() {
				r.note(o, key, into.Present())
			}
		case *string:
			r.lookFor(o, s, key, *into)
		case *[]string:
			for i, value := range *into {
				r.lookFor(o, s, fmt.Sprintf("%s[%d]", key, i), value)
			}
		}
	}
}

// lookFor looks at what a text names that stands in the file: a default may name what
// few have.
func (r *reader) lookFor(o *Outlook, s settings.Setting, key, value string) {
	if _, given := r.places[key]; given && s.Present != nil {
		r.note(o, key, s.Present(value))
	}
}

// note notes what was found about the value of a key, which is a default where the
// file has only a section above it.
func (r *reader) note(o *Outlook, key string, err error) {
	if err == nil {
		return
	}
	at, given := r.places[key]
	for above := key; !given && above != ""; at, given = r.places[above] {
		above = above[:max(0, strings.LastIndex(above, "."))]
	}
	found := r.faultIn(place{key, at.node}, err.Error())
	if doubt := settings.Doubt(""); errors.As(err, &doubt) {
		o.Doubts = append(o.Doubts, found)
	} else {
		o.Faults = append(o.Faults, found)
	}
}
