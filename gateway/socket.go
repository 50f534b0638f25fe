package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// socketMode lets the socket's user and group connect.
const socketMode = 0o660

// socketFile is the file of a Unix socket, which closing leaves behind; the zero value is that of a listener on TCP, which has none.
type socketFile struct {
	path string
	made fs.FileInfo
}

// isThere says whether no other file has taken its place.
func (f socketFile) isThere() bool {
	if f.path == "" {
		return true
	}
	about, err := os.Lstat(f.path)
	return err == nil && os.SameFile(about, f.made)
}

func (f socketFile) remove() {
	if f.path != "" && f.isThere() {
		_ = os.Remove(f.path)
	}
}

// listen opens a listener's address.
func listen(c ListenerConfig) (net.Listener, socketFile, error) {
	if c.Network != "unix" {
		l, err := listenTCP(c)
		return l, socketFile{}, err
	}
	if err := vacate(c.Address); err != nil {
		return nil, socketFile{}, err
	}
	return bind(c)
}

func listenTCP(c ListenerConfig) (net.Listener, error) {
	if host, port, err := net.SplitHostPort(c.Address); err == nil && strings.EqualFold(host, "localhost") {
		return listenLocalhost(port)
	}
	return net.Listen(c.Network, c.Address)
}

// vacate makes sure that no process serves a socket's path. A socket that a dead
// process left behind is no hindrance.
func vacate(path string) error {
	about, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case about.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is no socket; remove it or listen elsewhere", path)
	}
	err = call(path)
	for range retries { // a child that was just forked holds our closed sockets until it is another program
		if err != nil {
			break
		}
		time.Sleep(retryPause)
		err = call(path)
	}
	switch {
	case err == nil, errors.Is(err, syscall.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("socket %s is in use by another process; stop that one or listen elsewhere", path)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("asking who serves %s: %w", path, err)
}

// How often, and how long apart, a process that answers is asked again.
const (
	retries    = 5
	retryPause = 20 * time.Millisecond
)

// call connects to a socket, if a process serves it.
func call(path string) error {
	other, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return err
	}
	return other.Close()
}

// bind makes the socket in a folder that no other user can enter, and moves it to
// its place with its mode and owner set, so that there is no moment in which
// another user could connect.
func bind(c ListenerConfig) (net.Listener, socketFile, error) {
	folder := filepath.Dir(c.Address)
	if err := makeFolder(folder); err != nil {
		return nil, socketFile{}, err
	}
	private, err := os.MkdirTemp(folder, ".b")
	if err != nil {
		return nil, socketFile{}, err
	}
	defer func() { _ = os.RemoveAll(private) }()
	made := filepath.Join(private, "s")
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, socketFile{}, fmt.Errorf("making a socket below %s: %w", folder, err)
	}
	socket.SetUnlinkOnClose(false)
	about, err := place(c, made)
	if err != nil {
		_ = socket.Close()
		return nil, socketFile{}, err
	}
	return socket, socketFile{c.Address, about}, nil
}

// makeFolder makes a folder that listed users can pass through, whatever the
// umask; one that exists is left as it is.
func makeFolder(folder string) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.Chmod(folder, 0o755) //nolint:gosec // the socket's own mode keeps others out
}

func place(c ListenerConfig, made string) (fs.FileInfo, error) {
	if err := os.Chmod(made, socketMode); err != nil {
		return nil, err
	}
	if err := give(c, made); err != nil {
		return nil, err
	}
	about, err := os.Lstat(made)
	if err != nil {
		return nil, err
	}
	return about, os.Rename(made, c.Address)
}

// give makes the first listed user that is not ours the socket's owner, since
// its mode keeps out a client that is neither that user nor of its group. Without the
// right to do so, the group of the folder must serve.
func give(c ListenerConfig, socket string) error {
	self := uint32(os.Geteuid()) //nolint:gosec // a uid fits
	others := slices.DeleteFunc(slices.Clone(c.UIDs), func(uid uint32) bool { return uid == self })
	if len(others) == 0 {
		return nil
	}
	err := os.Chown(socket, int(others[0]), -1)
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	} else {
		others = others[1:]
	}
	if len(others) > 0 {
		c.Log.Warn("listed users can connect only as members of the socket's group: share one with them, chgrp the socket's folder to "+
			"it and set its setgid bit",
			"listener", c.Name, "uids", others)
	}
	return err
}
