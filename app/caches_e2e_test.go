package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// startProjects is a sidecar that shows two projects at their own paths, and whatever more rows say, in bubblewrap.
func startProjects(t *testing.T, more ...string) (s *office, a, b string) {
	t.Helper()
	root := openDir(t)
	a, b = filepath.Join(root, "a"), filepath.Join(root, "b")
	rows := append([]string{"{source: " + a + ", target: " + a + ", read_only: false}",
		"{source: " + b + ", target: " + b + ", read_only: false}"}, more...)
	made := exec.Command("sh", "-ec", "umask 0; mkdir -p $1 $2 $3", "sh", a, b, filepath.Join(root, "shared"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], "ROOT", root)
	}
	_, policies := shippedWith(t, "      cli: {isolation: optional, ", "      cli: {isolation: optional, mounts: {bubblewrap: ["+
		strings.Join(rows, ", ")+"]}, ")
	return startOffice(t, openDir(t), onePerson(t, "backends: {bubblewrap: {mounts_allowed: ["+strconv.Quote(root)+"]}}", policies)), a, b
}

// of is a request of a session and a user in a project.
func of(session, user, dir, command string) bailiff.Request {
	req := inProject(dir, command)
	req.Session.ID, req.Session.UserID = session, user
	return req
}

func TestWhatToolsKeepForAProjectIsFoundByItsUsersNextSessionAndByNoOther(t *testing.T) {
	t.Parallel()
	s, a, b := startProjects(t)
	const read = "cat ~/.cache/go-build/x ~/.npm/_cacache/x 2>/dev/null || echo nothing"
	inside := func(req bailiff.Request) string {
		t.Helper()
		answer := ask(t, s.agent, req)
		wants(t, answer, bailiff.Completed, "")
		return strings.TrimSpace(answer.Output)
	}
	poisoned := inside(of("one", "42", a, "umask 0; echo poison | tee ~/.cache/go-build/x > ~/.npm/_cacache/x; mkdir -p ~/.npm/_logs; "+
		"chmod 777 ~/.cache/go-build; "+read))
	if poisoned != "poison\npoison" {
		t.Errorf("where it was written stands %q", poisoned)
	}
	for _, c := range []struct {
		name, want string
		req        bailiff.Request
	}{
		{"another session, beside the first one", "poison\npoison", of("two", "42", a, read)},
		{"in a folder of the project", "poison\npoison", of("three", "42", a+"/sub", read)},
		{"another project", "nothing", of("four", "42", b, read)},
		{"another user", "nothing", of("five", "43", a, read)},
		{"no user", "nothing", of("six", "", a, read)},
		{"no project", "nothing", of("seven", "42", "/workspace", read)},
	} {
		if c.req.Args.Workdir == a+"/sub" {
			must(t, errors.Join(os.Mkdir(a+"/sub", 0o777), os.Chmod(a+"/sub", 0o777)))
		}
		if got := inside(c.req); got != c.want {
			t.Errorf("%s: it reads %q, want %q", c.name, got, c.want)
		}
	}
	if info, err := os.Stat(s.cfg.StateDir); err != nil || os.Getuid() != 0 && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("other users of the machine reach the caches: %v, %v", info.Mode(), err)
	}
}

func TestARowThatShowsAFolderInThePlaceOfACacheGoesOnShowingIt(t *testing.T) {
	t.Parallel()
	s, a, b := startProjects(t, "{source: ROOT/shared, target: /home/.cache/go-build, read_only: false}")
	wants(t, ask(t, s.agent, of("one", "42", a, "echo built > ~/.cache/go-build/x; echo mine > ~/.cache/pip/x")), bailiff.Completed, "")
	got := ask(t, s.agent, of("two", "42", b, "cat ~/.cache/go-build/x; ls -A ~/.cache/pip"))
	if got.Output != "built\n" {
		t.Errorf("in another project stands %q", got.Output)
	}
}

func TestNothingRunsWhereALinkStandsInThePlaceOfACache(t *testing.T) {
	t.Parallel()
	s, a, _ := startProjects(t)
	must(t, os.Symlink(t.TempDir(), filepath.Join(s.cfg.StateDir, "caches")))
	answer := ask(t, s.agent, of("one", "42", a, "echo ran"))
	if answer.Status == bailiff.Completed || !strings.Contains(answer.Message, "the caches of the project's tools cannot be shown: ") {
		t.Errorf("it says %+v", answer)
	}
}
