package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// wrapper sees through a program that runs another one.
func (a *analysis) wrapper(name string, inv *invocation, args *arguments) (result, bool) {
	for _, sees := range []func(string, *invocation, *arguments) (result, bool){a.starter, a.chooser, a.texter, a.reacher, a.tool} {
		if r, ok := sees(name, inv, args); ok {
			return r, true
		}
	}
	return result{}, false
}

// starter starts what follows its own options, or after one operand more.
func (a *analysis) starter(name string, inv *invocation, args *arguments) (result, bool) {
	switch name {
	case "sudo", "doas", "pkexec", "gosu", "firejail", "fakeroot", "dbus-run-session", "caffeinate", "setpriv", "cpulimit", "prlimit",
		"nohup", "nice", "ionice", "setsid", "stdbuf", "unbuffer", "time", "proot", "unshare", "nsenter", "strace", "ltrace", "systemd-run", "sshpass",
		"xvfb-run", "cgexec", "setarch", "linux64", "linux32", "numactl", "rlwrap", "catchsegv", "daemonize", "chronic", "entr", "ssh-agent", "cross-env":
		return a.prefixed(name, inv, args)
	case "gtimeout", "timeout", "chrt", "taskset", "chroot":
		return a.inner(name, inv, after(args.rest, 1)), true
	case "builtin":
		return a.inner(name, inv, args.rest), true
	case "exec":
		r := a.inner(name, inv, args.rest)
		r.ends = len(args.rest) > 0
		return r, true
	case "busybox", "toybox":
		return a.inner(name, inv, inv.argv[1:]), true
	case "env":
		return a.env(inv, args), true
	case "su", "runuser":
		return a.su(name, inv, args), true
	case "npx", "bunx", "poetry", "uv", "pipenv", "bundle", "conda", "mise", "pnpm", "npm", "yarn", "volta", "direnv", "asdf", "doppler", "aws-vault", "nix-shell", "hyperfine", "nodemon", "concurrently":
		return a.launcher(name, inv, args)
	}
	return result{}, false
}

// chooser finds a program by its name, or what it is to be given.
func (a *analysis) chooser(name string, inv *invocation, args *arguments) (result, bool) {
	switch name {
	case "command":
		if !args.has("-v", "-V") {
			return a.inner(name, inv, args.rest), true
		}
		fallthrough
	case "which":
		return result{out: stream{present: true, text: first(args.operands).text, known: len(args.operands) == 1}}, true
	case "xargs":
		return a.xargs(inv, args), true
	case "parallel":
		return a.parallel(inv, args), true
	case "find", "fd", "fdfind":
		return a.find(name, inv), true
	}
	return result{}, false
}

// texter gives shell text to a shell.
func (a *analysis) texter(name string, inv *invocation, args *arguments) (result, bool) {
	code, given := args.value("-c", "--command")
	switch name {
	case "watch":
		return a.text(name, inv, join(args.rest, " "), inv.sc.fork()), true
	case "flock":
		argv := after(args.rest, 1)
		switch {
		case given:
			return a.text(name, inv, code, inv.sc.fork()), true
		case len(argv) > 1 && argv[0].text == "-c":
			return a.text(name, inv, argv[1], inv.sc.fork()), true
		}
		return a.inner(name, inv, argv), true
	case "script":
		if given {
			return a.text(name, inv, code, inv.sc.fork()), true
		}
		return result{out: unknown(value.Taint{})}, true
	}
	return result{}, false
}

// reacher runs something elsewhere: on another host, in a container, at the other end of a connection.
func (a *analysis) reacher(name string, inv *invocation, args *arguments) (result, bool) {
	switch name {
	case "nc", "ncat", "netcat":
		return a.netcat(name, inv, args)
	case "socat":
		return a.socat(inv, args)
	case "ssh":
		return a.ssh(inv, args), true
	case "docker", "podman", "nerdctl":
		return a.container(name, inv), true
	case "kubectl", "oc":
		return a.cluster(name, inv), true
	}
	return result{}, false
}

// tool is a program with work of its own that can start others.
func (a *analysis) tool(name string, inv *invocation, args *arguments) (result, bool) {
	switch name {
	case "git":
		return a.git(inv, args), true
	case "tar", "bsdtar":
		return a.tar(inv, args), true
	case "unzip":
		return a.unzip(inv, args), true
	case "awk", "gawk", "mawk", "nawk":
		return a.awk(name, inv, args), true
	case "vim", "vi", "nvim", "ex":
		return a.vim(name, inv, args), true
	case "sed":
		return a.sed(inv, args), true
	}
	return result{}, false
}

