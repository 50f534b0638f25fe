package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// keepNoneReady has no sandboxes made that nobody asked for.
const keepNoneReady = "limits: {warm: {sandboxes: 0}}"

// counting counts the lines that it is told, so that it shows whether it is the
// same process as before.
const counting = `n=0; while read -r line; do n=$((n+1)); echo "$n $line"; done`

// A session does not notice that its sidecar was killed: its files, in memory too,
// its folder and its background process are there, and what it was running is not.
func TestAKilledSidecarsSandboxesAreGoneOnWith(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	text := onePerson(t, dockerBackend, keepNoneReady, everything(t, "docker", ""))
	before := launch(t, folder, text)
	before.awaitServing(t)
	made := mustComplete(t, before.agent, inChat("s1", "mkdir deep && cd deep && echo kept | tee ./here > /tmp/memory"))
	process := mustComplete(t, before.agent, inBackground("s1", counting)).ProcessID
	tell(t, before.agent, process, "one", "1 one")
	go func() {
		_, _ = before.agent.Execute(t.Context(), inChat("s1", "exec -a lasting sleep 600"), client.News{})
	}()
	awaitOutput(t, before.agent, countOf("lasting"), "1\n")
	before.kill()

	after := launch(t, folder, text)
	after.awaitServing(t)
	if a := mustComplete(t, after.agent, inChat("s1", "pwd; cat here /tmp/memory")); a.SandboxID != made.SandboxID ||
		a.Output != "/workspace/deep\nkept\nkept\n" {
		t.Errorf("it goes on in %s, which printed %q; it was in %s\n%s", a.SandboxID, a.Output, made.SandboxID, &after.log)
	}
	awaitOutput(t, after.agent, countOf("lasting"), "0\n")
	tell(t, after.agent, process, "two", "2 two")
	if a := mustComplete(t, after.agent, attending("s1", "kill", process, "")); len(a.Processes) != 1 || a.Processes[0].EndedAt.IsZero() {
		t.Errorf("killed, it is %+v", a.Processes)
	}
	after.stop(t)
	wantNothingOf(t, folder, text)
}

// A sidecar that was paused for so long that another runs under its name leaves the other what that has adopted.
func TestAPausedSidecarLeavesAloneWhatALaterOneOfItsNameAdopted(t *testing.T) {
	t.Parallel()
	c, folders := openDepot(t), [2]string{openDir(t), openDir(t)}
	start := func(folder string) *process {
		store := fmt.Sprintf("store: {postgres: {dsn: {file: %s}}, replica: one}", c.dsn)
		p := launch(t, folder, onePerson(t, dockerBackend, keepNoneReady, store, everything(t, "docker", "")))
		p.awaitServing(t)
		return p
	}
	before := start(folders[0])
	made := mustComplete(t, before.agent, inChat("s1", "echo kept > /tmp/here"))
	before.pause(t)
	must(t, exec.Command("cp", "-a", filepath.Join(folders[0], "state"), folders[1]).Run())
	after := start(folders[1])
	goesOn := func() {
		t.Helper()
		if a := mustComplete(t, after.agent, inChat("s1", "cat /tmp/here")); a.SandboxID != made.SandboxID || a.Output != "kept\n" {
			t.Errorf("the later one goes on in %s, which printed %q; it was in %s\n%s", a.SandboxID, a.Output, made.SandboxID, &after.log)
		}
	}
	goesOn()
	must(t, before.cmd.Process.Signal(syscall.SIGCONT))
	before.stop(t)
	if said := before.log.String(); !strings.Contains(said, "a sandbox is left to a later run of this sidecar") {
		t.Errorf("the earlier one does not say that it left it alone: %s", said)
	}
	goesOn()
	after.stop(t)
}

