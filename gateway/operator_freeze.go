package gateway

import (
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// idLength is how many bytes the id of what is frozen may have.
const idLength = 1024

func (o *operator) freezes(*http.Request) (any, *api.Problem) {
	return api.Freezes{Freezes: o.config.Freezer.Freezes()}, nil
}

func (o *operator) freeze(r *http.Request, who bailiff.Approver, wish api.Freezing) (any, *api.Problem) {
	if p := checkFreezing(wish); p != nil {
		return nil, p
	}
	frozen, err := o.config.Freezer.Freeze(r.Context(), api.Freeze{Kind: wish.Kind, ID: wish.ID, Reason: wish.Reason, By: who.Name()})
	return result(frozen, "", err)
}

func (o *operator) thaw(r *http.Request, who bailiff.Approver, wish api.Freezing) (any, *api.Problem) {
	p := checkFreezing(wish)
	if p == nil && wish.Reason != "" {
		p = refusalProblem(codeRequest, []api.Fault{{At: "/reason", Message: "belongs to a freeze only"}})
	}
	if p != nil {
		return nil, p
	}
	found, err := o.config.Freezer.Thaw(r.Context(), wish.Kind, wish.ID, who)
	if err == nil && !found {
		return nil, problem(http.StatusNotFound, "freeze_unknown",
			"That is not frozen; GET /v1/freeze lists what is, and each is thawed as it was frozen.")
	}
	return result(nil, "", err)
}

func checkFreezing(wish api.Freezing) *api.Problem {
	if faults := freezeFaults(wish); len(faults) > 0 {
		return refusalProblem(codeRequest, faults)
	}
	return tooLong(wish.Reason)
}

func freezeFaults(f api.Freezing) (faults []api.Fault) {
	fault := func(at, says string) { faults = append(faults, api.Fault{At: at, Message: says}) }
	switch f.Kind {
	case api.FreezeAll:
		if f.ID != "" {
			fault("/id", "is of a session or user, and all has none")
		}
	case api.FreezeSession, api.FreezeUser:
		if f.ID == "" {
			fault("/id", "is missing: say which "+f.Kind)
		}
	default:
		fault("/kind", `want "session", "user" or "all"`)
	}
	if len(f.ID) > idLength {
		fault("/id", "is longer than 1,024 bytes")
	}
	return faults
}