// launchers are the subcommands with which tools of projects start a program, and
// how many words stand between.
var launchers = map[string]map[string]int{
	"poetry": {"run": 0}, "uv": {"run": 0}, "pipenv": {"run": 0}, "bundle": {"exec": 0}, "conda": {"run": 0}, "mise": {"exec": 0, "x": 0},
	"pnpm": {"exec": 0, "dlx": 0}, "npm": {"exec": 0, "x": 0}, "yarn": {"exec": 0, "dlx": 0}, "volta": {"run": 0},
	"direnv": {"exec": 1}, "asdf": {"exec": 0}, "doppler": {"run": 0}, "aws-vault": {"exec": 1},
}

// launcher runs a program in a project's environment.
func (a *analysis) launcher(name string, inv *invocation, args *arguments) (result, bool) {
	words := inv.argv[1:]
	switch name {
	case "npx", "bunx":
	case "nix-shell":
		code, ok := args.value("--run", "--command")
		if !ok {
			return result{}, false
		}
		return a.text(name, inv, code, inv.sc.fork()), true
	case "hyperfine", "nodemon", "concurrently":
		for _, w := range words {
			if strings.Contains(w.text, " ") {
				a.text(name, inv, w, inv.sc.fork())
			}
		}
		return result{}, false
	default:
		if len(words) == 0 {
			return result{}, false
		}
		between, ok := launchers[name][words[0].text]
		if !ok {
			return result{}, false
		}
		words = after(words, 1+between)
	}
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	if len(words) == 0 {
		return result{}, false
	}
	return a.inner(name, inv, words), true
}

func after(words []word, n int) []word { return words[min(n, len(words)):] }

func first(words []word) word {
	if len(words) == 0 {
		return known("")
	}
	return words[0]
}

// prefixed is a wrapper whose command follows its own options.
func (a *analysis) prefixed(name string, inv *invocation, args *arguments) (result, bool) {
	rest := args.rest
	in := *inv
	if name == "sudo" || name == "doas" {
		rest, in.assigns = a.leadingAssignments(rest, inv.assigns)
	}
	if dir, ok := args.value("-D", "--chdir"); ok && name == "sudo" {
		in.sc = a.standing(dir, inv.sc)
	}
	if name == "cross-env" {
		rest, in.assigns = a.leadingAssignments(rest, inv.assigns)
	}
	if name == "setarch" && len(rest) > 0 && !strings.Contains(rest[0].text, "/") {
		rest = rest[1:]
	}
	if name == "gosu" {
		rest = after(rest, 1)
	}
	if name == "sudo" && len(rest) == 0 && args.has("-e", "--edit") {
		return result{}, true
	}
	if len(rest) == 0 && (args.has("-s", "--shell", "-i", "--login") || name == "unshare" || name == "nsenter") && inv.in.present {
		rest = []word{known("sh")}
	}
	return a.inner(name, &in, rest), true
}

func (a *analysis) leadingAssignments(words []word, assigns []string) ([]word, []string) {
	assigns = slices.Clip(assigns)
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].text, "=")
		if !ok || !syntax.ValidName(name) {
			break
		}
		assigns = append(assigns, name)
		a.assigns = append(a.assigns, name)
		a.setting(name, value)
		words = words[1:]
	}
	return words, assigns
}

func (a *analysis) env(inv *invocation, args *arguments) result {
	in := *inv
	if code, ok := args.value("-S", "--split-string"); ok {
		return a.text("env", inv, join(append([]word{code}, args.rest...), " "), inv.sc.fork())
	}
	rest := args.rest
	if len(rest) > 0 && rest[0].text == "-" {
		rest = rest[1:]
	}
	rest, in.assigns = a.leadingAssignments(rest, inv.assigns)
	if dir, ok := args.value("-C", "--chdir"); ok {
		in.sc = a.standing(dir, inv.sc)
	}
	return a.inner("env", &in, rest)
}

func (a *analysis) su(name string, inv *invocation, args *arguments) result {
	if code, ok := args.value("-c", "--command", "--session-command"); ok {
		return a.text(name, inv, code, inv.sc.fork())
	}
	if name == "runuser" && args.has("-u", "--user") {
		return a.inner(name, inv, args.rest)
	}
	if inv.in.present {
		return a.input(name, inv, inv.sc.fork())
	}
	return result{out: unknown(value.Taint{})}
}

// xargs runs its command with words from its input.
func (a *analysis) xargs(inv *invocation, args *arguments) result {
	argv := slices.Clone(args.rest)
	if len(argv) == 0 {
		argv = []word{known("echo")}
	}
	items := a.inputWords(inv.in)
	if placeholder, ok := args.value("-I", "--replace"); ok || args.has("-i") {
		mark := cmp.Or(placeholder.text, "{}")
		argv = substitute(argv, mark, items)
	} else {
		argv = append(argv, items...)
	}
	in := *inv
	in.in = stream{}
	return a.inner("xargs", &in, argv)
}

