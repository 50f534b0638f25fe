package offline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// Rights are what one person may by one of their accounts, as the policies judge a command that does nothing.
type Rights struct {
	Platform string `json:"platform"`
	// User is the account, or the user of this machine.
	User   string `json:"user"`
	Person string `json:"person,omitempty"`
	// Roles are theirs, each with what gives it.
	Roles map[string][]string `json:"roles"`
	// Outcome and Denials are of the command without a wish for a backend.
	Outcome bailiff.Outcome  `json:"outcome"`
	Denials []bailiff.Reason `json:"denials"`
	// Backends are those that the person may wish for, BackendsDenied the others with the reasons.
	Backends       []string                    `json:"backends"`
	BackendsDenied map[string][]bailiff.Reason `json:"backends_denied"`
	Network        string                      `json:"network"`
	Egress         []string                    `json:"egress"`
	Variables      []VariableRight             `json:"variables"`
	// Verdicts are the words of the roles on findings, by the rules.
	Verdicts map[string][]string `json:"verdicts"`
	// Budgets are those that hold; what is left of them the sidecar alone knows.
	Budgets []bailiff.Budget `json:"budgets"`
}

// VariableRight is what a person may of a variable of the table.
type VariableRight struct {
	Name string `json:"name"`
	// Programs are those with which it enters; none means any.
	Programs []string `json:"programs,omitempty"`
	// Own says that the value is the person's own.
	Own bool `json:"own,omitempty"`
	// Withheld is the rule that keeps it away; empty if it may enter.
	Withheld string `json:"withheld,omitempty"`
}

// withPrograms is the rule by which a variable enters beside its own programs only.
const withPrograms = "env.program"

// Knows has the OpenID provider's groups of people count, too.
func (j *Judge) Knows(logins people.Logins) { j.logins.Logins = logins }

// Rights are what a person may by each of their accounts. An account that belongs to no person is given as PLATFORM/ID.
func (j *Judge) Rights(ctx context.Context, cfg *config.Config, name string) (all []Rights, err error) {
	senders, err := sendersOf(cfg, name)
	if err != nil {
		return nil, err
	}
	tables, err := j.table(ctx, "env")
	if err != nil {
		return nil, err
	}
	rows, err := j.table(ctx, "roles")
	if err != nil {
		return nil, err
	}
	for _, req := range senders {
		r, err := j.rights(ctx, req, tables, rows)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// table is one of the policies'; those that have it not have no rows.
func (j *Judge) table(ctx context.Context, name string) (map[string]any, error) {
	found, _, err := j.policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/"+name)
	rows, _ := found.(map[string]any)
	return rows, err
}

// sendersOf are a command that does nothing, from each account of a person.
func sendersOf(cfg *config.Config, name string) (all []bailiff.Request, err error) {
	send := func(platform, user, peer string) {
		all = append(all, bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"}, Caller: caller, Peer: peer,
			Session: bailiff.Session{ID: "show", Platform: platform, ChatType: "dm", ChatID: user, UserID: user}})
	}
	if platform, id, ok := strings.Cut(name, "/"); ok {
		send(platform, id, "")
		return all, nil
	}
	at := slices.IndexFunc(cfg.People, func(p config.Person) bool { return p.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("people in bailiff.yaml names no %s: want %s, or an account as PLATFORM/ID", name, namesOf(cfg.People))
	}
	p := cfg.People[at]
	for _, uid := range p.UIDs {
		send("cli", fmt.Sprint(uid), bailiff.Credential(uid))
	}
	for _, platform := range slices.Sorted(maps.Keys(p.Accounts)) {
		for _, id := range p.Accounts[platform] {
			send(platform, id, "")
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no account and no uid in people of bailiff.yaml, so that nothing comes from them", name)
	}
	return all, nil
}

func namesOf(all []config.Person) string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	if len(names) == 0 {
		return "a person there"
	}
	return strings.Join(names, ", ")
}

func (j *Judge) rights(ctx context.Context, req bailiff.Request, variables, rows map[string]any) (r Rights, err error) {
	req.Env = slices.Sorted(maps.Keys(variables))
	at := j.enforcer.Circumstances(req)
	found, _, err := j.policies.Query(ctx, req, at, "bailiff/_roles_held")
	if err != nil {
		return r, err
	}
	d := j.Decide(ctx, req)
	r = Rights{Platform: req.Session.Platform, User: req.Session.UserID, Person: at.Requester.Person, Roles: words(found),
		Outcome: d.Outcome, Denials: d.Denials, Network: d.Backend.Network, Egress: d.Backend.Egress, Budgets: d.Budgets,
		BackendsDenied: map[string][]bailiff.Reason{}, Verdicts: verdictsOf(found, rows)}
	for _, name := range slices.Sorted(maps.Keys(j.backends)) {
		wish := req
		wish.Backend, wish.Env = name, nil
		if got := j.Decide(ctx, wish); got.Outcome != bailiff.Deny && got.Backend.Name == name {
			r.Backends = append(r.Backends, name)
		} else {
			r.BackendsDenied[name] = got.Denials
		}
	}
	for _, name := range req.Env {
		r.Variables = append(r.Variables, variableRight(name, variables[name], d))
	}
	return r, nil
}

// variableRight is what a decision about a command of no program says of a variable.
func variableRight(name string, entries any, d bailiff.Decision) VariableRight {
	v := VariableRight{Name: name, Own: slices.Contains(d.Env.FromUser, name)}
	for _, held := range d.Env.Withheld {
		if held.Name == name {
			v.Withheld = held.Rule
		}
	}
	if v.Withheld != withPrograms {
		return v
	}
	v.Withheld = ""
	list, _ := entries.([]any)
	for _, entry := range list {
		row, _ := entry.(map[string]any)
		v.Own = v.Own || row["from_user"] == true
		programs, _ := row["programs"].([]any)
		for _, program := range programs {
			if name := fmt.Sprint(program); !slices.Contains(v.Programs, name) {
				v.Programs = append(v.Programs, name)
			}
		}
	}
	return v
}

// words are lists of texts by their names.
func words(found any) map[string][]string {
	all := map[string][]string{}
	entries, _ := found.(map[string]any)
	for name, listed := range entries {
		list, _ := listed.([]any)
		for _, word := range list {
			all[name] = append(all[name], fmt.Sprint(word))
		}
	}
	return all
}

// verdictsOf are the words of the roles that are held, by the rules.
func verdictsOf(held any, rows map[string]any) map[string][]string {
	all := map[string][]string{}
	roles, _ := held.(map[string]any)
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		row, _ := rows[role].(map[string]any)
		verdicts, _ := row["verdicts"].(map[string]any)
		for rule, word := range verdicts {
			all[rule] = append(all[rule], fmt.Sprint(word))
		}
	}
	return all
}
