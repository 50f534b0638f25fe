package apptest

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// shared are the sidecars that tests of this program share, by what they were made of, and what ends them.
var shared struct {
	sync.Mutex
	sidecars map[string]*Sidecar
	ends     []func()
}

// Share is [Serve], [WithRules] where there are any, for tests whose sessions are their own and that do not stop their sidecar: those
// that ask for the same share one. It serves until [Main] ends.
func Share(tb testing.TB, rego string, sections ...string) *Sidecar {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	key := strings.Join(append(slices.Clone(sections), rego), "\n")
	if there := shared.sidecars[key]; there != nil {
		return there
	}
	whole := lasting{tb}
	if rego != "" {
		sections = append(slices.Clone(sections), WithRules(whole, rego))
	}
	made := Serve(whole, sections...)
	if shared.sidecars == nil {
		shared.sidecars = map[string]*Sidecar{}
	}
	shared.sidecars[key] = made
	return made
}

// Main runs the tests of a package that [Share] sidecars; its result is for [os.Exit].
func Main(m *testing.M) (code int) {
	code = m.Run()
	for _, end := range slices.Backward(shared.ends) {
		end()
	}
	return code
}

// lasting is a test of which all that it makes stays until [Main] ends. The caller holds shared.
type lasting struct{ testing.TB }

func (l lasting) Cleanup(end func()) { shared.ends = append(shared.ends, end) }

func (l lasting) TempDir() string { l.Helper(); return OpenDir(l) }