// inputWords are the words of an input, or one that stands for them.
func (a *analysis) inputWords(in stream) []word {
	if in.items != nil {
		return in.items
	}
	if !in.known {
		return []word{{text: "$(…)", Taint: in.Taint}}
	}
	var out []word
	for _, s := range strings.Fields(strings.ReplaceAll(in.text, "\x00", " ")) {
		if len(out) >= maxFields || !a.spend(1) {
			a.complete = false
			break
		}
		out = append(out, word{text: strings.Trim(s, `"'`), known: true, Taint: in.Taint})
	}
	return out
}

// substitute puts items where the placeholder stands.
func substitute(argv []word, mark string, items []word) []word {
	value := join(items, " ")
	out := slices.Clone(argv)
	for i, w := range out {
		if strings.Contains(w.text, mark) {
			out[i].text = strings.ReplaceAll(w.text, mark, value.text)
			out[i].known, out[i].glob = w.known && value.known, w.glob || value.glob
			out[i].Taint = w.Taint.With(value.Taint)
		}
	}
	return out
}

func (a *analysis) parallel(inv *invocation, args *arguments) result {
	argv := args.rest
	var items []word
	for i, w := range argv {
		if strings.HasPrefix(w.text, ":::") {
			argv, items = argv[:i], argv[i+1:]
			break
		}
	}
	if items == nil && inv.in.present {
		items = a.inputWords(inv.in)
	}
	if len(argv) == 0 {
		for _, w := range items {
			a.text("parallel", inv, w, inv.sc.fork())
		}
		return result{out: unknown(value.Taint{})}
	}
	code := join(argv, " ")
	if strings.Contains(code.text, "{}") {
		return a.text("parallel", inv, join(substitute(argv, "{}", items), " "), inv.sc.fork())
	}
	return a.text("parallel", inv, join(append(slices.Clone(argv), items...), " "), inv.sc.fork())
}

// find runs the commands of -exec and its like on what it finds.
func (a *analysis) find(name string, inv *invocation) result {
	words := inv.argv[1:]
	for i := 0; i < len(words); i++ {
		switch words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) && words[end].text != ";" && (words[end].text != "+" || words[end-1].text != "{}") {
				end++
			}
			in := *inv
			in.in = stream{}
			a.inner(name, &in, substitute(words[i+1:end], "{}", found(words)))
			i = end
		}
	}
	return result{out: stream{present: true, items: found(words)}}
}

// found are patterns for what find finds.
func found(words []word) []word {
	folders := findFolders(words)
	if len(folders) == 0 {
		folders = []word{known(".")}
	}
	pattern := "*"
	for i, w := range words[:max(len(words)-1, 0)] {
		if w.text == "-name" || w.text == "-iname" {
			pattern = words[i+1].text
		}
	}
	out := make([]word, len(folders))
	for i, f := range folders {
		out[i] = word{text: strings.TrimSuffix(f.text, "/") + "/" + pattern, known: f.known, glob: true}
	}
	return out
}

// ssh runs its operands on another host.
func (a *analysis) ssh(inv *invocation, args *arguments) result {
	if proxy, ok := args.value("-o"); ok {
		if _, code, ok := strings.Cut(proxy.text, "Command="); ok && code != "none" {
			a.text("ssh", inv, part(proxy, code), inv.sc.fork())
		}
	}
	remote := &scope{argsKnown: true, steps: inv.sc.steps}
	if code := after(args.rest, 1); len(code) > 0 {
		return a.text("ssh", inv, join(code, " "), remote)
	}
	if inv.in.present && len(args.operands) > 0 {
		return a.input("ssh", inv, remote)
	}
	return result{out: unknown(value.Taint{Fetched: true})}
}

// container reads the command of "docker run IMAGE CMD" and "docker exec NAME CMD".
func (a *analysis) container(name string, inv *invocation) result {
	words := inv.argv[1:]
	for i, w := range words {
		if w.text == "run" || w.text == "exec" || w.text == "create" {
			g := parseArguments(words[i+1:], &program{strict: true, options: dockerOptions})
			argv := after(g.rest, 1)
			if entry, ok := g.value("--entrypoint"); ok && entry.text != "" {
				argv = append([]word{entry}, argv...)
			}
			in := *inv
			in.sc = &scope{argsKnown: true, steps: inv.sc.steps, mounts: a.mountsOf(g.options, inv.sc)}
			return a.image(name, &in, argv)
		}
	}
	return result{out: unknown(value.Taint{})}
}

// image runs a container's command; without one its image decides.
func (a *analysis) image(name string, inv *invocation, argv []word) result {
	if len(argv) == 0 || strings.HasPrefix(argv[0].text, "-") {
		return result{out: unknown(value.Taint{})}
	}
	return a.inner(name, inv, argv)
}

func (a *analysis) cluster(name string, inv *invocation) result {
	for i, w := range inv.argv {
		if w.text == "--" {
			in := *inv
			in.sc = &scope{argsKnown: true, steps: inv.sc.steps}
			return a.inner(name, &in, inv.argv[i+1:])
		}
	}
	return result{out: unknown(value.Taint{})}
}
