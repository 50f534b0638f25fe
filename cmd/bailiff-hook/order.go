package main

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// order is what bailiff is to run: in which folder, for how many seconds, and how many it may
// wait for people. What is zero is left to bailiff.
type order struct {
	workdir       string
	timeout, wait int
	text          string
}

// line is the command line of an order.
func (p program) line(c hook.Call, o order) string {
	line := []string{p.bailiff, "exec", "--end-with-parent", "--listen", p.listen}
	if p.tokenFile != "" {
		line = append(line, "--token-file", p.tokenFile)
	}
	line = append(line, "--platform", p.platform, "--user", p.user, "--session", p.session(c))
	if c.Agent != "" {
		line = append(line, "--agent", c.Agent)
	}
	for _, name := range p.env {
		line = append(line, "--env", name)
	}
	if o.workdir != "" {
		line = append(line, "--workdir", o.workdir)
	}
	if o.timeout > 0 {
		line = append(line, "--timeout", strconv.Itoa(o.timeout))
	}
	if o.wait > 0 {
		line = append(line, "--wait", strconv.Itoa(o.wait))
	}
	return shellquote.Join(line...) + " -- " + shellquote.Enclose(o.text)
}

// isOrder says whether a command is exactly such an order of this session, in which
// nothing but the text, the folder and the times are free to choose. It is made
// again from those and compared, so that nothing can hide in it.
func (p program) isOrder(c hook.Call, command string) bool {
	line, ok := shellquote.Split(command)
	if !ok || len(line) < 2 {
		return false
	}
	end := len(line) - 2
	number := func(name string) int { n, _ := strconv.Atoi(after(line[:end], name)); return n }
	o := order{workdir: after(line[:end], "--workdir"), timeout: number("--timeout"), wait: number("--wait"), text: line[end+1]}
	return p.line(c, o) == command
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

// workspace is the folder in sandboxes that belongs to none of the host's.
const workspace = "/workspace"

// workdir is the folder in the sandbox: the one named, or else where the client's own
// folder is seen. Where commands may write others and not that one, they begin in none of these, in which the session
// may stand since an earlier command.
func workdir(named, cwd string, mounts []bailiff.Mount) string {
	if seen := seenAt(named, mounts); seen != "" || named != "" {
		return cmp.Or(seen, named)
	}
	seen := seenAt(cwd, mounts)
	isWritable := func(m bailiff.Mount) bool { return !m.ReadOnly }
	if seen == "" && cwd != "" && slices.ContainsFunc(mounts, isWritable) {
		return workspace
	}
	return seen
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
