package gateway

import (
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// idLength is how many bytes the id of what is frozen may have.
const idLength = 1024

func (o *operator) freezes(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, api.Freezes{Freezes: o.config.Freezer.Freezes()})
}

func (o *operator) freeze(w http.ResponseWriter, r *http.Request) {
	wish, who, p := o.readFreezing(r)
	if p != nil {
		refuse(w, p)
		return
	}
	frozen, err := o.config.Freezer.Freeze(r.Context(), api.Freeze{Kind: wish.Kind, ID: wish.ID, Reason: wish.Reason, By: who.Name()})
	if err != nil {
		refuse(w, refusal("", err))
		return
	}
	send(w, http.StatusOK, frozen)
}

func (o *operator) thaw(w http.ResponseWriter, r *http.Request) {
	wish, who, p := o.readFreezing(r)
	if p == nil && wish.Reason != "" {
		p = refused(codeRequest, []api.Fault{{At: "/reason", Message: "belongs to a freeze only"}})
	}
	if p != nil {
		refuse(w, p)
		return
	}
	found, err := o.config.Freezer.Thaw(r.Context(), wish.Kind, wish.ID, who)
	switch {
	case err != nil:
		refuse(w, refusal("", err))
	case !found:
		refuse(w, problem(http.StatusNotFound, "freeze_unknown",
			"That is not frozen; GET /v1/freeze lists what is, and each is thawed as it was frozen."))
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (o *operator) readFreezing(r *http.Request) (wish api.Freezing, who bailiff.Approver, p *api.Problem) {
	if who, p = o.identify(r); p != nil {
		return wish, who, p
	}
	if p = readBody(r, &wish); p != nil {
		return wish, who, p
	}
	if faults := freezeFaults(wish); len(faults) > 0 {
		return wish, who, refused(codeRequest, faults)
	}
	return wish, who, tooLong(wish.Reason)
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
