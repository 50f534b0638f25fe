package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

const control = "/dev/loop-control"

func supported() error {
	_, err := os.Stat(control)
	return err
}

// attaching keeps a file from getting two devices, which would each write their
// own idea of it.
var attaching sync.Mutex

// Attach returns the device, by its name, that shows the file: the one that does
// already, or a new one. It stays until the returned file is closed and nothing
// has it mounted.
func Attach(path string) (*os.File, error) {
	attaching.Lock()
	defer attaching.Unlock()
	backing, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	device, err := find(backing)
	if err != nil || device != nil {
		return device, err
	}
	for {
		device, err := attach(backing)
		if !errors.Is(err, unix.EBUSY) { // another process was faster with the device that was free
			return device, err
		}
	}
}

// find opens the device that shows the file, and with that keeps it.
func find(backing *os.File) (*os.File, error) {
	var want unix.Stat_t
	if err := unix.Fstat(int(backing.Fd()), &want); err != nil {
		return nil, err
	}
	used, err := filepath.Glob("/sys/block/loop*/loop")
	if err != nil {
		return nil, err
	}
	for _, folder := range used {
		device, err := os.OpenFile("/dev/"+filepath.Base(filepath.Dir(folder)), os.O_RDWR, 0)
		if err != nil {
			continue // it was let go, or is none of ours
		}
		have, err := unix.IoctlLoopGetStatus64(int(device.Fd()))
		if err == nil && have.Device == uint64(want.Dev) && have.Inode == want.Ino {
			return device, nil
		}
		device.Close()
	}
	return nil, nil
}

func attach(backing *os.File) (*os.File, error) {
	ctl, err := os.OpenFile(control, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer ctl.Close()
	free, err := unix.IoctlRetInt(int(ctl.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return nil, fmt.Errorf("asking for a loop device: %w", err)
	}
	device, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", free), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	err = unix.IoctlLoopConfigure(int(device.Fd()), &unix.LoopConfig{
		Fd:   uint32(backing.Fd()),
		Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR},
	})
	if err != nil {
		device.Close()
		return nil, fmt.Errorf("attaching %s: %w", device.Name(), err)
	}
	return device, nil
}
