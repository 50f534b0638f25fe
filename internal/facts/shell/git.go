package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// git runs shell text from aliases, pagers and hooks given as settings.
func (a *analysis) git(_ string, inv *invocation, args *arguments) (result, bool) {
	for _, o := range args.options {
		if o.name == "-c" {
			key, value, _ := strings.Cut(o.value.text, "=")
			a.gitSetting(inv, key, part(o.value, value))
		}
	}
	ops := args.operands
	if len(ops) > 0 && ops[0].text == "clone" {
		a.clone(inv, ops)
	}
	if len(ops) > 2 && ops[0].text == "config" {
		a.gitSetting(inv, ops[len(ops)-2].text, ops[len(ops)-1])
	}
	if len(ops) > 1 && (ops[0].text == "bisect" && ops[1].text == "run" || ops[0].text == "submodule" && ops[1].text == "foreach") {
		return a.text("git", inv, join(after(ops, 2), " "), inv.sc.fork()), true
	}
	if len(ops) == 2 && ops[0].text == "rev-parse" || args.has("--show-toplevel") {
		return result{out: unknown(value.Taint{})}, true
	}
	return result{out: unknown(value.Taint{})}, true
}

// gitSetting reads a setting that git hands to a shell.
func (a *analysis) gitSetting(inv *invocation, key string, value word) {
	key = strings.ToLower(key)
	switch {
	case strings.HasPrefix(key, "alias."):
		if code, ok := strings.CutPrefix(value.text, "!"); ok {
			a.text("git", inv, part(value, code), inv.sc.fork())
		} else if !value.known {
			a.hide()
		}
	case key == "core.pager", key == "core.editor", key == "core.sshcommand", key == "core.fsmonitor", key == "diff.external",
		key == "sequence.editor", key == "core.askpass", key == "core.gitproxy", key == "credential.helper",
		strings.HasPrefix(key, "pager."), strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "difftool."), strings.HasPrefix(key,
			"mergetool."):
		if value.text != "true" && value.text != "false" {
			code := part(value, strings.TrimPrefix(value.text, "!"))
			if code.text != value.text || !strings.HasPrefix(key, "credential") {
				a.text("git", inv, code, inv.sc.fork())
			}
		}
	}
}

// clone follows "git clone URL [DIR]".
func (a *analysis) clone(inv *invocation, ops []word) {
	if len(ops) < 2 {
		return
	}
	from, to := ops[1], part(ops[1], urlBase(strings.TrimSuffix(strings.TrimRight(ops[1].text, "/"), ".git")))
	if !strings.Contains(from.text, ":") {
		return // from this machine
	}
	if len(ops) > 2 {
		to = ops[2]
	}
	a.unpack(a.path(to, inv.sc), false)
}

func (e *effect) git(_ string) {
	ops := e.args.operands
	if len(ops) == 0 {
		return
	}
	switch ops[0].text {
	case "clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive", "bundle":
		for _, w := range ops[1:] {
			if h, ok := value.RemotePath(w.text); ok && !strings.HasPrefix(w.text, "+") && strings.ContainsAny(w.text, "@.") {
				e.host(h)
			}
		}
	case "rm", "mv", "clean":
		e.write(ops[1:]...)
	}
}
