package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Paths are what a path of a tool's input stands for: as it is written and, where
// links lead elsewhere, what they lead to, for a program that can make a link in a
// folder can have anything named by it.
func (c Call) Paths(path string) ([]string, error) {
	path, err := c.absolute(path)
	if err != nil {
		return nil, err
	}
	real, err := resolved(path)
	if err != nil {
		return nil, fmt.Errorf("looking where %q leads: %w", path, err)
	}
	if isOfProcess(path) {
		return nil, fmt.Errorf("%q: write the path without /proc/self on its way, which leads each program elsewhere", path)
	}
	if real != path {
		return []string{path, real}, nil
	}
	return []string{path}, nil
}

// absolute is a path of this machine. One that clients may understand differently is
// refused: to some of them ~ is the home folder and to others a folder of that name,
// and some leave out blanks around a path.
func (c Call) absolute(path string) (string, error) {
	switch {
	case strings.HasPrefix(path, "~"):
		return "", fmt.Errorf("%q: write the home folder out", path)
	case strings.TrimSpace(path) != path:
		return "", fmt.Errorf("%q: write the path without blanks around it", path)
	case strings.ContainsFunc(path, unseen):
		return "", fmt.Errorf("%q: write the path without a character that nobody sees", path)
	case hasScheme(path): // which some of them read as the address of a file elsewhere
		return "", fmt.Errorf("%q: write the path without a scheme (a colon before any slash)", path)
	case !filepath.IsAbs(path) && !filepath.IsAbs(c.Cwd):
		return "", fmt.Errorf("%q: want an absolute path", path)
	case !filepath.IsAbs(path):
		path = c.Cwd + "/" + path
	}
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", fmt.Errorf("%q: write the path without a step back (..) in it", path)
	}
	return filepath.Clean(path), nil
}

func hasScheme(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ":")
}

// unseen are control characters, and those that only change what others look like.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf) || r == unicode.ReplacementChar
}

// mostLinks bounds how many links that lead nowhere yet are followed.
const mostLinks = 40

// resolved is where a path leads, whether or not there is something yet.
func resolved(path string) (string, error) {
	for range mostLinks {
		real, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return resolvedBelow(path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", errors.New("too many links")
}

// isOfProcess says whether a path leads by a link that stands for another place in each process.
func isOfProcess(path string) bool {
	for range mostLinks {
		if strings.HasPrefix(path, "/proc/self/") || strings.HasPrefix(path, "/proc/thread-self/") {
			return true
		}
		next := ""
		for i := 1; i <= len(path) && next == ""; i++ {
			if i < len(path) && path[i] != '/' {
				continue
			}
			if target, err := os.Readlink(path[:i]); err == nil {
				if !filepath.IsAbs(target) {
					target = filepath.Join(filepath.Dir(path[:i]), target)
				}
				next = filepath.Join(target, path[i:])
			}
		}
		if next == "" {
			return false
		}
		path = next
	}
	return true
}

// resolvedBelow is where a path leads at which there is nothing.
func resolvedBelow(path string) (string, error) {
	folder := filepath.Dir(path)
	if folder == path {
		return path, nil
	}
	folder, err := resolved(folder)
	return filepath.Join(folder, filepath.Base(path)), err
}
