package pdp

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

// The rules of denials that come from no policy.
const (
	ruleInvalid = "policy.invalid"
	ruleError   = "policy.error"

	insteadOfInvalid = "Have whoever keeps the policies mend them; until then this is denied."
	insteadOfError   = "Send it again, in smaller parts if it is long; if that is denied too, tell whoever keeps the policies."
)

// decide turns the policies' answer into a decision, or into a denial that says
// where the answer is wrong. The denials that a wrong answer holds are kept, so
// that what the policies said about the request is not lost.
func decide(answer *ast.Term, backends map[string]bailiff.BackendState) (bailiff.Decision, error) {
	var d bailiff.Decision
	r := reader{}
	r.decision(answer, &d)
	if r.wrong == "" {
		r.agree(&d, backends)
	}
	if r.wrong == "" {
		return d, nil
	}
	fault := fmt.Errorf("reading the policies' decision: %s %s", pointer(r.at), r.wrong)
	denied := denial(ruleInvalid, "The policies gave no valid decision: "+pointer(r.at)+" "+r.wrong+".", insteadOfInvalid)
	denied.Denials = append(denied.Denials, said(answer)...)
	return denied, fault
}

func denial(rule, message, instead string) bailiff.Decision {
	d := bailiff.Denied(rule, message)
	d.Denials[0].Instead = instead
	return d
}

// said are the denials that can be read in a wrong answer.
func said(answer *ast.Term) []bailiff.Reason {
	whole, ok := answer.Value.(ast.Object)
	if !ok {
		return nil
	}
	denials := whole.Get(ast.InternedTerm("denials"))
	if denials == nil {
		return nil
	}
	r := reader{}
	return r.reasons(denials)
}

func pointer(at string) string {
	if at == "" {
		return "the document"
	}
	return at
}

// reader reads a document strictly. It stops at the first thing that is wrong;
// at is the JSON pointer to it, put together on the way back out.
type reader struct{ at, wrong string }

func (r *reader) fail(format string, args ...any) {
	if r.wrong == "" {
		r.wrong = fmt.Sprintf(format, args...)
	}
}

func (r *reader) failAt(at, format string, args ...any) {
	r.at = at
	r.fail(format, args...)
}

func (r *reader) decision(t *ast.Term, d *bailiff.Decision) {
	has := r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "outcome":
			r.outcome(v, &d.Outcome)
		case "denials":
			d.Denials = r.reasons(v)
		case "approval":
			d.Approval = r.approval(v)
		case "backend":
			r.backend(v, &d.Backend)
		case "env":
			r.env(v, &d.Env)
		case "limits":
			r.limits(v, &d.Limits)
		case "tools":
			d.Tools = r.tools(v)
		case "revision":
			r.fail("is set by the policies, but only bailiff knows it")
		default:
			r.fail("is no known key")
		}
	})
	r.need(has, "outcome")
}

func (r *reader) outcome(t *ast.Term, to *bailiff.Outcome) {
	name := r.oneOf(t, "allow", "ask", "deny")
	if r.wrong != "" {
		return
	}
	if err := to.UnmarshalText([]byte(name)); err != nil {
		r.fail("is %q, want allow, ask or deny", name)
	}
}

func (r *reader) approval(t *ast.Term) *bailiff.ApprovalTerms {
	var a bailiff.ApprovalTerms
	has := r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "reasons":
			a.Reasons = r.reasons(v)
		case "scopes":
			r.each(v, func(scope *ast.Term) { a.Scopes = append(a.Scopes, r.oneOf(scope, "once", "session", "always")) })
		case "timeout_seconds":
			a.TimeoutSeconds = r.count(v)
		case "grant_seconds":
			a.GrantSeconds = r.count(v)
		case "quorum":
			a.Quorum = r.count(v)
		default:
			r.fail("is no known key")
		}
	})
	r.need(has, "reasons", "scopes", "timeout_seconds", "quorum")
	return &a
}

func (r *reader) backend(t *ast.Term, b *bailiff.BackendTerms) {
	r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "name":
			b.Name = bailiff.BackendName(r.string(v))
		case "image":
			b.Image = r.string(v)
		case "scope":
			b.Scope = r.oneOf(v, "session", "user", "request")
		case "idle_seconds":
			b.IdleSeconds = r.count(v)
		case "max_seconds":
			b.MaxSeconds = r.count(v)
		case "persistent":
			b.Persistent = r.bool(v)
		case "network":
			b.Network = r.oneOf(v, "none", "egress", "full")
		case "egress":
			b.Egress = r.strings(v)
		case "cpus":
			b.CPUs = r.amount(v)
		case "memory_mb":
			b.MemoryMB = r.count(v)
		case "disk_mb":
			b.DiskMB = r.count(v)
		case "pids":
			b.PIDs = r.count(v)
		case "read_only":
			b.ReadOnly = r.bool(v)
		case "mounts":
			b.Mounts = []bailiff.Mount{}
			r.each(v, func(m *ast.Term) { b.Mounts = append(b.Mounts, r.mount(m)) })
		default:
			r.fail("is no known key")
		}
	})
}

