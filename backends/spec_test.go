package backends

import "testing"

// Sandboxes of versions that knew no runtimes carry a digest of this text.
func TestTheTextOfASpecWithoutARuntimeIsWhatItWasBeforeThereWereAny(t *testing.T) {
	t.Parallel()
	const before = `backends.Spec{Owner:"o", Session:"s", Workspace:"", Image:"i \" Runtime:\"\",", Network:"none", CPUs:0.5, ` +
		`MemoryMB:1, DiskMB:0, WorkspaceMB:0, WorkspaceFiles:0, PIDs:2, ReadOnly:true, Mounts:[]bailiff.Mount(nil), ` +
		`Expires:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)}`
	spec := Spec{Owner: "o", Session: "s", Image: `i " Runtime:"",`, Network: "none", CPUs: .5, MemoryMB: 1, PIDs: 2, ReadOnly: true}
	if text := spec.Text(); text != before {
		t.Errorf("it is\n%s\nand was\n%s", text, before)
	}
	if spec.Runtime = "runc"; spec.Text() == before {
		t.Error("a runtime makes no difference")
	}
}
