package ssh_test

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/ssh"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

// installed lists what is in the folder of a host.
func installed(t *testing.T, folder string) (list []os.FileInfo) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	backendtest.Must(t, err)
	for _, entry := range entries {
		about, err := entry.Info()
		backendtest.Must(t, err)
		list = append(list, about)
	}
	return list
}

func TestTheRunnerIsBroughtOnceAndAgainWhenItIsGone(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := section(server, server.User(t))
	b := made(t, cfg)
	serves(t, b, spec)
	first := installed(t, cfg.Folder)
	if len(first) != 1 || !strings.HasPrefix(first[0].Name(), "bailiff-runner-") || first[0].Mode() != 0o111 {
		t.Fatalf("in the folder are %v, want a runner that can be run and not read", first)
	}
	for _, b := range []backends.Backend{b, made(t, cfg)} {
		serves(t, b, spec)
		if now := installed(t, cfg.Folder); len(now) != 1 || !os.SameFile(first[0], now[0]) {
			t.Errorf("in the folder are %v, want the same runner", now)
		}
	}
	standing, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	defer standing.Close(t.Context())
	backendtest.Must(t, os.RemoveAll(cfg.Folder))
	serves(t, b, spec)
	if exit, err := standing.Run(t.Context(), runner.Shell("true"), func([]byte) {}); err != nil || exit.Code != 0 {
		t.Errorf("what stood when the folder went says %+v, %v", exit, err)
	}
}

func TestAHostIsServedWhateverItsShellSaysFirst(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		for _, sandbox := range []string{"", ssh.Bubblewrap} {
			t.Run(filepath.Base(shell)+sandbox, func(t *testing.T) {
				backendtest.Beside(t, "bailiff-host")
				server := remotetest.Serve(t,
					remotetest.Options{Shell: shell, Settings: []string{"SetEnv NOISE=1 BASH_ENV=" + filepath.Join("/", "etc", "profile")}})
				for _, name := range []string{".bashrc", ".profile"} {
					if err := os.WriteFile(filepath.Join(server.Home, name), []byte("echo welcome; echo and mind the step >&2\n"),
						0o644); err != nil {
						t.Fatal(err)
					}
				}
				cfg := section(server, server.User(t))
				cfg.Sandbox = sandbox
				wanted := spec
				if sandbox != "" {
					wanted = backends.Spec{Network: "none", ReadOnly: true}
				}
				if out := backendtest.Once(t, made(t, cfg), wanted,
					"echo $NOISE$SSH_CONNECTION$BASH_ENV$USER$LOGNAME; env | sort | sed 's/=.*//' | tr '\\n' ' "+
						"'"); out != "\nHOME LANG PATH PWD SHELL SHLVL TERM _ " {
					t.Errorf("it said %q", out)
				}
			})
		}
	}
}

func TestAnAccountThatMayRunNothingSaysSo(t *testing.T) {
	if os.Getuid() != 0 {
		backendtest.Needs(t, "ROOT", errors.New("only root can give a user another shell"))
	}
	server := remotetest.Serve(t, remotetest.Options{Shell: "/usr/sbin/nologin"})
	err := made(t, section(server, server.User(t))).Ready(t.Context())
	const said = `its login shell ran no script, but said "This account is currently not available."`
	if err == nil || !strings.Contains(err.Error(), said) {
		t.Errorf("the error is %v, want one that says %s", err, said)
	}
}