func (r *reader) mount(t *ast.Term) (m bailiff.Mount) {
	has := r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "source":
			m.Source = r.path(v)
		case "target":
			m.Target = r.path(v)
		case "read_only":
			m.ReadOnly = r.bool(v)
		default:
			r.fail("is no known key")
		}
	})
	r.need(has, "source", "target")
	return m
}

func (r *reader) env(t *ast.Term, e *bailiff.EnvTerms) {
	r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "forward":
			e.Forward = r.names(v)
		case "sealed":
			e.Sealed = r.names(v)
		case "withheld":
			e.Withheld = []bailiff.Withheld{}
			r.each(v, func(w *ast.Term) { e.Withheld = append(e.Withheld, r.withheld(w)) })
		case "set":
			e.Set = map[string]string{}
			r.object(v, func(name string, value *ast.Term) { e.Set[r.variable(name)] = r.string(value) })
		default:
			r.fail("is no known key")
		}
	})
}

func (r *reader) withheld(t *ast.Term) (w bailiff.Withheld) {
	has := r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "name":
			w.Name = r.string(v)
		case "rule":
			w.Rule = r.string(v)
		default:
			r.fail("is no known key")
		}
	})
	r.need(has, "name", "rule")
	return w
}

func (r *reader) limits(t *ast.Term, l *bailiff.Limits) {
	r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "timeout_seconds":
			l.TimeoutSeconds = r.count(v)
		case "output_bytes":
			l.OutputBytes = r.count(v)
		case "background_seconds":
			l.BackgroundSeconds = r.count(v)
		case "processes":
			l.Processes = r.count(v)
		default:
			r.fail("is no known key")
		}
	})
}

func (r *reader) tools(t *ast.Term) []string {
	all := []string{}
	r.each(t, func(v *ast.Term) { all = append(all, r.tool(r.string(v))) })
	return all
}

// tool reads a tool that a script may call: terminal or one of the agent's own.
func (r *reader) tool(name string) string {
	if !bailiff.IsCallable(name) {
		r.fail("is %q, which no script may call", name)
	}
	return name
}

// reasons are those up to the first that is wrong.
func (r *reader) reasons(t *ast.Term) []bailiff.Reason {
	all := []bailiff.Reason{}
	r.each(t, func(v *ast.Term) {
		if reason := r.reason(v); r.wrong == "" {
			all = append(all, reason)
		}
	})
	return all
}

func (r *reader) reason(t *ast.Term) (one bailiff.Reason) {
	has := r.object(t, func(key string, v *ast.Term) {
		switch key {
		case "rule":
			one.Rule = r.filled(v)
		case "message":
			one.Message = r.filled(v)
		case "match":
			one.Match = r.string(v)
		case "instead":
			one.Instead = r.string(v)
		case "hidden":
			one.Hidden = r.bool(v)
		default:
			r.fail("is no known key")
		}
	})
	r.need(has, "rule", "message")
	return one
}

// agree checks what no single value shows: that the parts of a decision say one
// thing, and that what is to be run is bounded.
func (r *reader) agree(d *bailiff.Decision, backends map[string]bailiff.BackendState) {
	if d.Outcome == bailiff.Deny {
		d.Approval = nil
		if len(d.Denials) == 0 {
			r.failAt("/denials", "is empty although the outcome is deny")
		}
		return
	}
	switch asks := d.Approval != nil && len(d.Approval.Reasons) > 0; {
	case len(d.Denials) > 0:
		r.failAt("/outcome", "is %s although there are denials", d.Outcome)
	case d.Outcome == bailiff.Ask && !asks:
		r.failAt("/approval/reasons", "is empty although the outcome is ask")
	case d.Outcome == bailiff.Allow && asks:
		r.failAt("/outcome", "is allow although there are reasons to ask")
	case d.Outcome == bailiff.Ask:
		r.bounded(d.Approval)
	default:
		d.Approval = nil
	}
	if r.wrong == "" {
		r.runnable(d, backends)
	}
}

func (r *reader) bounded(a *bailiff.ApprovalTerms) {
	switch {
	case len(a.Scopes) == 0:
		r.failAt("/approval/scopes", "is empty: want at least once")
	case a.Quorum < 1:
		r.failAt("/approval/quorum", "is %d, want 1 or more", a.Quorum)
	case a.TimeoutSeconds < 1:
		r.failAt("/approval/timeout_seconds", "is %d, want 1 or more", a.TimeoutSeconds)
	}
}

