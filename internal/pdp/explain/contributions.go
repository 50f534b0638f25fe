package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// contributions are those that came about, each once.
func (t *tracer) contributions() []Fired {
	all, named, known := []Fired{}, map[string]bool{}, map[string]bool{}
	if t.broken != nil {
		set, _ := t.SetOf(t.broken)
		written := t.written(t.broken).Head.Key
		failed := firedAt(t.broken, set, written.Value, oneLine(string(t.Scrub([]byte(written.String())))))
		failed.Part = "failed"
		all = append(all, failed)
	}
	for _, one := range t.said {
		named[one.value.String()] = named[one.value.String()] || !one.passed
	}
	for _, one := range t.said {
		value := one.value.String()
		again := fmt.Sprintf("%s:%d %s", one.File, one.Line, value)
		if one.passed && named[value] || known[again] || t.isBroken(one) {
			continue
		}
		known[again] = true
		if one.Part = t.partOf(one); one.Part != "" {
			all = append(all, one.Fired)
		}
	}
	order := []string{"failed", "denied", "asked", "observed", "withheld", "forwarded"}
	slices.SortStableFunc(all, func(a, b Fired) int {
		return cmp.Compare(uint(slices.Index(order, a.Part)), uint(slices.Index(order, b.Part)))
	})
	return all
}

// isBroken says whether a contribution is of the rule over which the policies failed.
func (t *tracer) isBroken(c contribution) bool {
	return t.broken != nil && c.File == t.broken.Location.File && c.Line == t.broken.Location.Row
}

// partOf is what became of a contribution; empty if it is of no interest.
func (t *tracer) partOf(c contribution) string {
	d := t.Decision
	is := func(r bailiff.Reason) bool { return r.Rule == c.Rule && r.Match == entryOf(c.value, "match") }
	switch c.Set {
	case "limits":
		return "limit"
	case "networks":
		return "network"
	case "backend_candidates":
		if bailiff.BackendName(entryOf(c.value, "name")) == d.Backend.Name {
			return "backend"
		}
		return ""
	case "withhold_env":
		return "withheld"
	case "forward_env":
		if name, ok := c.value.(ast.String); ok && slices.Contains(d.Env.Forward, string(name)) {
			return "forwarded"
		}
		return "nothing"
	}
	switch {
	case slices.ContainsFunc(d.Denials, is):
		return "denied"
	case slices.ContainsFunc(d.Reasons(), is):
		return "asked"
	case slices.Contains(d.Observed, c.Rule):
		return "observed"
	}
	return "nothing"
}
