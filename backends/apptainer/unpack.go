package apptainer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
)

// unpacker is of squashfs-tools, without which the program cannot build images either.
// The program's own way to unpack takes every capability there is where it is root,
// which few containers have.
const unpacker = "unsquashfs"

// unpack unpacks the root that a SIF file holds.
func (b *Backend) unpack(ctx context.Context, made, root string) error {
	folder := filepath.Dir(made)
	listed, err := b.tell(ctx, folder, b.program, "sif", "list", made)
	if err != nil {
		return err
	}
	at, err := position(listed)
	if err != nil {
		return err
	}
	_, err = b.tell(ctx, folder, unpacker, "-no-progress", "-no-xattrs", "-d", root, "-o", at, made)
	return err
}

// tell runs a program, which may write into a folder, and returns what it said.
func (b *Backend) tell(ctx context.Context, folder, program string, words ...string) (string, error) {
	cmd := subprocess.Command(ctx, program, words...)
	cmd.Env = b.environment(folder)
	return subprocess.Output(ctx, cmd)
}

// partition is how the program lists a file system that stands for the root.
var partition = regexp.MustCompile(`(?m)\|(\d+)-\d+ *\|FS \((\w+)/\*System/(\w+)\)`)

// position is where the file system begins that a listed SIF file holds.
func position(listed string) (string, error) {
	found := partition.FindStringSubmatch(listed)
	switch {
	case found == nil:
		return "", errors.New("the SIF file holds no root")
	case found[2] != "Squashfs":
		return "", fmt.Errorf("the SIF file holds a root that is %s, want Squashfs", found[2])
	case found[3] != runtime.GOARCH:
		return "", fmt.Errorf("the image is for %s, this machine is %s", found[3], runtime.GOARCH)
	}
	return found[1], nil
}
