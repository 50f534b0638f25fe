package cgroup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const prefix = "bailiff-"

// newName names a group after this process, so that a later one can tell whether
// its maker is alive: by the namespace in which process numbers count, the
// number, and when the process began, since numbers are given out again.
func newName() (string, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("reading the own namespace: %w", err)
	}
	maker, err := began("self")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s-%s-%s", prefix, digits(space), maker, strings.ToLower(rand.Text()[:12])), nil
}

// digits takes the number out of "pid:[4026531836]".
func digits(space string) string { return strings.TrimSuffix(strings.TrimPrefix(space, "pid:["), "]") }

// began is a process's number and start, as "1234-567890".
func began(process string) (string, error) {
	text, err := os.ReadFile(filepath.Join("/proc", process, "stat"))
	if err != nil {
		return "", fmt.Errorf("reading when a process began: %w", err)
	}
	pid, _, _ := strings.Cut(string(text), " ")
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return "", errors.New("reading when a process began: /proc does not tell")
	}
	return pid + "-" + fields[19], nil
}

// Sweep ends what is in groups whose makers are gone, removes them, and returns
// how many. Those of makers in other namespaces it cannot judge, and spares.
func Sweep(ctx context.Context) (int, error) {
	here, err := findHierarchies("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return 0, err
	}
	gone := map[string]bool{}
	var faults []error
	for _, h := range here {
		faults = append(faults, h.sweep(ctx, gone))
	}
	return len(gone), errors.Join(faults...)
}

// sweep notes the names of the groups that it has removed.
func (h hierarchy) sweep(ctx context.Context, gone map[string]bool) error {
	folders, err := filepath.Glob(filepath.Join(h.folder, prefix+"*"))
	faults := []error{err}
	for _, folder := range folders {
		if name := filepath.Base(folder); isOrphan(name) {
			if err := remove(ctx, folder); err != nil {
				faults = append(faults, err)
				continue
			}
			gone[name] = true
		}
	}
	return errors.Join(faults...)
}

// isOrphan says whether a group's maker would be seen here, and is not.
func isOrphan(name string) bool {
	parts := strings.Split(strings.TrimPrefix(name, prefix), "-")
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || len(parts) != 4 || parts[0] != digits(space) {
		return false
	}
	maker, err := began(parts[1])
	return errors.Is(err, os.ErrNotExist) || err == nil && maker != parts[1]+"-"+parts[2]
}
