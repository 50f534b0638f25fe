package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// judgeFiles lets a file tool do on this machine, in a project that the sandbox shows as it
// is, what a command in the sandbox may do there. Elsewhere, and where commands run on this
// machine, the tool is judged for that.
func (p program) judgeFiles(ctx context.Context, c hook.Call, m hook.Meaning) (hook.Verdict, error) {
	if len(m.Files) == 0 || p.onHost {
		return p.judgeHost(ctx, c, m)
	}
	d, err := p.decide(ctx, p.request(c, m, ""))
	if err != nil {
		return hook.Verdict{}, err
	}
	project := d.projectOf(m.Files)
	if project == "" || !p.isBeside() {
		return p.judgeHost(ctx, c, m)
	}
	switch {
	case d.Outcome == bailiff.Ask:
		return hook.Verdict{}, errors.New("a person would have to approve it, and no client's file tool waits for that: " +
			sentences(d.Approval.Reasons) + "; a command of the shell tool that does the same is asked about")
	case d.Outcome != bailiff.Allow:
		return hook.Verdict{}, refusal(d)
	case m.Writes && d.protects(m.Files):
		return hook.Verdict{}, fmt.Errorf("programs start by this file later (it is protected in %s); a command of the shell tool that "+
			"changes it is asked about", project)
	}
	if m.Writes {
		if err := onlyName(m.Files); err != nil {
			return hook.Verdict{}, err
		}
	}
	return hook.Verdict{Outcome: hook.Allow, Reason: "allowed in " + project + " as to a command in its sandbox"}, nil
}

// lookAgain looks at the files that a tool wrote. Where a link leads to one now, it may have
// been put there between the judgement and the deed, so that what the tool did is judged once
// more, and stands in the decision log.
func (p program) lookAgain(ctx context.Context, c hook.Call) error {
	m, err := p.client.Meaning(c)
	if err == nil && m.Writes && m.Linked {
		_, err = p.judgeFiles(ctx, c, m)
	}
	if err != nil {
		return fmt.Errorf("%s has run, and what it did may not have been what was allowed; a person should look: %w", c.Tool, err)
	}
	return nil
}

// isBeside says whether the sidecar is on this machine, so that its folders are this one's.
func (p program) isBeside() bool {
	network, address, _ := strings.Cut(p.listen, "://")
	if network == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// projectOf is the project in which the sandbox sees all of these files, as they are on this
// machine; empty if there is none. Nothing else may be shown at a file or below it.
func (d decided) projectOf(files []string) (project string) {
	for _, file := range files {
		seen := ""
		for _, m := range d.Backend.Mounts {
			if isIn(m.Target, file) && m.Target != file {
				return ""
			}
			if isIn(file, m.Target) && len(m.Target) > len(seen) {
				seen = m.Target
			}
		}
		if !slices.Contains(d.projects, seen) || project != "" && project != seen {
			return ""
		}
		project = seen
	}
	return project
}

// isIn says whether a path is a folder or something in it.
func isIn(file, folder string) bool {
	rest, ok := strings.CutPrefix(file, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// onlyName refuses a file that has a second name: by that one it could be a file which nothing but
// a person may change, and no comparison follows what a file tool does.
func onlyName(files []string) error {
	for _, file := range files {
		about, err := os.Lstat(file)
		if err != nil || !about.Mode().IsRegular() {
			continue
		}
		if stat, ok := about.Sys().(*syscall.Stat_t); !ok || stat.Nlink > 1 {
			return fmt.Errorf("%s has a second name (a hard link), by which programs may start from it later; write it by a command of "+
				"the shell tool, or write a new file", file)
		}
	}
	return nil
}

// protects says whether a change of one of these files would change a protected place, or one
// that is called so where letters' case does not count.
func (d decided) protects(files []string) bool {
	for _, m := range d.Backend.Mounts {
		for _, file := range files {
			rest, ok := strings.CutPrefix(file, m.Target+"/")
			if ok && slices.ContainsFunc(m.Protected, func(place string) bool {
				if place == bailiff.Repositories {
					return isOfRepository(m.Target, rest)
				}
				if file, isAnyDepth := strings.CutPrefix(place, bailiff.AnyDepth); isAnyDepth {
					return isAnywhere(rest, file)
				}
				return overlaps(rest, place)
			}) {
				return true
			}
		}
	}
	return false
}

// isOfRepository says whether a file below a folder belongs to what git keeps of its own: it has a
// part .git, it is the HEAD by which git takes a folder for a repository, or there is one beside it
// or beside its folder.
func isOfRepository(folder, file string) bool {
	parts := strings.Split(file, "/")
	isGits := func(part string) bool { return strings.EqualFold(part, ".git") }
	if slices.ContainsFunc(parts, isGits) || strings.EqualFold(parts[len(parts)-1], "HEAD") {
		return true
	}
	for i := range min(2, len(parts)) {
		above := filepath.Join(parts[:len(parts)-1-i]...)
		if _, err := os.Lstat(filepath.Join(folder, above, "HEAD")); err == nil {
			return true
		}
	}
	return false
}

// overlaps says whether a relative path is a protected place, in it or above it.
func overlaps(file, place string) bool {
	names, parts := strings.Split(file, "/"), strings.Split(strings.TrimSuffix(place, "/"), "/")
	for i := range min(len(names), len(parts)) {
		if parts[i] != "*" && !strings.EqualFold(names[i], parts[i]) {
			return false
		}
	}
	return true
}

// isAnywhere says whether a relative path is a file that counts in each folder, in it, or the folder in which it would lie.
func isAnywhere(path, file string) bool {
	names, parts := strings.Split(path, "/"), strings.Split(file, "/")
	if end, isEnd := strings.CutPrefix(file, "*"); isEnd {
		return slices.ContainsFunc(names, func(name string) bool {
			return len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end)
		})
	}
	for i := range names {
		if overlaps(strings.Join(names[i:min(len(names), i+len(parts))], "/"), file) {
			return true
		}
	}
	return false
}