func (r *reader) runnable(d *bailiff.Decision, backends map[string]bailiff.BackendState) {
	_, known := backends[d.Backend.Name]
	switch {
	case !known:
		r.failAt("/backend/name", "is %q, which is no configured backend", d.Backend.Name)
	case d.Backend.Scope == "":
		r.failAt("/backend/scope", "is missing")
	case d.Backend.Network == "":
		r.failAt("/backend/network", "is missing")
	case d.Backend.Network != "egress" && len(d.Backend.Egress) > 0:
		r.failAt("/backend/egress", "names hosts although the network is %s", d.Backend.Network)
	case d.Limits.TimeoutSeconds == 0:
		r.failAt("/limits/timeout_seconds", "is missing or zero: want a limit")
	case d.Limits.OutputBytes == 0:
		r.failAt("/limits/output_bytes", "is missing or zero: want a limit")
	}
}

// object hands every entry on and returns the object, for need.
func (r *reader) object(t *ast.Term, entry func(key string, v *ast.Term)) ast.Object {
	o, ok := t.Value.(ast.Object)
	if !ok {
		r.fail("is %s, want an object", kind(t))
		return nil
	}
	o.Until(func(k, v *ast.Term) bool {
		name, ok := k.Value.(ast.String)
		if !ok {
			r.fail("has the key %v, want strings", k)
			return true
		}
		entry(string(name), v)
		return r.out(string(name))
	})
	return o
}

// each hands on the elements of an array, or of a set, which JSON makes an array of.
func (r *reader) each(t *ast.Term, element func(*ast.Term)) {
	list, ok := t.Value.(*ast.Array)
	if set, isSet := t.Value.(ast.Set); isSet {
		list, ok = set.Sorted(), true
	}
	if !ok {
		r.fail("is %s, want an array", kind(t))
		return
	}
	for i := range list.Len() {
		element(list.Elem(i))
		if r.wrong != "" {
			r.out(strconv.Itoa(i))
			return
		}
	}
}

// out leaves an entry: if something is wrong in it, its name leads there.
func (r *reader) out(name string) (stop bool) {
	if r.wrong == "" {
		return false
	}
	r.at = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name) + r.at
	return true
}

func (r *reader) need(o ast.Object, keys ...string) {
	if r.wrong != "" {
		return
	}
	for _, key := range keys {
		if o.Get(ast.InternedTerm(key)) == nil {
			r.fail("is missing")
			r.out(key)
			return
		}
	}
}

func (r *reader) string(t *ast.Term) string {
	s, ok := t.Value.(ast.String)
	switch {
	case !ok:
		r.fail("is %s, want a string", kind(t))
	case strings.ContainsRune(string(s), 0):
		r.fail("holds a NUL byte")
	}
	return string(s)
}

func (r *reader) filled(t *ast.Term) string {
	s := r.string(t)
	if s == "" {
		r.fail("is empty")
	}
	return s
}

func (r *reader) strings(t *ast.Term) []string {
	all := []string{}
	r.each(t, func(v *ast.Term) { all = append(all, r.filled(v)) })
	return all
}

func (r *reader) names(t *ast.Term) []string {
	all := []string{}
	r.each(t, func(v *ast.Term) { all = append(all, r.variable(r.string(v))) })
	return all
}

func (r *reader) variable(name string) string {
	if !bailiff.IsVariable(name) {
		r.fail("is %q, which is no name of a variable", name)
	}
	return name
}

func (r *reader) path(t *ast.Term) string {
	s := r.string(t)
	if !path.IsAbs(s) || path.Clean(s) != s {
		r.fail("is %q, want a clean absolute path", s)
	}
	return s
}

func (r *reader) oneOf(t *ast.Term, known ...string) string {
	s := r.string(t)
	if !slices.Contains(known, s) {
		last := len(known) - 1
		r.fail("is %q, want %s or %s", s, strings.Join(known[:last], ", "), known[last])
	}
	return s
}

func (r *reader) bool(t *ast.Term) bool {
	b, ok := t.Value.(ast.Boolean)
	if !ok {
		r.fail("is %s, want true or false", kind(t))
	}
	return bool(b)
}

// count reads a whole number that fits anywhere: products with a mebibyte or a
// second cannot overflow.
func (r *reader) count(t *ast.Term) int {
	n, ok := t.Value.(ast.Number)
	if !ok {
		r.fail("is %s, want a number", kind(t))
		return 0
	}
	i, ok := n.Int64()
	if !ok || i < 0 || i > math.MaxInt32 {
		r.fail("is %s, want a whole number from 0 to %d", n, math.MaxInt32)
		return 0
	}
	return int(i)
}

// maxCPUs is more than any machine has.
const maxCPUs = 4096

func (r *reader) amount(t *ast.Term) float64 {
	n, ok := t.Value.(ast.Number)
	if !ok {
		r.fail("is %s, want a number", kind(t))
		return 0
	}
	f, ok := n.Float64()
	if !ok || !(f >= 0 && f <= maxCPUs) {
		r.fail("is %s, want a number from 0 to %d", n, maxCPUs)
	}
	return f
}

// kind names what a value is.
func kind(t *ast.Term) string {
	switch name := ast.ValueName(t.Value); name {
	case "object", "array":
		return "an " + name
	case "null":
		return name
	default:
		return "a " + name
	}
}