// Whatever was answered holds, at whatever moment the sidecar is killed, and in the
// end the engine has nothing of it.
func TestHoweverOftenASidecarIsKilledFilesStayAndNothingElse(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	const warm = 3
	text := onePerson(t, dockerBackend, fmt.Sprintf("limits: {warm: {sandboxes: %d}}", warm), everything(t, "docker", ""))
	diaries := []*diary{{session: "s1"}, {session: "s2"}, {session: "s3"}}
	for range 5 {
		p := launch(t, folder, text)
		p.awaitServing(t)
		var writers sync.WaitGroup
		for _, d := range diaries {
			d.check(t, p)
			writers.Go(func() { d.write(t.Context(), p.agent) })
		}
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond) // the moment of the kill is to be any
		p.kill()
		writers.Wait()
	}
	if err := exec.Command("docker", "rm", "--force", diaries[0].sandbox).Run(); err != nil {
		t.Error(err)
	}
	p := launch(t, folder, text)
	p.awaitServing(t)
	mustComplete(t, p.agent, inChat(diaries[0].session, "true"))
	for _, d := range diaries[1:] {
		d.check(t, p)
	}
	awaittest.Until(t, "the unused containers to go",
		func() bool { return len(ownedBy(t, folder, text, "ps", "--all", "--quiet")) <= len(diaries)+warm })
	const runners = 1 // a volume that all sandboxes share
	awaittest.Until(t, "the unused volumes to go", func() bool {
		return len(ownedBy(t, folder, text, "volume", "ls", "--quiet")) <= len(diaries)+warm+runners
	})
	p.stop(t)
	wantNothingOf(t, folder, text)
}

// diary is a session that writes numbered lines to a file.
type diary struct {
	session, sandbox string
	// lines is how many were acknowledged; one more may be there.
	lines int
}

func (d *diary) write(ctx context.Context, agent *client.Client) {
	for {
		a, err := agent.Execute(ctx, inChat(d.session, fmt.Sprintf("echo %d >> diary", d.lines+1)), client.News{})
		if err != nil || a.Status != bailiff.Completed {
			return
		}
		d.lines, d.sandbox = d.lines+1, a.SandboxID
	}
}

// check wants every line where it was, and in the sandbox where it was.
func (d *diary) check(t *testing.T, p *process) {
	t.Helper()
	a := mustComplete(t, p.agent, inChat(d.session, "touch diary; sort -nu diary | wc -l"))
	var there int
	if _, err := fmt.Sscan(a.Output, &there); err != nil || there < d.lines || there > d.lines+1 {
		t.Errorf("%s has %q lines, %d were acknowledged", d.session, a.Output, d.lines)
	}
	if d.sandbox != "" && d.sandbox != a.SandboxID {
		t.Errorf("%s is in another sandbox", d.session)
	}
	d.sandbox = a.SandboxID
}

// countOf counts the processes of a name, as a sandbox without ps can.
func countOf(name string) string {
	return fmt.Sprintf(`cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -cx %s || true`, name)
}

// tell writes a line to a background process and wants an answer.
func tell(t *testing.T, agent *client.Client, id, line, want string) {
	t.Helper()
	mustComplete(t, agent, attending("s1", "submit", id, line))
	for range 100 {
		poll := attending("s1", "wait", id, "")
		poll.Args.Timeout = 1
		if a := mustComplete(t, agent, poll); strings.Contains(a.Output, want) {
			return
		}
	}
	t.Fatalf("told %q, the process never said %q", line, want)
}

// awaitOutput runs a command until it prints what is wanted.
func awaitOutput(t *testing.T, agent *client.Client, command, want string) {
	t.Helper()
	awaittest.Until(t, command+" to print "+want, func() bool { return mustComplete(t, agent, inChat("s1", command)).Output == want })
}

// wantNothingOf wants no container and no volume of a state folder.
func wantNothingOf(t *testing.T, folder, text string) {
	t.Helper()
	for _, kind := range [][]string{{"ps", "--all", "--quiet"}, {"volume", "ls", "--quiet"}} {
		if left := ownedBy(t, folder, text, kind...); len(left) > 0 {
			t.Errorf("docker %s lists %q", kind[0], left)
		}
	}
}

// ownedBy lists what the engine has of a state folder's sidecar.
func ownedBy(t *testing.T, folder, text string, list ...string) []string {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(folder, "bailiff.yaml"), []byte(text), catalogue.All())
	must(t, err)
	out, err := exec.Command("docker", append(list, "--filter", "label=bailiff.owner="+owner(cfg))...).Output()
	must(t, err)
	return strings.Fields(string(out))
}