// A machine that calls itself otherwise is served with what lies beside the runner for
// such ones. What lies there is this machine's, or it could not be run.
func TestAHostOfAnotherArchitectureGetsItsOwnRunner(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED WITHOUT AMD64: the other machine is an arm64")
	}
	for _, c := range []struct{ name, says, beside, fault string }{
		{"it has one", `s) echo Linux;; -m) echo aarch64`, "bailiff-runner-linux-arm64", ""},
		{"there is none for it", `s) echo Linux;; -m) echo aarch64`, "bailiff-runner-linux-mips", "bailiff-runner-linux-arm64"},
		{"nobody has one", `s) echo Linux;; -m) echo riscv64`, "", "riscv64"},
		{"it is no Linux", `s) echo FreeBSD;; -m) echo x86_64`, "", "FreeBSD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			backendtest.Must(t, os.Chmod(filepath.Dir(folder), 0o755))
			if err := os.WriteFile(filepath.Join(folder, "uname"), []byte("#!/bin/sh\ncase $1 in -"+c.says+";; esac\n"),
				0o755); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(backendtest.Runner(t))
			backendtest.Must(t, err)
			for _, name := range []string{"bailiff-runner", c.beside} {
				if err := os.WriteFile(filepath.Join(folder, name), content, 0o755); name != "" && err != nil {
					t.Fatal(err)
				}
			}
			server := remotetest.Serve(t, remotetest.Options{Settings: []string{"SetEnv PATH=" + folder + ":/usr/bin:/bin"}})
			b, err := section(server, server.User(t)).Make(backends.Host{Runner: filepath.Join(folder, "bailiff-runner")})
			backendtest.Must(t, err)
			if err := b.Ready(t.Context()); (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("not ready: %v, want an error that speaks of %q", err, c.fault)
			}
		})
	}
}

func TestAFolderThatAllowsNoProgramsOrIsSomebodyElsesIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		backendtest.Needs(t, "ROOT", errors.New("only root can mount what allows no programs"))
	}
	noexec := "/mnt"
	server := remotetest.Serve(t, remotetest.Options{Mounts: []string{"mount -t tmpfs -o noexec,mode=1777 none " + noexec}})
	for folder, fault := range map[string]string{noexec + "/bailiff": "noexec", server.Folder: "not the own folder"} {
		cfg := section(server, server.User(t))
		cfg.Folder = folder
		if err := made(t, cfg).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("not ready: %v, want an error that speaks of %q", err, fault)
		}
	}
	cfg := section(server, "root")
	if err := made(t, cfg).Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	cfg.Folder = server.Home // where root could write
	if err := made(t, cfg).Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "not the own folder") {
		t.Errorf("not ready: %v, want an error that says whose the folder is", err)
	}
}

func TestAFolderThatWasThereKeepsItsPermissions(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	owner, err := os.Stat(server.Home)
	backendtest.Must(t, err)
	for mode, fault := range map[os.FileMode]string{
		0o777 | os.ModeSticky: "name a folder for bailiff alone", 0o770: "name a folder for bailiff alone", 0o755: "", 0o700: "",
	} {
		t.Run(mode.String(), func(t *testing.T) {
			cfg := section(server, server.User(t))
			cfg.Folder = filepath.Join(server.Home, rand.Text())
			if err := errors.Join(os.Mkdir(cfg.Folder, 0o700), os.Chown(cfg.Folder, int(owner.Sys().(*syscall.Stat_t).Uid), -1),
				os.Chmod(cfg.Folder, mode)); err != nil {
				t.Fatal(err)
			}
			err := made(t, cfg).Ready(t.Context())
			if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("not ready: %v, want an error that speaks of %q", err, fault)
			}
			if now, err := os.Stat(cfg.Folder); err != nil || now.Mode()&^os.ModeDir != mode {
				t.Errorf("the folder is %v, %v, want it left as it was", now.Mode(), err)
			}
		})
	}
}

