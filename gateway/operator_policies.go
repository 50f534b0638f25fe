package gateway

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/history"
)

// Lawbook keeps the policies that were in force, and puts them in force again. Its
// errors are those of packages history and approval.
type Lawbook interface {
	// Revisions are those that are kept, the one in force first.
	Revisions() ([]history.Revision, error)
	// Revision is one of them, by the beginning of its name.
	Revision(name string) (history.Revision, []history.File, error)
	// RollBack puts one in force until another word, or until Resume has the
	// configuration's policies in force again.
	RollBack(ctx context.Context, revision, reason string, who bailiff.Approver) error
	Resume(ctx context.Context, who bailiff.Approver) error
}

func (o *operator) revisions(w http.ResponseWriter, _ *http.Request) {
	all, err := o.config.Lawbook.Revisions()
	if err != nil {
		refusal("", err).write(w)
		return
	}
	send(w, http.StatusOK, Revisions{all})
}

func (o *operator) revision(w http.ResponseWriter, r *http.Request) {
	about, files, err := o.config.Lawbook.Revision(r.PathValue("revision"))
	if err != nil {
		refusal("", err).write(w)
		return
	}
	shown := ShownRevision{Revision: about, Texts: []PolicyFile{}}
	for _, f := range files {
		shown.Texts = append(shown.Texts, PolicyFile{f.Name, string(f.Text)})
	}
	send(w, http.StatusOK, shown)
}

func (o *operator) rollBack(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	var wish RollingBack
	if p == nil {
		p = readBody(r, &wish)
	}
	if p == nil {
		p = wish.problem()
	}
	if p != nil {
		p.write(w)
		return
	}
	o.changed(w, r, o.config.Lawbook.RollBack(r.Context(), wish.Revision, wish.Reason, who))
}

func (o *operator) resume(w http.ResponseWriter, r *http.Request) {
	who, p := o.identify(r)
	if p != nil {
		p.write(w)
		return
	}
	o.changed(w, r, o.config.Lawbook.Resume(r.Context(), who))
}

// changed answers with the policies that are in force then.
func (o *operator) changed(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refusal("", err).write(w)
		return
	}
	o.policies(w, r)
}

func (b *RollingBack) problem() *Problem {
	switch {
	case b.Revision == "":
		return refused(codeRequest, []Fault{{"/revision", "is missing: GET /v1/policies/history lists those there are"}})
	case len(b.Revision) > idLength || !utf8.ValidString(b.Revision):
		return refused(codeRequest, []Fault{{"/revision", "want at most 1,024 bytes of UTF-8"}})
	}
	return tooLong(b.Reason)
}
