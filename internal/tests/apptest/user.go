package apptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// User is an ordinary user of this machine, with a home of its own and without control groups.
type User struct {
	Home string
	// credential is nil where it is the tests' own user.
	credential *syscall.Credential
}

// NewUser makes one, until the test ends, who is in those of the groups that there are. Tests that are not root's run as their
// own user, with another home.
func NewUser(tb testing.TB, groups ...string) *User {
	tb.Helper()
	u := &User{Home: filepath.Join(OpenDir(tb), "home")}
	if os.Geteuid() != 0 {
		if err := os.Mkdir(u.Home, 0o755); err != nil {
			tb.Fatal(err)
		}
		return u
	}
	_, err := exec.LookPath("useradd")
	backendtest.Needs(tb, "USERADD", err)
	name := fmt.Sprintf("bailiff-test-%d-%s", os.Getpid()%1000, filepath.Base(filepath.Dir(u.Home)))
	if said, err := exec.Command("useradd", "--create-home", "--home-dir", u.Home, name).CombinedOutput(); err != nil {
		tb.Fatalf("making a user: %v\n%s", err, said)
	}
	tb.Cleanup(func() { // though the last of its processes may be ending still
		if said, err := exec.Command("userdel", "--force", name).CombinedOutput(); err != nil {
			tb.Errorf("removing the user: %v\n%s", err, said)
		}
	})
	made, err := user.Lookup(name)
	if err != nil {
		tb.Fatal(err)
	}
	uid, err := strconv.ParseUint(made.Uid, 10, 32)
	gid, wrong := strconv.ParseUint(made.Gid, 10, 32)
	if err := errors.Join(err, wrong); err != nil {
		tb.Fatal(err)
	}
	u.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), Groups: idsOf(groups)}
	return u
}

func idsOf(groups []string) (ids []uint32) {
	for _, name := range groups {
		if group, err := user.LookupGroup(name); err == nil {
			if id, err := strconv.ParseUint(group.Gid, 10, 32); err == nil {
				ids = append(ids, uint32(id))
			}
		}
	}
	return ids
}

// Shell is a line that the user's shell runs, in its home, with its own and bailiff's programs in its path.
func (u *User) Shell(tb testing.TB, line string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "/bin/sh", "-c", line)
	cmd.Dir = u.Home
	path := u.Home + "/.local/bin:" + Programs(tb) + ":/usr/local/bin:/usr/bin:/bin"
	cmd.Env = []string{"HOME=" + u.Home, "PATH=" + path, "TMPDIR=/tmp", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential}
	return cmd
}

// Run has the user run a command.
func (u *User) Run(cmd *exec.Cmd) { cmd.SysProcAttr.Credential = u.credential }

// Own gives the user a folder with all that is in it.
func (u *User) Own(tb testing.TB, folder string) {
	tb.Helper()
	if u.credential == nil {
		return
	}
	if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(u.credential.Uid), int(u.credential.Gid))
	}); err != nil {
		tb.Fatal(err)
	}
}
