package daytona

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func kept() backends.Spec {
	spec := testSpec()
	spec.Workspace = "w/1"
	return spec
}

func closeOf(t *testing.T, in backends.Sandbox) {
	t.Helper()
	backendtest.Must(t, in.Close(t.Context()))
}

func TestOfAKeptSandboxNothingStaysButTheWorkspace(t *testing.T) {
	c := newCloud(t)
	in := backendtest.Open(t, testBackend(t, c), kept())
	says(t, in, "for d in /workspace /home /tmp /var/tmp /dev/shm; do mkdir $d/x && echo x >$d/x/.x; done; setsid sleep 1000 >/dev/null "+
		"2>&1 & ", "")
	id := in.ID()
	closeOf(t, in)
	if state := c.find(id).dto["state"]; state != "stopped" {
		t.Errorf("when nobody uses it, it is %v", state)
	}
	if n := c.find(id).dto["autoDeleteInterval"]; n != -1 {
		t.Errorf("Daytona would delete it after %v", n)
	}
	again := backendtest.Open(t, testBackend(t, c), kept()) // of another sidecar
	if again.ID() != id {
		t.Errorf("an equal spec got %s, not %s", again.ID(), id)
	}
	says(t, again, "ls -A /workspace /home /tmp /var/tmp /dev/shm; cat x/.x",
		"/dev/shm:\n\n/home:\n\n/tmp:\n\n/var/tmp:\n\n/workspace:\nx\nx\n")
}

func TestAWorkspaceIsCarriedToWhereAnotherSpecWantsIt(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	spec := kept()
	in := backendtest.Open(t, b, spec)
	says(t, in, "mkdir -m 0 closed; ln -s f link; echo carried >f; chmod 755 f; pwd", "/workspace\n")
	first := in.ID()
	closeOf(t, in)
	spec.Image = "ordinary"
	in = backendtest.Open(t, b, spec)
	says(t, in, "stat -c '%n %a %u' closed f link; cat link; ls /.bailiff 2>&1 | grep -c carried; true",
		"closed 0 10000\nf 755 10000\nlink 777 10000\ncarried\n0\n")
	if in.ID() == first || c.find(first) != nil {
		t.Error("the machine that held it is still there")
	}
	says(t, in, "echo more >g", "")
	closeOf(t, in)
	in = backendtest.Open(t, b, kept()) // and back
	says(t, in, "cat f g", "carried\nmore\n")
	if left := c.there(); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

func TestACarryingThatIsInterruptedLosesNothing(t *testing.T) {
	for _, operation := range []string{"DownloadFile", "UploadFile", "replaceLabels", "deleteSandbox"} {
		t.Run(operation, func(t *testing.T) {
			if testing.Short() && operation != "replaceLabels" {
				t.Skip("the others are tried without -short")
			}
			c := newCloud(t)
			b := testBackend(t, c)
			in := backendtest.Open(t, b, kept())
			says(t, in, "echo kept >f", "")
			closeOf(t, in)
			other := kept()
			other.Image = "ordinary"
			c.inject(mishap{operation: operation, code: 400})
			if opened, err := b.Open(t.Context(), other); err == nil {
				closeOf(t, opened)
			} else if operation == "deleteSandbox" {
				t.Errorf("that the old one cannot be removed is no reason: %v", err)
			}
			for _, spec := range []backends.Spec{other, kept()} {
				in := backendtest.Open(t, b, spec)
				says(t, in, "cat f", "kept\n")
				closeOf(t, in)
			}
		})
	}
}

func TestAWorkspaceIsInOneSandboxAtATime(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	in := backendtest.Open(t, b, kept())
	says(t, in, "echo first >f", "")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := b.Open(ctx, kept()); !errors.Is(err, backends.ErrUnavailable) ||
		!strings.Contains(err.Error(), "still has the workspace") {
		t.Errorf("a second one came to %v", err)
	}
	opened := make(chan backends.Sandbox)
	go func() {
		second, err := b.Open(context.Background(), kept())
		backendtest.NoError(t, err)
		opened <- second
	}()
	says(t, in, "echo last >>f", "")
	closeOf(t, in)
	if second := <-opened; second != nil {
		says(t, second, "cat f", "first\nlast\n")
		closeOf(t, second)
	}
}

func TestASweepSparesWhatIsWantedAndNobodyElses(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	another := func(change func(*backends.Spec)) string {
		spec := testSpec()
		change(&spec)
		return backendtest.Open(t, b, spec).ID()
	}
	wanted := another(func(*backends.Spec) {})
	theirs := another(func(s *backends.Spec) { s.Owner = "somebody else" })
	holds := another(func(s *backends.Spec) { s.Workspace = "w/1" })
	forgotten := []string{another(func(*backends.Spec) {}), another(func(*backends.Spec) {}), another(func(*backends.Spec) {})}
	being := b.opening.Begin("bailiff-being-opened")
	made, err := b.api.create(t.Context(), newMachine{Name: "bailiff-being-opened", Snapshot: snapshotID, User: root, AutoStop: 1,
		Labels: labels(testSpec())})
	backendtest.Must(t, err)
	sweep := func() int {
		n, err := b.Sweep(t.Context(), testSpec().Owner, func(id string) bool { return id == wanted })
		backendtest.NoError(t, err)
		return n
	}
	if n := sweep(); n != len(forgotten)+1 {
		t.Errorf("%d were removed", n)
	}
	for _, id := range forgotten {
		if c.find(id) != nil {
			t.Errorf("%s is still there", id)
		}
	}
	for _, id := range []string{wanted, theirs, holds, made.ID} {
		if c.find(id) == nil {
			t.Errorf("%s is gone", id)
		}
	}
	if state := c.find(holds).dto["state"]; state != "stopped" {
		t.Errorf("what holds a workspace is %v", state)
	}
	being()
	if n := sweep(); n != 1 || c.find(made.ID) != nil {
		t.Errorf("afterwards %d were removed, and what was being opened should be gone", n)
	}
}

func TestWorkspacesAreListedAndRemovedByTheirNames(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	for _, name := range []string{"w/1", "w/2", ""} {
		spec := kept()
		spec.Workspace = name
		closeOf(t, backendtest.Open(t, b, spec))
	}
	if names, err := b.Workspaces(t.Context(), kept().Owner); err != nil || !slices.Equal(slices.Sorted(slices.Values(names)),
		[]string{"w/1", "w/2"}) {
		t.Errorf("the workspaces are %v, %v", names, err)
	}
	for range 2 {
		backendtest.NoError(t, b.RemoveWorkspace(t.Context(), kept().Owner, "w/1"))
	}
	if names, err := b.Workspaces(t.Context(), kept().Owner); err != nil || !slices.Equal(names, []string{"w/2"}) {
		t.Errorf("then they are %v, %v", names, err)
	}
}

func TestDaytonaHearsThatASandboxIsUsedAsLongAsItIs(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	b.beat = 10 * time.Millisecond
	in := backendtest.Open(t, b, testSpec())
	backendtest.Await(t, "Daytona was told twice", func() bool { return c.count("updateLastActivity") > 1 })
	closeOf(t, in)
	told := c.count("updateLastActivity")
	spec := testSpec()
	spec.Expires = time.Now().Add(-time.Minute)
	expired := backendtest.Open(t, b, spec)
	says(t, expired, "sleep 0.1", "")
	if n := c.count("updateLastActivity"); n > told+1 {
		t.Errorf("of a sandbox that should be over Daytona was told %d times", n-told)
	}
}
