package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// stateMode lets others pass through the state folder, so that sandboxes of an
// unprivileged user reach their workspaces; every folder in it that is not for
// them is closed by its own mode.
const stateMode = 0o711

// LockState takes the state folder for this process, making the folder if it is
// missing, and returns what gives it up again. The lock goes with the process,
// however that ends.
func LockState(dir string) (release func() error, err error) {
	if err := own(dir); err != nil {
		return nil, fmt.Errorf("locking the state folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the state folder: %w", err)
	}
	if err := flock(file); err != nil {
		return nil, errors.Join(refusal(dir, file, err), file.Close())
	}
	if err := sign(file); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the state folder: %w", err), file.Close())
	}
	return file.Close, nil
}

// The lock of a process that runs is tried lockTries times; that of one that is gone for
// as long as orphanTime.
const (
	lockTries  = 5
	lockPause  = 20 * time.Millisecond
	orphanTime = 10 * time.Second
)

// flock locks a file. A child that a killed bailiff had just forked holds its files until
// it is another program, which takes long on a busy machine.
func flock(file *os.File) (err error) {
	begun := time.Now()
	for try := 1; ; try++ {
		if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if try >= lockTries && (time.Since(begun) > orphanTime || signerRuns(file)) {
			return err
		}
		time.Sleep(lockPause)
	}
}

// signerRuns says whether the process that signed the lock may run.
func signerRuns(file *os.File) bool {
	pid, err := strconv.Atoi(signer(file))
	return err != nil || unix.Kill(pid, 0) != unix.ESRCH
}

// signer is the process that the lock names.
func signer(file *os.File) string {
	holder, _ := io.ReadAll(io.NewSectionReader(file, 0, 32))
	return strings.TrimSpace(string(holder))
}

// own makes the folder, or refuses one in which everyone may replace the log.
func own(dir string) error {
	if err := os.MkdirAll(dir, stateMode); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil || info.Mode().Perm()&0o002 == 0:
		return err
	case info.Mode()&os.ModeSticky != 0: // such as /tmp, which must stay everyone's
		return fmt.Errorf("%s is a folder for everyone, want one for bailiff alone, such as %s", dir, filepath.Join(dir, "bailiff"))
	}
	return fmt.Errorf("everyone may write %s: chmod 700 %[1]s", dir)
}

func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(file, "%d\n", os.Getpid())
	return err
}

func refusal(dir string, file *os.File, err error) error {
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("locking the state folder: %w", err)
	}
	return fmt.Errorf("locking the state folder: %s is in use by another bailiff (process %s): stop that one, or give this one a "+
		"state_dir of its own",
		dir, signer(file))
}
