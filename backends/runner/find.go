package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

const (
	program = "bailiff-runner"
	module  = "github.com/bailiff-dev/bailiff/cmd/" + program
)

// Confine is the argument with which a runner, before it starts anything,
// renounces calls of the kernel that no command in a sandbox needs.
const Confine = wire.Confine

// ShareWatches is the argument before it with which one that may set bounds for its namespace of users leaves others of the
// same user room.
const ShareWatches = wire.ShareWatches

// Find returns the path of the runner program: the configured one, or else the
// one beside the running executable.
func Find(configured string) (string, error) {
	path := configured
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding %s: %w; set runner.path", program, err)
		}
		path = filepath.Join(filepath.Dir(self), program)
	}
	stat, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w; install it there (CGO_ENABLED=0 go install %s, of the same version) or set runner.path",
			program, err, module)
	}
	if !stat.Mode().IsRegular() || stat.Mode()&0o111 == 0 {
		return "", fmt.Errorf("finding %s: %s is no program; set runner.path", program, path)
	}
	return path, nil
}

// Install copies the runner program into a folder of the sidecar's, named by its
// content and executable but not readable: that makes the kernel close its
// processes to others of the same user from their very start. The folder and
// those above it stay searchable for the user that sandboxes run as.
func Install(path, folder string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("installing %s: %w", program, err)
	}
	sum := sha256.Sum256(content)
	installed := filepath.Join(folder, program+"-"+hex.EncodeToString(sum[:8]))
	if stat, err := os.Lstat(installed); err == nil && stat.Mode() == unreadable && stat.Size() == int64(len(content)) {
		return installed, nil
	}
	if err := write(folder, installed, content); err != nil {
		return "", fmt.Errorf("installing %s: %w", program, err)
	}
	return installed, nil
}

const unreadable os.FileMode = 0o111

func write(folder, path string, content []byte) error {
	if err := os.MkdirAll(folder, 0o711); err != nil {
		return err
	}
	syscall.ForkLock.RLock() // a child forked meanwhile would keep the file open for writing, and it could not be run
	defer syscall.ForkLock.RUnlock()
	temporary, err := os.CreateTemp(folder, program)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(unreadable), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
