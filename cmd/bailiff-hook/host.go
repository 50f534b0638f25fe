package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// onHost is what a tool does on this machine, said by a command that does the same.
func onHost(line ...string) meaning {
	return meaning{kind: hostly, command: shellquote.Join(line...)}
}

// onFiles is what a tool does to files of this machine.
func onFiles(paths []string, writes bool, line ...string) meaning {
	m := onHost(line...)
	m.files, m.writes = paths, writes
	return m
}

func reading(paths ...string) meaning {
	return onFiles(paths, false, append([]string{"cat", "--"}, paths...)...)
}

func writing(paths ...string) meaning {
	return onFiles(paths, true, append([]string{"tee", "--"}, paths...)...)
}

func removing(paths ...string) meaning {
	return onFiles(paths, true, append([]string{"rm", "--"}, paths...)...)
}

// changing is reading and writing, since an edit shows what is around it.
func changing(paths ...string) meaning { return reading(paths...).and(writing(paths...)) }

func listing(paths ...string) meaning {
	return onFiles(paths, false, append([]string{"ls", "--"}, paths...)...)
}

func searching(pattern string, paths ...string) meaning {
	return onFiles(paths, false, append([]string{"grep", "-r", "-e", pattern, "--"}, paths...)...)
}

func finding(pattern string, paths ...string) meaning {
	return onFiles(paths, false, append(append([]string{"find"}, paths...), "-path", pattern)...)
}

// and is what two meanings do to files, the one after the other.
func (m meaning) and(n meaning) meaning {
	return meaning{kind: hostly, command: m.command + " && " + n.command, files: slices.Concat(m.files, n.files),
		writes: m.writes || n.writes, linked: m.linked || n.linked}
}

func fetching(url string) meaning { return onHost("curl", "--", url) }

// about is the meaning of a tool that acts on the file of that name in its input.
func about(c call, name string, act func(paths ...string) meaning) (meaning, error) {
	path, err := c.input.text(name)
	if err != nil {
		return meaning{}, err
	}
	paths, err := c.paths(path)
	m := act(paths...)
	m.linked = len(paths) > 1
	return m, err
}

// throughout is the meaning of a tool that looks for a pattern in a folder, which is
// the working folder if none is named.
func throughout(c call, name string, act func(pattern string, paths ...string) meaning) (meaning, error) {
	pattern, err := c.input.text(name)
	if err != nil {
		return meaning{}, err
	}
	folder, err := c.input.optional("path")
	if err != nil {
		return meaning{}, err
	}
	if folder == "" {
		folder = c.cwd
	}
	paths, err := c.paths(folder)
	return act(pattern, paths...), err
}

// paths are what a path of a tool's input stands for: as it is written and, where
// links lead elsewhere, what they lead to, for a program that can make a link in a
// folder can have anything named by it.
func (c call) paths(path string) ([]string, error) {
	path, err := c.absolute(path)
	if err != nil {
		return nil, err
	}
	real, err := resolved(path)
	if err != nil {
		return nil, fmt.Errorf("looking where %q leads: %w", path, err)
	}
	if real != path {
		return []string{path, real}, nil
	}
	return []string{path}, nil
}

// absolute is a path of this machine. One that clients may understand differently is
// refused: to some of them ~ is the home folder and to others a folder of that name,
// and some leave out blanks around a path.
func (c call) absolute(path string) (string, error) {
	switch {
	case strings.HasPrefix(path, "~"):
		return "", fmt.Errorf("%q: write the home folder out", path)
	case strings.TrimSpace(path) != path:
		return "", fmt.Errorf("%q: write the path without blanks around it", path)
	case strings.ContainsFunc(path, unseen):
		return "", fmt.Errorf("%q: write the path without a character that nobody sees", path)
	case !filepath.IsAbs(path) && !filepath.IsAbs(c.cwd):
		return "", fmt.Errorf("%q: want an absolute path", path)
	case !filepath.IsAbs(path):
		path = c.cwd + "/" + path
	}
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", fmt.Errorf("%q: write the path without a step back (..) in it", path)
	}
	return filepath.Clean(path), nil
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

// resolvedBelow is where a path leads at which there is nothing.
func resolvedBelow(path string) (string, error) {
	folder := filepath.Dir(path)
	if folder == path {
		return path, nil
	}
	folder, err := resolved(folder)
	return filepath.Join(folder, filepath.Base(path)), err
}
