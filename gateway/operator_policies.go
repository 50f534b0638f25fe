package gateway

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// PolicyHistory keeps the policies that were in force, and puts them in force again. Its
// errors are those of package api.
type PolicyHistory interface {
	// Revisions are those that are kept, the one in force first.
	Revisions() ([]api.Revision, error)
	// Revision is one of them, by the beginning of its name.
	Revision(name string) (api.Revision, []api.PolicyFile, error)
	// RollBack puts one in force until another word, or until Resume has the
	// configuration's policies in force again.
	RollBack(ctx context.Context, revision, reason string, who bailiff.Approver) error
	Resume(ctx context.Context, who bailiff.Approver) error
}

func (o *operator) revisions(w http.ResponseWriter, _ *http.Request) {
	all, err := o.config.History.Revisions()
	if err != nil {
		refuse(w, refusal("", err))
		return
	}
	send(w, http.StatusOK, api.Revisions{Revisions: all})
}

func (o *operator) revision(w http.ResponseWriter, r *http.Request) {
	about, files, err := o.config.History.Revision(r.PathValue("revision"))
	if err != nil {
		refuse(w, refusal("", err))
		return
	}
	send(w, http.StatusOK, api.ShownRevision{Revision: about, Texts: append([]api.PolicyFile{}, files...)})
}

func (o *operator) rollBack(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	var wish api.RollingBack
	if p == nil {
		p = readBody(r, &wish)
	}
	if p == nil {
		p = misnamed(wish)
	}
	if p != nil {
		refuse(w, p)
		return
	}
	o.changed(w, r, o.config.History.RollBack(r.Context(), wish.Revision, wish.Reason, who))
}

func (o *operator) resume(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	if p != nil {
		refuse(w, p)
		return
	}
	o.changed(w, r, o.config.History.Resume(r.Context(), who))
}

// changed answers with the policies that are in force then.
func (o *operator) changed(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refuse(w, refusal("", err))
		return
	}
	o.policies(w, r)
}

func misnamed(b api.RollingBack) *api.Problem {
	switch {
	case b.Revision == "":
		return refused(codeRequest, []api.Fault{{At: "/revision", Message: "is missing: GET /v1/policies/history lists those there are"}})
	case len(b.Revision) > idLength || !utf8.ValidString(b.Revision):
		return refused(codeRequest, []api.Fault{{At: "/revision", Message: "want at most 1,024 bytes of UTF-8"}})
	}
	return tooLong(b.Reason)
}
