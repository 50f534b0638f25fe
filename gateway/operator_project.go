package gateway

import (
	"errors"
	"net/http"
	"path/filepath"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// adopt takes the changed version of a protected file, which was put back.
func (o *operator) adopt(_ *http.Request, who bailiff.Approver, wish api.Adopting) (any, *api.Problem) {
	if !filepath.IsAbs(wish.Path) || len(wish.Path) > idLength {
		return nil, refusalProblem(codeRequest, []api.Fault{{At: "/path",
			Message: "want the whole path of a file, of 1,024 bytes at most"}})
	}
	adopted, err := o.config.Projects.Adopt(wish.Path, who)
	switch {
	case errors.Is(err, api.ErrUnknown):
		return nil, problem(http.StatusNotFound, "change_unknown",
			"No change of "+cut(wish.Path)+" is kept aside; GET /v1/status lists in its warnings which are.")
	case err != nil:
		return nil, problem(http.StatusConflict, "not_adopted", bailiff.Sentence(err.Error()))
	}
	return adopted, nil
}