func TestAProgramThatOthersCouldHavePutThereIsNotRun(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	cfg := section(server, server.User(t))
	serves(t, made(t, cfg), spec)
	name := installed(t, cfg.Folder)[0].Name()
	home, err := os.Stat(server.Home)
	backendtest.Must(t, err)
	own, other, marker := int(home.Sys().(*syscall.Stat_t).Uid), 54399, filepath.Join(server.Home, "ran")
	for _, c := range []struct {
		name                           string
		above, folder, file            os.FileMode
		aboveUID, folderUID, fileUID   int
		aboveLinked, linked, isRefused bool
	}{
		{name: "all is the user's", above: 0o711, folder: 0o711, file: 0o555, aboveUID: own, folderUID: own, fileUID: own},
		{name: "above is what everybody may write, but only its own", above: 0o777 | os.ModeSticky, folder: 0o711, file: 0o555,
			aboveUID: own, folderUID: own, fileUID: own},
		{name: "the folder is another user's", above: 0o711, folder: 0o755, file: 0o555, aboveUID: own, folderUID: other, fileUID: other,
			isRefused: true},
		{name: "the folder is another user's and the file is not", above: 0o711, folder: 0o755, file: 0o555, aboveUID: own,
			folderUID: other, fileUID: own, isRefused: true},
		{name: "the one above is another user's", above: 0o755, folder: 0o711, file: 0o555, aboveUID: other, folderUID: own, fileUID: own,
			isRefused: true},
		{name: "the one above is everybody's to write", above: 0o777, folder: 0o711, file: 0o555, aboveUID: own, folderUID: own,
			fileUID: own, isRefused: true},
		{name: "the one above is a link", above: 0o711, folder: 0o711, file: 0o555, aboveUID: own, folderUID: own, fileUID: own,
			aboveLinked: true, isRefused: true},
		{name: "the folder is everybody's to write", above: 0o711, folder: 0o777 | os.ModeSticky, file: 0o555, aboveUID: own,
			folderUID: own, fileUID: own, isRefused: true},
		{name: "the folder is a group's to write", above: 0o711, folder: 0o770, file: 0o555, aboveUID: own, folderUID: own, fileUID: own,
			isRefused: true},
		{name: "the file is another user's", above: 0o711, folder: 0o711, file: 0o555, aboveUID: own, folderUID: own, fileUID: other,
			isRefused: true},
		{name: "the file is a group's to write", above: 0o711, folder: 0o711, file: 0o575, aboveUID: own, folderUID: own, fileUID: own,
			isRefused: true},
		{name: "the file is a link", above: 0o711, folder: 0o711, file: 0o555, aboveUID: own, folderUID: own, fileUID: own, linked: true,
			isRefused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getuid() != 0 && (c.aboveUID != own || c.folderUID != own || c.fileUID != own) {
				backendtest.Needs(t, "ROOT", errors.New("only root can give away what is its own"))
			}
			above, cfg := filepath.Join(server.Folder, rand.Text()), *cfg
			cfg.Folder = filepath.Join(above, "bailiff")
			plant := filepath.Join(cfg.Folder, name)
			if err := errors.Join(os.Mkdir(above, 0o700), os.Mkdir(cfg.Folder, 0o700),
				os.WriteFile(plant, []byte("#!/bin/sh\n>"+marker+"\n"), 0o500),
				os.Chown(above, c.aboveUID, -1), os.Chown(cfg.Folder, c.folderUID, -1), os.Chown(plant, c.fileUID, -1),
				os.Chmod(plant, c.file), os.Chmod(cfg.Folder, c.folder), os.Chmod(above, c.above)); err != nil {
				t.Fatal(err)
			}
			if c.linked {
				backendtest.Must(t, errors.Join(os.Rename(plant, plant+"-away"), os.Symlink(plant+"-away", plant)))
			}
			if c.aboveLinked {
				backendtest.Must(t, os.Symlink(above, above+"-link"))
				cfg.Folder = filepath.Join(above+"-link", "bailiff")
			}
			err := made(t, &cfg).Ready(t.Context())
			_, ran := os.Stat(marker)
			os.Remove(marker)
			if c.isRefused != (ran != nil) ||
				c.isRefused != (err != nil && strings.Contains(err.Error(), "others could replace what would be run")) {
				t.Errorf("the mark of what was planted: %v; it says %v", ran, err)
			}
		})
	}
}
