package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/secrets/swap"
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
	r := reader{}
	d := r.decision(answer)
	if r.wrong == "" {
		r.agree(&d, backends)
	}
	if r.wrong == "" {
		return d, nil
	}
	fault := fmt.Errorf("reading the policies' decision: %s %s", pointer(r.at), r.wrong)
	denied := Denial(ruleInvalid, "The policies gave no valid decision: "+pointer(r.at)+" "+r.wrong+".", insteadOfInvalid)
	denied.Denials = append(denied.Denials, said(answer)...)
	return denied, fault
}

// Denial is a denial by one rule, which says what would be allowed instead.
func Denial(rule, message, instead string) bailiff.Decision {
	d := bailiff.Denial(rule, message)
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

func (r *reader) decision(t *ast.Term) (d bailiff.Decision) {
	r.object(t, fields{
		{"outcome", into(&d.Outcome, r.outcome)},
		{"denials", into(&d.Denials, r.reasons)},
		{"approval", into(&d.Approval, r.approval)},
		{"backend", into(&d.Backend, r.backend)},
		{"env", into(&d.Env, r.env)},
		{"limits", into(&d.Limits, r.limits)},
		{"tools", into(&d.Tools, r.tools)},
		{"snapshot", into(&d.Snapshot, r.bool)},
		{"advise", into(&d.Advise, r.advice)},
		{"credentials_read", into(&d.CredentialsRead, listOf(r, r.filled))},
		{"observed", into(&d.Observed, listOf(r, r.filled))},
		{"without_observe", into(&d.WithoutObserve, r.oneOf("ask", "deny"))},
		{"budgets", into(&d.Budgets, listOf(r, r.budget))},
		{"revision", func(*ast.Term) { r.fail("is set by the policies, but only bailiff knows it") }},
	}, "outcome")
	return d
}

func (r *reader) budget(t *ast.Term) (b bailiff.Budget) {
	r.object(t, fields{
		{"name", into(&b.Name, r.filled)},
		{"per", into(&b.Per, r.oneOf("user", "chat", "platform", "all"))},
		{"count", into(&b.Count, r.oneOf(bailiff.CountRequests, bailiff.CountRunSeconds, bailiff.CountQuestions, bailiff.CountUploadMB))},
		{"window", into(&b.Window, r.oneOf("minute", "hour", "day"))},
		{"most", into(&b.Most, r.count)},
		{"left", into(&b.Left, r.count)},
	}, "name", "per", "count", "window", "most", "left")
	return b
}

func (r *reader) outcome(t *ast.Term) (o bailiff.Outcome) {
	name := r.oneOf("allow", "ask", "deny")(t)
	if r.wrong == "" && o.UnmarshalText([]byte(name)) != nil {
		r.fail("is %q, want allow, ask or deny", name)
	}
	return o
}

func (r *reader) approval(t *ast.Term) *bailiff.ApprovalTerms {
	var a bailiff.ApprovalTerms
	r.object(t, fields{
		{"reasons", into(&a.Reasons, r.reasons)},
		{"scopes", into(&a.Scopes, listOf(r, r.oneOf("once", "session", "always")))},
		{"timeout_seconds", into(&a.TimeoutSeconds, r.count)},
		{"grant_seconds", into(&a.GrantSeconds, r.count)},
		{"quorum", into(&a.Quorum, r.count)},
		{"patterns", into(&a.Patterns, r.bool)},
		{"covers_agents", into(&a.CoversAgents, r.bool)},
	}, "reasons", "scopes", "timeout_seconds", "quorum")
	return &a
}

func (r *reader) backend(t *ast.Term) (b bailiff.BackendTerms) {
	r.object(t, fields{
		{"name", func(v *ast.Term) { b.Name = bailiff.BackendName(r.string(v)) }},
		{"image", into(&b.Image, r.string)},
		{"runtime", into(&b.Runtime, r.string)},
		{"scope", into(&b.Scope, r.oneOf("session", "user", "request"))},
		{"idle_seconds", into(&b.IdleSeconds, r.count)},
		{"max_seconds", into(&b.MaxSeconds, r.count)},
		{"persistent", into(&b.Persistent, r.bool)},
		{"network", into(&b.Network, r.oneOf("none", "egress", "full"))},
		{"egress", into(&b.Egress, listOf(r, r.filled))},
		{"cpus", into(&b.CPUs, r.amount)},
		{"memory_mb", into(&b.MemoryMB, r.count)},
		{"disk_mb", into(&b.DiskMB, r.count)},
		{"workspace_mb", into(&b.WorkspaceMB, r.count)},
		{"workspace_files", into(&b.WorkspaceFiles, r.count)},
		{"pids", into(&b.PIDs, r.count)},
		{"read_only", into(&b.ReadOnly, r.bool)},
		{"mounts", into(&b.Mounts, listOf(r, r.mount))},
	})
	return b
}

func (r *reader) mount(t *ast.Term) (m bailiff.Mount) {
	r.object(t, fields{
		{"source", into(&m.Source, r.path)},
		{"target", into(&m.Target, r.path)},
		{"read_only", into(&m.ReadOnly, r.bool)},
		{"protected", into(&m.Protected, listOf(r, r.protectable))},
	}, "source", "target")
	return m
}

func (r *reader) protectable(t *ast.Term) string {
	s := r.string(t)
	if !bailiff.IsProtectable(s) {
		r.fail("is %q, want a path below the mount, such as .envrc, .claude/ or **/.npmrc", s)
	}
	return s
}

func (r *reader) env(t *ast.Term) (e bailiff.EnvTerms) {
	r.object(t, fields{
		{"forward", into(&e.Forward, listOf(r, r.variable))},
		{"sealed", into(&e.Sealed, listOf(r, r.variable))},
		{"swap", into(&e.Swap, listOf(r, r.swap))},
		{"from_user", into(&e.FromUser, listOf(r, r.variable))},
		{"withheld", into(&e.Withheld, listOf(r, r.withheld))},
		{"set", func(v *ast.Term) {
			e.Set = map[string]string{}
			r.entries(v, func(name string, value *ast.Term) { e.Set[r.variableNamed(name)] = r.string(value) })
		}},
	})
	return e
}

func (r *reader) swap(t *ast.Term) (s bailiff.Swap) {
	r.object(t, fields{
		{"name", into(&s.Name, r.variable)},
		{"hosts", into(&s.Hosts, listOf(r, r.exactHost))},
		{"in", into(&s.In, listOf(r, r.slot))},
		{"stray_passes", into(&s.StrayPasses, r.bool)},
		{"not_alone", into(&s.NotAlone, r.bool)},
	}, "name", "hosts", "in")
	return s
}

// noSlots are headers that servers write down or hand on.
var noSlots = []string{"cookie", "host", "origin", "referer", "user-agent"}

const (
	smallLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	ofParameters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.[]$" + smallLetters
)

// slot reads a place of a request in which a value may be put in.
func (r *reader) slot(t *ast.Term) string {
	said := r.string(t)
	if said == swap.Path {
		return said
	}
	name, isParameter := strings.CutPrefix(said, swap.InQuery)
	if isParameter {
		if strings.Trim(name, ofParameters) != "" || name == "" {
			r.fail("is %q, want query: and the name of a parameter", said)
		}
		return said
	}
	name = strings.TrimPrefix(said, swap.InHeader)
	if strings.Trim(name, smallLetters) != "" || name == "" || slices.Contains(noSlots, name) {
		r.fail("is %q, want the name of a header in small letters, none of %s, or query:NAME, or path", said, strings.Join(noSlots, ", "))
	}
	return said
}

// exactHost reads a host as connections name it: a pattern would let a value go to hosts
// that the row does not name.
func (r *reader) exactHost(t *ast.Term) string {
	said := r.string(t)
	host, err := reach.ParseHost(said)
	to, wrong := reach.ParseTarget(said)
	if (err != nil || host.String() != said) && (wrong != nil || to.String() != said) {
		r.fail("is %q, want one host in small letters, or host:port", said)
	}
	return said
}

func (r *reader) withheld(t *ast.Term) (w bailiff.Withheld) {
	r.object(t, fields{
		{"name", into(&w.Name, r.string)},
		{"rule", into(&w.Rule, r.string)},
	}, "name", "rule")
	return w
}

func (r *reader) limits(t *ast.Term) (l bailiff.Limits) {
	r.object(t, fields{
		{"timeout_seconds", into(&l.TimeoutSeconds, r.count)},
		{"output_bytes", into(&l.OutputBytes, r.count)},
		{"background_seconds", into(&l.BackgroundSeconds, r.count)},
		{"processes", into(&l.Processes, r.count)},
	})
	return l
}

// tools are those that a script may call: terminal, or one of the agent's own.
func (r *reader) tools(t *ast.Term) []string {
	return listOf(r, func(v *ast.Term) string {
		name := r.string(v)
		if !bailiff.IsCallable(name) {
			r.fail("is %q, which no script may call", name)
		}
		return name
	})(t)
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
	r.object(t, fields{
		{"rule", into(&one.Rule, r.filled)},
		{"message", func(t *ast.Term) { one.Message = sentence(r.filled(t)) }},
		{"match", into(&one.Match, r.string)},
		{"instead", func(t *ast.Term) { one.Instead = sentence(r.string(t)) }},
		{"severity", into(&one.Severity, r.oneOf(tables.Severities...))},
		{"attack", into(&one.Attack, listOf(r, r.technique))},
		{"hidden", into(&one.Hidden, r.bool)},
	}, "rule", "message")
	return one
}

func (r *reader) advice(t *ast.Term) (all []bailiff.Advice) {
	r.each(t, func(v *ast.Term) {
		var one bailiff.Advice
		r.object(v, fields{
			{"rule", into(&one.Rule, r.filled)},
			{"message", func(t *ast.Term) { one.Message = sentence(r.filled(t)) }},
		}, "rule", "message")
		all = append(all, one)
	})
	return all
}

// sentenceBytes bounds each sentence of a reason: requesters are told it, and each event of the decision log repeats it.
const sentenceBytes = 2000

// sentence is a sentence of a reason, or its beginning where it is longer than people read. What a reason matches is not
// cut: grants hold for it.
func sentence(s string) string {
	if begins := bailiff.Beginning(s, sentenceBytes); begins != s {
		return begins + "…"
	}
	return s
}

// technique reads the id of a technique of ATT&CK.
func (r *reader) technique(t *ast.Term) string {
	s := r.string(t)
	if !tables.IsTechnique(s) {
		r.fail("is %q, want a technique of ATT&CK, as T1059 or T1059.004", s)
	}
	return s
}

// agree checks what no single value shows: that the parts of a decision say one
// thing, and that what is to be run is bounded.
func (r *reader) agree(d *bailiff.Decision, backends map[string]bailiff.BackendState) {
	if d.Outcome == bailiff.Deny {
		d.Approval, d.Advise, d.CredentialsRead, d.Observed, d.WithoutObserve, d.Budgets = nil, nil, nil, nil, "", nil
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
	case d.Outcome == bailiff.Ask && d.Snapshot:
		r.failAt("/snapshot", "is true although the outcome is ask")
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
