// Package descent tells of a process or a control group which sidecar made it, and whether
// that still runs.
//
// A mark is a text that names its maker: the namespace in which process numbers count, the
// maker's number there, and when the maker began, since numbers are given out again. A
// process has one from its first instruction on, as its first argument or in the variable
// [Variable]; its children have the same one until they start another program.
//
// Promised here: [Sweep] ends every marked process whose maker is gone, and no other. It spares the
// processes of makers in other namespaces, which it cannot see.
//
// Not here: the control groups that bear marks (package cgroup).
package descent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Prefix begins every mark.
const Prefix = "bailiff-"

// Variable is the variable of the environment that may hold the mark of a process.
const Variable = "BAILIFF_MAKER"

// Mark is the mark of what this process makes.
func Mark() (string, error) {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("reading the own namespace: %w", err)
	}
	maker, err := began("self")
	if err != nil {
		return "", err
	}
	return Prefix + digits(space) + "-" + maker, nil
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

// IsOrphan says whether the maker that a mark names would be seen here, and is not. Text after
// one more hyphen is no part of the mark.
func IsOrphan(mark string) bool {
	rest, marked := strings.CutPrefix(mark, Prefix)
	parts := strings.SplitN(rest, "-", 4)
	if !marked || len(parts) < 3 || !isNumber(parts[1]) || !isNumber(parts[2]) {
		return false
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || parts[0] != digits(space) {
		return false
	}
	maker, err := began(parts[1])
	return errors.Is(err, os.ErrNotExist) || err == nil && maker != parts[1]+"-"+parts[2]
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
