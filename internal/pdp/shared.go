package pdp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// checks are those that policies must pass before they come into force.
type checks int

const (
	noChecks       checks = iota // they passed all before
	decidingChecks               // what decides has no fault
	allChecks                    // nothing has, but tests are not run
	testsToo                     // package passes knows which passed, so that no set is found for its tests
)

// sharedSets are the policies that are in use somewhere in this process, or were a moment ago: a folder that is put back as it was, or
// that a second sidecar has, is not compiled again. Nothing is held in memory for it.
type sharedSets struct {
	mu   sync.Mutex
	sets map[setKey]sharedSet
}

// setKey is all that enters compiling: the files in their order, by places and texts, and the way to compile. Those that are to be
// explained are told by their names, too.
type setKey [sha256.Size]byte

type sharedSet struct {
	snapshot weak.Pointer[snapshot]
	checks   checks
}

var shared = sharedSets{sets: map[setKey]sharedSet{}}

func setKeyOf(files []source.File, explained bool) (key setKey) {
	sum := sha256.New()
	for _, f := range files {
		if source.WriteParts(sum, []byte(f.Place), []byte(f.Archive), f.Text); explained {
			source.WriteParts(sum, []byte(f.Name))
		}
	}
	return setKey(sum.Sum(nil))
}

// find is a set that passed some checks at least; nil where there is none.
func (a *sharedSets) find(key setKey, least checks) *snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, known := a.sets[key]; known && one.checks >= least {
		return one.snapshot.Value()
	}
	return nil
}

// keep adds a set, and drops those that are gone.
func (a *sharedSets) keep(key setKey, s *snapshot, passed checks) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, one := range a.sets {
		if one.snapshot.Value() == nil {
			delete(a.sets, other)
		}
	}
	if one, known := a.sets[key]; !known || one.checks < passed {
		a.sets[key] = sharedSet{weak.Make(s), passed}
	}
}

// sharing has what a compiling gives be found by the next that loads the same files.
func sharing(files []source.File, key setKey, passed checks, compile compiling) compiling {
	if passed == testsToo {
		passed = decidingChecks
	}
	return func(ctx context.Context) (*snapshot, source.Faults) {
		s, faults := compile(ctx)
		if len(faults) > 0 {
			return nil, faults
		}
		shared.keep(key, s, passed)
		return s.anewOf(files), nil
	}
}

// anewOf is a snapshot of the same policies as other files hold them.
func (s *snapshot) anewOf(files []source.File) *snapshot {
	next := s.anew()
	next.files, next.names = make([]string, len(files)), map[string]string{}
	for n, f := range files {
		next.files[n] = f.Name
		if was := s.files[n]; was != f.Name {
			next.names[was] = f.Name
		}
	}
	return next
}

// run asks a query of the policies, see [evaluation.Run]. An error names the files as this snapshot has them.
func (s *snapshot) run(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value, at time.Time, limit time.Duration,
	options ...rego.EvalOption) (*ast.Term, error) {
	answer, err := evaluation.Run(ctx, query, input, at, limit, options...)
	var fault *topdown.Error
	if len(s.names) == 0 || !errors.As(err, &fault) {
		return answer, err
	}
	here := *fault
	for was, name := range s.names {
		if here.Message = strings.ReplaceAll(here.Message, was+":", name+":"); fault.Location != nil && fault.Location.File == was {
			at := *fault.Location
			at.File, here.Location = name, &at
		}
	}
	return answer, fmt.Errorf("evaluating policies: %w", &here)
}
