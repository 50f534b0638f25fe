// Package loop bounds what a folder may hold where the host's file system cannot:
// by a file system of that size in a sparse file, which the kernel shows as a
// block device (a loop device) for the process that mounts it.
//
// Nothing has to be taken apart again: the kernel lets a device go when no process
// has it open or mounted any more, also after a kill. Files outlive that, and the
// host's restart; which device a file gets differs from time to time.
//
// It takes Linux, root and the programs of e2fsprogs.
package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
)

// The programs that make a file system: the second takes the folder away in
// which the first would have lost files be put, and which no user may read.
const (
	maker  = "mkfs.ext4"
	editor = "debugfs"
)

// Possible is nil, or says why there can be no such file system here.
func Possible() error {
	if os.Getuid() != 0 {
		return errors.New("only root can bound a folder by a file system of its own")
	}
	for _, program := range []string{maker, editor} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("bounding a folder by a file system of its own takes %s, of e2fsprogs", program)
		}
	}
	return supported()
}

// Unfinished ends the name of a file that is being made, which a kill leaves behind.
const Unfinished = ".part"

// Make makes a file system of so many MiB in a new file. There is a whole file
// in the end or none.
func Make(ctx context.Context, path string, sizeMB int) error {
	part := path + Unfinished
	defer os.Remove(part)
	if err := makeSparse(part, int64(sizeMB)<<20); err != nil {
		return err
	}
	for _, step := range [][]string{
		{maker, "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", part},
		{editor, "-w", "-R", "rmdir lost+found", part},
	} {
		if _, err := subprocess.Output(ctx, subprocess.Command(ctx, step[0], step[1:]...)); err != nil {
			return fmt.Errorf("making a file system of %d MiB: %w", sizeMB, err)
		}
	}
	return os.Rename(part, path)
}

func makeSparse(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(size), file.Close())
}
