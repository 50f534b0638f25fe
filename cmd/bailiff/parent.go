package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// parentPace is how often it is looked whether the program that began this one is there.
const parentPace = 500 * time.Millisecond

// withParent ends a context with the program that started this one, be it by a shell:
// that lives on where its own parent was killed.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	begun := lineage()
	go func() {
		ticks := time.NewTicker(parentPace)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if !slices.Equal(lineage(), begun) {
				cancel()
				return
			}
		}
	}()
	return ctx, cancel
}

// between are the programs that stand between an agent and what it has a shell run.
var between = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox", "timeout", "env"}

// lineage are the parents of this process up to the first that is no shell. Where the
// system does not say whose child a shell is, the line ends there.
func lineage() (line []int) {
	parent := os.Getppid()
	for parent > 1 {
		line = append(line, parent)
		name, next, err := parentOf(parent)
		if err != nil || !slices.Contains(between, name) {
			return line
		}
		parent = next
	}
	return append(line, parent)
}

// parentOf is a process' name and its parent, as Linux tells them.
func parentOf(pid int) (name string, parent int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, err
	}
	from, to := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	var state string
	if from < 0 || to < from {
		return "", 0, fmt.Errorf("reading the process %d: nothing is known of it", pid)
	}
	_, err = fmt.Sscan(string(text[to+1:]), &state, &parent)
	return string(text[from+1 : to]), parent, err
}
