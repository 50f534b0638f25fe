package main

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/shellquote"
)

// order is the command line that has bailiff run a text.
func (h hook) order(c call, workdir string, timeout int, text string) string {
	line := []string{h.bailiff, "exec", "--end-with-parent", "--listen", h.listen}
	if h.tokenFile != "" {
		line = append(line, "--token-file", h.tokenFile)
	}
	line = append(line, "--platform", h.platform, "--user", h.user, "--session", h.session(c))
	for _, name := range h.env {
		line = append(line, "--env", name)
	}
	if workdir != "" {
		line = append(line, "--workdir", workdir)
	}
	if timeout > 0 {
		line = append(line, "--timeout", strconv.Itoa(timeout))
	}
	return shellquote.Join(line...) + " -- " + shellquote.Enclose(text)
}

// isOrder says whether a command is exactly such an order of this session, in which
// nothing but the text, the folder and the time are anybody's choice. It is made
// again from those and compared, so that nothing can hide in it.
func (h hook) isOrder(c call, command string) bool {
	line, ok := shellquote.Split(command)
	if !ok || len(line) < 2 {
		return false
	}
	end := len(line) - 2
	timeout, _ := strconv.Atoi(after(line[:end], "--timeout"))
	return h.order(c, after(line[:end], "--workdir"), timeout, line[end+1]) == command
}

// after is the word that follows the last one of that name.
func after(line []string, name string) string {
	for i := len(line) - 2; i >= 0; i-- {
		if line[i] == name {
			return line[i+1]
		}
	}
	return ""
}

// workdir is the folder in the sandbox: the one named, or else where the client's own
// folder is seen, if it is.
func workdir(named, cwd string, mounts []bailiff.Mount) string {
	if seen := seenAt(named, mounts); seen != "" || named != "" {
		return cmp.Or(seen, named)
	}
	return seenAt(cwd, mounts)
}

// seenAt is where a folder of this machine is in the sandbox, by the innermost mount
// that it is in.
func seenAt(folder string, mounts []bailiff.Mount) (seen string) {
	innermost := -1
	for _, m := range mounts {
		source := strings.TrimSuffix(m.Source, "/")
		rest, inside := strings.CutPrefix(folder, source)
		if inside && folder != "" && (rest == "" || rest[0] == '/') && len(source) > innermost {
			innermost, seen = len(source), path.Join(m.Target, rest)
		}
	}
	return seen
}
