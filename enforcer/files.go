package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// maxOpened is how many files that a text may depend on are looked at one by one; those
// beyond it are unbound.
const maxOpened = 256

// isMoving says that other text of the session runs beside what is approved, so that a file
// which it may depend on has no content that stands.
func (m *judged) isMoving() bool { return m.located.Tool == bailiff.Process || m.script != nil }

// dependencies are the files that the text may depend on, as they are in the sandbox, and the
// names of those that have no content which stands: folders, patterns, names that the text
// does not tell.
func (m *judged) dependencies(ctx context.Context) (files []bailiff.File, unbound []string) {
	if m.isMoving() || len(m.Opens) == 0 {
		return nil, m.Opens
	}
	if files, err := m.held.Digest(ctx, m.located.Args.Workdir, m.Opens); err == nil {
		return files, nil
	}
	few := m.Opens[:min(len(m.Opens), maxOpened)]
	for _, path := range few {
		one, err := m.held.Digest(ctx, m.located.Args.Workdir, []string{path})
		if err != nil {
			unbound = append(unbound, path)
			continue
		}
		files = append(files, one...)
	}
	return files, append(unbound, m.Opens[len(few):]...)
}

// withUnbound adds to a claim's last reason which files an approval of it cannot hold.
func (e *Enforcer) withUnbound(c bailiff.Claim) bailiff.Claim {
	terms := c.Decision.Approval
	if terms == nil || len(terms.Reasons) == 0 {
		return c
	}
	var notes []string
	if len(c.Unbound) > 0 {
		notes = append(notes, "The approval does not hold the content of "+first(c.Unbound)+
			", which may change before the command reads it.")
	}
	if len(c.Ground.Links) > 0 {
		notes = append(notes, "There are links: "+first(leads(c.Ground.Links))+".")
	}
	if backend := e.config.Backends[c.Decision.Backend.Name]; backend != nil && !backend.Isolated() {
		what := "what the paths of the command lead to"
		if len(c.Files) > 0 {
			what = first(paths(c.Files)) + " and " + what
		}
		notes = append(notes, "On this host another process may still change "+what+", until the command opens them.")
	}
	if len(notes) == 0 {
		return c
	}
	said := *terms
	said.Reasons = slices.Clone(terms.Reasons)
	last := &said.Reasons[len(said.Reasons)-1]
	last.Message = strings.Join(append([]string{last.Message}, notes...), " ")
	c.Decision.Approval = &said
	return c
}

// leads say what links lead to in the end.
func leads(links []bailiff.Link) []string {
	var all []string
	for _, l := range links {
		all = append(all, l.Path+" leads to "+l.Targets[len(l.Targets)-1])
	}
	return all
}

func paths(files []bailiff.File) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.Path)
	}
	return all
}

// first spells out the first of many names, and counts the others.
func first(names []string) string {
	const few = 3
	said := strings.Join(names[:min(len(names), few)], ", ")
	if more := len(names) - few; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}
