package pdp

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFoldersThatHoldTheSameAreCompiledOnce has an error name the file of its own folder all the same.
func TestFoldersThatHoldTheSameAreCompiledOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p.rego": "package bailiff\n\ndecision := 1 if input.tool\n\ndecision := 2 if input.session\n"}
	others := maps.Clone(files)
	others["more.rego"] = "package more\n\nn := 1\n"
	one, again, other := opened(t, files), opened(t, files), opened(t, others)
	if one.inForce.Load().compiler != again.inForce.Load().compiler {
		t.Error("they are compiled twice")
	}
	if one.inForce.Load().compiler == other.inForce.Load().compiler {
		t.Error("a folder that holds more has the same rules")
	}
	for _, p := range []*PDP{one, again} {
		file := filepath.Join(p.config.Paths[0], "p.rego")
		if j := judged(p); j.Fault == nil || !strings.Contains(j.Fault.Error(), file) {
			t.Errorf("the fault is %v, want one in %s", j.Fault, file)
		}
		if got := p.Status().Files; len(got) != 1 || got[0] != file {
			t.Errorf("the files are %q, want %s", got, file)
		}
	}
	if a, b := explainedPDP(t, one.config.Paths[0]), explainedPDP(t, again.config.Paths[0]); a.inForce.Load().compiler ==
		b.inForce.Load().compiler {
		t.Error("what is explained is shared, though it says where each rule stands")
	}
}

func explainedPDP(t *testing.T, folder string) *PDP {
	t.Helper()
	p, err := Open(t.Context(), Config{Paths: []string{folder}, EvalTimeout: time.Minute, Explained: true})
	must(t, err)
	return p
}

// TestWhatIsSharedPassedNoTests asks for tests that fail of policies that are in force where none are asked for.
func TestWhatIsSharedPassedNoTests(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p.rego": allowing, "p_test.rego": strings.Replace(allowingTest, `"allow"`, `"deny"`, 1)}
	p := opened(t, files)
	if _, err := Open(t.Context(), Config{Paths: p.config.Paths, RequireTests: true, EvalTimeout: time.Minute}); err == nil {
		t.Error("policies whose test fails are in force")
	}
	broken := map[string]string{"p.rego": allowing, "p_test.rego": "package bailiff_test\n\ntest_x if no_such(1)\n"}
	root := tree(t, broken)
	kept, err := Open(t.Context(), Config{Paths: []string{root}, Untested: true, EvalTimeout: time.Minute})
	must(t, err)
	if _, err := Open(t.Context(), Config{Paths: []string{root}, EvalTimeout: time.Minute}); err == nil {
		t.Errorf("policies whose tests do not compile are in force, as they are for who decides only: %v", kept.Status().OK)
	}
}
