package backendtest

import (
	"fmt"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

// filledWorkspace does not wait for the times at which a workspace is counted while something runs:
// it is when a command ends, too.
func filledWorkspace(t *testing.T, b box) {
	spec := b.spec
	spec.WorkspaceMB, spec.WorkspaceFiles = 8, 100
	in := b.another(t, spec)
	within, tooBig := backends.Excess{}, backends.Excess{Limit: backends.WorkspaceMB, Found: 16, Most: 8}
	in.leaves("mkdir few; touch few/{1..20}", within)

	filler := in.start("head -c 16M /dev/zero >big; echo full; exec sleep 1000")
	in.awaitLog(filler, "full")
	in.leaves("true", tooBig)
	ended(t, filler.Done())
	if x := filler.Exit().Excess; !x.Stopped || x.Limit != backends.WorkspaceMB || x.Found < 16 {
		t.Errorf("what filled it ended with %+v, want it stopped for the 16 MB", x)
	}

	idler := in.start("echo begun; exec sleep 1000")
	in.awaitLog(idler, "begun")
	in.leaves("true", tooBig)
	in.leaves("rm big", within)
	in.leaves("mkdir many; touch many/{1..200}", backends.Excess{Limit: backends.WorkspaceFiles, Found: 222, Most: 100})
	ended(t, idler.Done()) // it ran when the count began that found more
	in.leaves("chmod 0 many", backends.Excess{Limit: backends.WorkspaceFiles, Found: 222, Most: 100})
	in.leaves("chmod 700 many; rm -r many", within)
}

// leaves runs a script, and wants its end to tell of an excess, or that of the next command where the
// machine left no time to count.
func (b box) leaves(script string, want backends.Excess) {
	b.t.Helper()
	exit, out := b.run(shell(script))
	if exit.Code != 0 {
		b.t.Fatalf("%s ended as %+v: %s", script, exit, out)
	}
	Await(b.t, fmt.Sprintf("the excess %+v after %s is told", want, script), func() bool {
		told := exit.Excess
		exit, _ = b.run(shell("true"))
		if told.Limit == backends.WorkspaceMB && told.Found == want.Found+1 { // folders take some, too
			told.Found--
		}
		return told == want
	})
}
