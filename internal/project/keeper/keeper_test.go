package keeper_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
)

func open(t testing.TB) *keeper.Keeper {
	t.Helper()
	k, err := keeper.New()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func said(t *testing.T, k *keeper.Keeper, j keeper.Job) string {
	t.Helper()
	out, err := k.Output(t.Context(), j, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestGitWritesWhereItIsShownAFolder(t *testing.T) {
	k, dir := open(t), t.TempDir()
	bind := []keeper.Bind{{Source: dir, Target: "/work/p", Writable: true}}
	said(t, k, keeper.Job{Binds: bind, Args: []string{"git", "init", "-q", "--bare", "/work/p/r"}})
	hash := said(t, k, keeper.Job{Binds: bind, Stdin: strings.NewReader("text"),
		Args: keeper.GitArgs("/work/p/r", "hash-object", "-w", "--stdin")})
	out, err := exec.Command("git", "--git-dir", filepath.Join(dir, "r"), "cat-file", "blob", hash).Output()
	if err != nil || string(out) != "text" {
		t.Fatalf("the host reads %q, %v", out, err)
	}
	bind[0].Writable = false
	var failure *keeper.Failure
	if err := k.Run(t.Context(), keeper.Job{Binds: bind, Args: []string{"touch", "/work/p/x"}}); !errors.As(err, &failure) {
		t.Fatalf("writing a folder that is shown read-only: %v", err)
	}
	if !strings.Contains(failure.Stderr, "Read-only file system") {
		t.Errorf("the failure says %q", failure.Stderr)
	}
}

func TestAJobReachesOnlyWhatItIsShown(t *testing.T) {
	k, dir := open(t), t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	t.Setenv("SECRET_OF_THE_HOST", "s")
	out := said(t, k, keeper.Job{Args: []string{"sh", "-c", `
		test -e ` + secret + ` && echo file
		test -e /proc/1 && echo processes
		test -e /etc/passwd && echo users
		env | grep SECRET
		echo x > /new && echo root
		python3 -c 'import socket; socket.create_connection(("127.0.0.1", ` + port + `))' 2>/dev/null && echo network
		env | grep -c ^GIT_CONFIG_NOSYSTEM=1`}})
	if out != "1" {
		t.Errorf("a job reaches:\n%s", out)
	}
}

func TestWhatAJobSaysIsBounded(t *testing.T) {
	k := open(t)
	var out bytes.Buffer
	err := k.Run(t.Context(), keeper.Job{Args: []string{"sh", "-c", "while :; do echo text; done"}, Stdout: &out, MaxOutput: 1 << 16})
	if !errors.Is(err, keeper.ErrOutput) {
		t.Errorf("a job that does not stop talking: %v", err)
	}
	if out.Len() > 1<<16 {
		t.Errorf("%d bytes were taken", out.Len())
	}
	loud := "i=0; while [ $i -lt 20000 ]; do echo $i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >&2; i=$((i+1)); done; exit 3"
	var failure *keeper.Failure
	if err := k.Run(t.Context(), keeper.Job{Args: []string{"sh", "-c", loud}}); !errors.As(err, &failure) {
		t.Fatalf("a job that fails: %v", err)
	}
	if len(failure.Stderr) == 0 || len(failure.Stderr) > 4096 {
		t.Errorf("of its errors are kept %d bytes", len(failure.Stderr))
	}
}

func TestAJobEndsWithItsContextAndLeavesNothing(t *testing.T) {
	k, dir := open(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	started, out, _ := os.Pipe()
	defer started.Close()
	go func() {
		_, _ = started.Read(make([]byte, 1))
		cancel()
	}()
	err := k.Run(ctx, keeper.Job{Binds: []keeper.Bind{{Source: dir, Target: "/d", Writable: true}}, Stdout: out, MaxOutput: 100,
		Args: []string{"sh", "-c", "(trap '' TERM HUP; flock /d/lock sh -c 'echo on; while :; do sleep 1; done') & wait"}})
	out.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a job whose context ends: %v", err)
	}
	// The lock is free as soon as the last process that held it has gone.
	if err := exec.Command("flock", filepath.Join(dir, "lock"), "true").Run(); err != nil {
		t.Error(err)
	}
}

func TestAJobWithoutAPlaceIsRefused(t *testing.T) {
	k := open(t)
	if err := k.Run(t.Context(), keeper.Job{}); err == nil {
		t.Error("a job without a program ran")
	}
	if err := k.Run(t.Context(), keeper.Job{Args: []string{"true"}, Binds: []keeper.Bind{{Source: "x", Target: "/x"}}}); err == nil {
		t.Error("a relative folder was shown")
	}
}

func BenchmarkAJob(b *testing.B) {
	k := open(b)
	for b.Loop() {
		if err := k.Run(b.Context(), keeper.Job{Args: []string{"git", "--version"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// With the thread that started it, a process would end that is to end with its parent. A goroutine leaves that thread where
// others wait for a processor.
func TestAJobOutlivesThreadsThatEnd(t *testing.T) {
	k, over := open(t), make(chan struct{})
	var others, jobs sync.WaitGroup
	isOver := func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
	for range runtime.GOMAXPROCS(0) {
		others.Go(func() {
			for !isOver() {
				var threads sync.WaitGroup
				threads.Go(runtime.LockOSThread) // for good, which ends the thread
				threads.Wait()
			}
		})
	}
	for range 8 {
		jobs.Go(func() {
			for range 10 {
				if out, err := k.Output(t.Context(), keeper.Job{Args: []string{"echo", "well"}}, 10); string(out) != "well\n" {
					t.Errorf("a job beside threads that end: %q, %v", out, err)
				}
			}
		})
	}
	jobs.Wait()
	close(over)
	others.Wait()
}
