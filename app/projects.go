package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// projects are the folders that sandboxes show and may write.
type projects struct{ *core }

func (p projects) Adopt(path string, who bailiff.Approver) (api.Adopted, error) {
	former, err := p.enforcer.Kept().Adopt(path)
	if errors.Is(err, protected.ErrNotKept) {
		return api.Adopted{}, fmt.Errorf("%w: %w", api.ErrUnknown, err)
	}
	if err != nil {
		return api.Adopted{}, err
	}
	p.log.Info("a change that was put back was taken", "path", former.Path, "former", former.Kept, "by", who.Name())
	return api.Adopted{Path: former.Path, Former: former.Kept}, nil
}

// mostKeptTold is how many changes are named in the status.
const mostKeptTold = 10

// keptAside says which changes of protected files were put back and can still be taken: their user may have made one by hand.
func (c *core) keptAside() (all []string) {
	kept := c.enforcer.Kept().Aside()
	slices.Reverse(kept)
	for _, one := range kept[:min(len(kept), mostKeptTold)] {
		if one.IsNested {
			all = append(all, fmt.Sprintf("a command made a repository in %[1]s, which outside has plain files: take it by "+
				"\"bailiff project adopt %[1]s\", or remove the folder", one.Path))
			continue
		}
		all = append(all, fmt.Sprintf("%s was changed while a command ran, and is as it was; the changed version is %s: look at it, and "+
			"remove it, or take it by \"bailiff project adopt %s\"", one.Path, one.Kept, one.Path))
	}
	if more := len(kept) - mostKeptTold; more > 0 {
		all = append(all, fmt.Sprintf("%d more changes of protected files are kept aside, as NAME.refused", more))
	}
	return all
}
