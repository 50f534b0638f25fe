package runner

import (
	"fmt"
	"os"
	"path/filepath"
)

const program = "bailiff-runner"

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
		return "", fmt.Errorf("finding %s: %w; install it there or set runner.path", program, err)
	}
	if !stat.Mode().IsRegular() || stat.Mode()&0o111 == 0 {
		return "", fmt.Errorf("finding %s: %s is no program; set runner.path", program, path)
	}
	return path, nil
}
