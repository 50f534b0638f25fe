package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// workerLoggedIn is a worker who has a service manager of the machine's own, while a login lasts.
type workerLoggedIn struct {
	worker
	runtime string
	groups  []string
	manager *exec.Cmd
	log     bytes.Buffer
}

const managerProgram = "/usr/lib/systemd/systemd"

func newWorkerLoggedIn(t *testing.T) *workerLoggedIn {
	t.Helper()
	_, err := os.Stat(managerProgram)
	if err == nil && os.Geteuid() != 0 {
		err = errors.New("only root can begin a login")
	}
	backendtest.Needs(t, "SYSTEMD AS A USER'S MANAGER", err)
	l := &workerLoggedIn{worker: newWorker(t)}
	l.runtime = filepath.Join(filepath.Dir(l.Home), "runtime")
	l.must(t, "test ! -e ../runtime")
	backendtest.Must(t, os.Mkdir(l.runtime, 0o700))
	backendtest.Must(t, os.Chown(l.runtime, l.uid(t), l.uid(t)))
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(root, "bailiff-test-"+filepath.Base(filepath.Dir(l.Home)))
		backendtest.Must(t, os.Mkdir(group, 0o755))
		t.Cleanup(func() { // what a login left ends with its cgroup
			_ = os.WriteFile(filepath.Join(group, "cgroup.kill"), []byte("1"), 0o600)
			backendtest.Await(t, "the cgroup of the login is empty", func() bool {
				return exec.Command("find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run() == nil
			})
		})
		said, err := exec.Command("chown", "-R", fmt.Sprint(l.uid(t)), group).CombinedOutput()
		if err != nil {
			t.Fatalf("giving the cgroup away: %v\n%s", err, said)
		}
		l.groups = append(l.groups, group)
	}
	t.Cleanup(func() { l.logout(t) })
	return l
}

func (l *workerLoggedIn) uid(t *testing.T) int {
	t.Helper()
	about, err := os.Stat(l.Home)
	backendtest.Must(t, err)
	return int(about.Sys().(*syscall.Stat_t).Uid)
}

// in has a line find the service manager.
func (l *workerLoggedIn) in(line string) string {
	return "export XDG_RUNTIME_DIR=" + l.runtime + "; " + line
}

// login starts the manager, as the machine's does at a login: where /run/systemd/system is, in cgroups of the user's.
func (l *workerLoggedIn) login(t *testing.T) {
	t.Helper()
	begin := "mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && "
	for _, group := range l.groups {
		begin += "echo $$ >" + group + "/cgroup.procs && "
	}
	uid := fmt.Sprint(l.uid(t))
	l.log.Reset()
	l.manager = exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c",
		begin+"exec setpriv --pdeathsig KILL --reuid "+uid+" --regid "+uid+" --clear-groups env -i HOME="+l.Home+
			" PATH=/usr/bin:/bin XDG_RUNTIME_DIR="+l.runtime+" SYSTEMD_LOG_TARGET=console "+managerProgram+" --user")
	l.manager.WaitDelay = time.Minute
	l.manager.Stdout, l.manager.Stderr = &l.log, &l.log
	l.manager.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	backendtest.Must(t, l.manager.Start())
	backendtest.Await(t, "the service manager answers", func() bool {
		return l.Shell(t, l.in("systemctl --user show-environment")).Run() == nil
	})
}

// logout ends the manager with all services, and what a login left.
func (l *workerLoggedIn) logout(t *testing.T) {
	t.Helper()
	if l.manager == nil {
		return
	}
	_ = l.manager.Process.Signal(syscall.SIGTERM)
	patience := time.AfterFunc(time.Minute, func() { _ = l.manager.Process.Kill() })
	_ = l.manager.Wait()
	patience.Stop()
	l.manager = nil
	if t.Failed() {
		t.Log(l.log.String())
	}
}

func (l *workerLoggedIn) is(t *testing.T, what string) bool {
	t.Helper()
	return l.Shell(t, l.in("systemctl --user is-"+what+" --quiet bailiff")).Run() == nil
}

