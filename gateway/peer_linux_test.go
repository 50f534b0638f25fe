package gateway

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

const nobody = 65534

// asNobody dials from a thread of another user; the thread dies with it.
func asNobody(path string) (net.Conn, error) {
	type dialled struct {
		c   net.Conn
		err error
	}
	done := make(chan dialled, 1)
	go func() {
		runtime.LockOSThread()
		const same = ^uintptr(0)
		for _, change := range [][4]uintptr{
			{syscall.SYS_SETGROUPS, 0, 0, 0},
			{syscall.SYS_SETRESGID, same, nobody, same},
			{syscall.SYS_SETRESUID, same, nobody, same},
		} {
			if _, _, errno := syscall.RawSyscall(change[0], change[1], change[2], change[3]); errno != 0 {
				done <- dialled{nil, errno}
				return
			}
		}
		c, err := net.Dial("unix", path)
		done <- dialled{c, err}
	}()
	d := <-done
	return d.c, d.err
}

func TestAnotherUserIsKnownByTheKernel(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("BAILIFF_REQUIRE_ALL") != "" {
			t.Fatal("only root can be another user: run this test as root")
		}
		t.Skip("only root can be another user")
	}
	for _, test := range []struct {
		name   string
		uids   []uint32
		open   bool // to everybody, by the socket's mode
		status int  // 0 means that it cannot even connect
	}{
		{"a listed user owns the socket and comes in", []uint32{0, nobody}, false, http.StatusOK},
		{"a user that is not listed is kept out by the mode", []uint32{0}, false, 0},
		{"a user that is not listed is kept out by its uid where the mode lets it in", []uint32{0}, true, http.StatusForbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "peer")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(folder) })
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder, "a.sock")
			open(t, ListenerConfig{Network: "unix", Address: path, UIDs: test.uids}, agentHandler(t, agentOf(&enforcer{})))
			if test.open {
				if err := os.Chmod(path, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			c, err := asNobody(path)
			if err != nil {
				if test.status != 0 || !errors.Is(err, fs.ErrPermission) {
					t.Fatal(err)
				}
				return
			}
			defer c.Close()
			if _, err := io.WriteString(c, rawPost("/v1/decide", telegramRequest, len(telegramRequest))); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != test.status {
				t.Errorf("answered %s, want %d", resp.Status, test.status)
			}
		})
	}
}
