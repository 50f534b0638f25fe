package shell

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// git runs shell text from aliases, pagers and hooks given as settings.
func (a *analysis) git(inv *invocation, args *arguments) result {
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
		return a.text("git", inv, join(after(ops, 2), " "), inv.sc.fork())
	}
	if len(ops) == 2 && ops[0].text == "rev-parse" || args.has("--show-toplevel") {
		return result{out: unknown(value.Taint{})}
	}
	return result{out: unknown(value.Taint{})}
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
		strings.HasPrefix(key, "pager."), strings.HasPrefix(key, "filter."), strings.HasPrefix(key, "difftool."), strings.HasPrefix(key, "mergetool."):
		if value.text != "true" && value.text != "false" {
			code := part(value, strings.TrimPrefix(value.text, "!"))
			if code != value || !strings.HasPrefix(key, "credential") {
				a.text("git", inv, code, inv.sc.fork())
			}
		}
	}
}

// tar runs what its checkpoint and filter options name.
func (a *analysis) tar(inv *invocation, args *arguments) result {
	for _, o := range args.options {
		code := o.value
		switch o.name {
		case "--checkpoint-action":
			text, ok := strings.CutPrefix(code.text, "exec=")
			if !ok {
				continue
			}
			code.text = text
		case "--to-command", "--use-compress-program", "-I", "--rsh-command", "-F", "--info-script", "--new-volume-script":
		default:
			continue
		}
		a.text("tar", inv, code, inv.sc.fork())
	}
	if extracting(args) {
		a.untar(inv, args)
	}
	return result{out: unknown(inv.in.Taint)}
}

// netcat runs what "-e" names, with whatever the other side sends as its input.
func (a *analysis) netcat(name string, inv *invocation, args *arguments) (result, bool) {
	code, ok := args.value("-e", "-c", "--exec", "--sh-exec")
	if !ok {
		return result{}, false
	}
	return a.fed(name, inv, code), true
}

// socat runs what its EXEC and SYSTEM addresses name.
func (a *analysis) socat(inv *invocation, args *arguments) (result, bool) {
	for _, w := range args.operands {
		kind, rest, _ := strings.Cut(w.text, ":")
		if kind = strings.ToUpper(kind); kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL" {
			code, _, _ := strings.Cut(rest, ",")
			return a.fed("socat", inv, part(w, strings.Trim(code, `"'`))), true
		}
	}
	return result{}, false
}

// fed reads shell text whose input comes from the network.
func (a *analysis) fed(name string, inv *invocation, code word) result {
	in := *inv
	in.in = unknown(value.Taint{Fetched: true})
	return a.text(name, &in, code, inv.sc.fork())
}

// vim runs what "-c '!CMD'" names.
func (a *analysis) vim(name string, inv *invocation, args *arguments) result {
	for _, o := range args.options {
		if _, code, ok := strings.Cut(o.value.text, "!"); ok && (o.name == "-c" || o.name == "--cmd") {
			a.text(name, inv, part(o.value, code), inv.sc.fork())
		}
	}
	for _, w := range inv.argv[1:] {
		if code, ok := strings.CutPrefix(w.text, "+!"); ok {
			a.text(name, inv, part(w, code), inv.sc.fork())
		}
	}
	return result{out: unknown(value.Taint{})}
}

var sedExec = regexp.MustCompile(`(?m)(?:^|;|\d|\$|/)\s*e\s+(\S[^;\n]*)`)

// sed runs what its "e" command names.
func (a *analysis) sed(inv *invocation, args *arguments) result {
	scripts := args.operands
	if _, given := args.value("-e", "--expression", "-f", "--file"); given {
		scripts = nil
		for _, o := range args.options {
			if o.name == "-e" || o.name == "--expression" {
				scripts = append(scripts, o.value)
			}
		}
	} else {
		scripts = scripts[:min(1, len(scripts))]
	}
	for _, w := range scripts {
		if strings.HasPrefix(w.text, "s") {
			continue
		}
		for _, m := range sedExec.FindAllStringSubmatch(w.text, 20) {
			a.text("sed", inv, part(w, m[1]), inv.sc.fork())
		}
	}
	return result{out: stream{present: true, Taint: inv.in.Taint}}
}
