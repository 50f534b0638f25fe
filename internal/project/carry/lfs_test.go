package carry

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// withLFS is a project in which git-lfs keeps the content of files that end with .bin.
func withLFS(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Fatal("git-lfs is not installed: run scripts/install-deps")
	}
	return start(t, "git init -q; git lfs install --skip-repo >/dev/null; git lfs track '*.bin' >/dev/null; echo user >user.bin; "+
		"git add .; git commit -qm first")
}

func TestWhatLFSKeepsInsideIsTheUsersAfterTheCommand(t *testing.T) {
	backendtest.Starts(t)
	w := withLFS(t)
	w.told(w.run("cat user.bin >said; head -c 3000000 /dev/urandom >agent.bin; git add agent.bin; git commit -qm second; "+
		"git switch -qc side; echo side >side.bin; git add side.bin; git commit -qm third; git switch -q main"), "")
	w.want("cat said; git lfs ls-files --all -n | sort; git lfs fsck; git show HEAD:agent.bin | head -1",
		"user\nagent.bin\nside.bin\nuser.bin\nGit LFS fsck OK\nversion https://git-lfs.github.com/spec/v1")
	w.want("sum=$(cat agent.bin | sha256sum); rm agent.bin; git checkout -q agent.bin; test \"$sum\" = \"$(cat agent.bin | sha256sum)\"; "+
		"git switch -q side; cat side.bin; git status --short; ls .git/lfs/tmp", "side\n?? said")
	w.want("git clone -q . ../copy 2>&1; cd ../copy; git lfs ls-files -n | sort", "agent.bin\nside.bin\nuser.bin")
}

func TestWhatIsNotTheContentThatLFSKnowsStaysInside(t *testing.T) {
	w := withLFS(t)
	before := w.outside("find .git/lfs -type f | sort | xargs sha256sum")
	id := strings.Repeat("ab", 32)
	at := "/lfs/objects/ab/ab/"
	told := w.run("mkdir -p .git" + at + "x; echo evil >.git" + at + id + "; echo evil >.git" + at + "name; ln -s /etc/passwd .git" + at +
		strings.Replace(id, "abab", "abac", 1) + "; mkfifo .git/lfs/objects/pipe; truncate -s 5G .git" + at + id[:62] + "cd; " +
		"echo x >a.bin; git add a.bin")
	w.told(told, "Of what git-lfs keeps, 2 files stay inside")
	if after := w.outside("find .git/lfs -type f | sort | xargs sha256sum | grep -v $(sha256sum <a.bin | cut -c1-64)"); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
	w.want("git status --short", "A  a.bin")
	if isThere(filepath.Join(w.dir, ".git/lfs/objects/ab/ab", id)) {
		t.Error("what was not the content came out")
	}
}

// A link in the user's own folder leads nothing out of it.
func TestWhatLFSKeepsIsWrittenBelowTheUsersGitDirectoryAlone(t *testing.T) {
	backendtest.Starts(t)
	w := withLFS(t)
	w.outside("mkdir ../elsewhere; mv .git/lfs ../lfs; ln -s ../../elsewhere .git/lfs")
	w.told(w.run("echo x >a.bin; git add a.bin"),
		"What git did here stays inside until it can be brought out: bringing out what git-lfs keeps")
	w.want("ls ../elsewhere; git status --short", "?? a.bin")
	w.outside("rm .git/lfs; mv ../lfs .git/lfs")
	w.told(w.run("true"), "")
	w.want("git status --short; git lfs fsck", "A  a.bin\nGit LFS fsck OK")
}
