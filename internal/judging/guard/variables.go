package guard

import (
	"reflect"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// Approver is a person who would answer, as conditions see them.
type Approver struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
	UIDs   []uint32 `json:"uids"`
	// Roles are empty where the person may do all that people may.
	Roles []string `json:"roles"`
	// Channel is the one by which the answer would come: "operator", "console" or a chat service.
	Channel string `json:"channel"`
}

// request is what conditions see of a request.
type request struct {
	Tool    bailiff.Tool    `json:"tool"`
	Args    bailiff.Args    `json:"args"`
	Session bailiff.Session `json:"session"`
	Env     []string        `json:"env"`
	Backend string          `json:"backend"`
	Caller  string          `json:"caller"`
}

func requestOf(r bailiff.Request) *request {
	return &request{r.Tool, r.Args, r.Session, r.Env, r.Backend, r.Caller}
}

// decision is what conditions see of a decision: its JSON, where approval is
// always there.
type decision struct {
	Outcome  string                `json:"outcome"`
	Denials  []bailiff.Reason      `json:"denials"`
	Approval bailiff.ApprovalTerms `json:"approval"`
	Backend  bailiff.BackendTerms  `json:"backend"`
	Env      bailiff.EnvTerms      `json:"env"`
	Limits   bailiff.Limits        `json:"limits"`
	Revision string                `json:"revision"`
}

func decisionOf(d bailiff.Decision) *decision {
	return &decision{d.Outcome.String(), d.Denials, *orEmpty(d.Approval), d.Backend, d.Env, d.Limits, d.Revision}
}

// The kinds of conditions, by what they see.
var (
	guardScope = newScope(map[string]reflect.Type{
		"request": reflect.TypeFor[request](), "command": reflect.TypeFor[facts.Command](), "code": reflect.TypeFor[facts.Code](),
	})
	claimScope = newScope(map[string]reflect.Type{
		"request": reflect.TypeFor[request](), "decision": reflect.TypeFor[decision](),
	})
	approverScope = newScope(map[string]reflect.Type{
		"request": reflect.TypeFor[request](), "approver": reflect.TypeFor[Approver](),
	})
)