func (l *workerLoggedIn) answers(t *testing.T) bool {
	t.Helper()
	return l.Shell(t, l.in("bailiff status")).Run() == nil
}

// changesProjectsWhileItServes adds a project to those of a service and takes it away again.
func (l *workerLoggedIn) changesProjectsWhileItServes(t *testing.T) {
	t.Helper()
	const process, shown = "systemctl --user show --property MainPID bailiff", "bailiff status"
	before := l.must(t, l.in(process))
	said := l.must(t, l.in("mkdir src/other && bailiff setup claude-code --project src/other"))
	other := filepath.Join(l.Home, "src", "other")
	if !strings.Contains(said, "The sandbox shows "+other+", writable.") || !strings.Contains(l.must(t, l.in(shown)), other) {
		t.Errorf("of a second project it says %s", said)
	}
	l.must(t, l.in("bailiff setup claude-code --project src/other --remove"))
	if shows := l.must(t, l.in(shown)); strings.Contains(shows, other) || !strings.Contains(shows, l.project) {
		t.Errorf("after the removal of one of two projects the sidecar is %s", shows)
	}
	if after := l.must(t, l.in(process)); after != before {
		t.Errorf("the service was %s and is %s", before, after)
	}
	unit := l.must(t, "cat .config/systemd/user/bailiff.service")
	own := filepath.Join(l.Home, ".config", "bailiff", "bailiff.yaml")
	said, err := l.says(t, l.in("bailiff setup claude-code --project src/other --config src/b.yaml"+accepted))
	if err == nil || !strings.Contains(said, "your service is that of "+own) || l.Shell(t, "test -e src/b.yaml").Run() == nil {
		t.Errorf("of a new configuration beside the service's it says %s, %v", said, err)
	}
	l.must(t, "sed 's/agent.sock/b.sock/; s/operator.sock/c.sock/; s#\\[policies\\]#[../.config/bailiff/policies]#' "+own+
		" >src/b.yaml && echo 'state_dir: b' >>src/b.yaml && chmod 600 src/b.yaml")
	said = l.must(t, l.in("bailiff setup claude-code --project src/shop --config src/b.yaml"+accepted))
	if !strings.Contains(said, "Your service bailiff is that of "+own+", and stays so.") ||
		!strings.Contains(said, "serve --config "+l.Home+"/src/b.yaml") || l.must(t, "cat .config/systemd/user/bailiff.service") != unit {
		t.Errorf("of a configuration beside the service's it says %s", said)
	}
	l.must(t, l.in("bailiff setup claude-code --project src/shop"))
}

func TestASetupStartsAServiceThatEveryLoginHasUntilTheRemovalOfTheLastProject(t *testing.T) {
	l := newWorkerLoggedIn(t)
	l.must(t, "bailiff setup codex --project src/shop"+accepted)
	l.must(t, quickly)
	l.login(t)
	said := l.must(t, l.in("bailiff setup claude-code --project src/shop"+accepted))
	if !l.is(t, "enabled") || !l.is(t, "active") || !l.answers(t) {
		t.Fatalf("after a setup no sidecar runs: %s", said)
	}
	for _, want := range []string{"The sidecar runs, as your service bailiff.", "loginctl enable-linger", "project at agent"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	l.changesProjectsWhileItServes(t)
	l.logout(t)
	if l.answers(t) {
		t.Error("without a login the sidecar goes on")
	}
	l.login(t)
	backendtest.Await(t, "the sidecar answers at the next login", func() bool { return l.answers(t) })
	said = l.must(t, l.in("bailiff setup claude-code --project src/shop --remove"))
	if !strings.Contains(said, "Your service bailiff goes on, for codex.") || !l.is(t, "active") {
		t.Errorf("while another agent asks a removal says %s", said)
	}
	said = l.must(t, l.in("bailiff setup codex --project src/shop --remove"))
	if !strings.Contains(said, "Your service bailiff is ended") || l.is(t, "active") || l.is(t, "enabled") || l.answers(t) {
		t.Errorf("with the last agent's removal it says %s", said)
	}
	if left := l.must(t, "find .config/systemd -name 'bailiff*'"); left != "" {
		t.Errorf("of the service %s is left", left)
	}
}
