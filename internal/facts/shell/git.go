package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// gitArguments reads the words of git, and those of its verb as that takes them.
func gitArguments(words []word, p *programs.Program) *arguments {
	g := readArguments(words, p, true)
	if len(g.operands) == 0 {
		return g
	}
	g.verb = programs.Look("git " + g.operands[0].text)
	if verb := g.verb.Described; verb != &programs.Undescribed {
		p = verb
	}
	rest := parseArguments(g.rest[1:], p)
	g.flags, g.options = append(g.flags, rest.flags...), append(g.options, rest.options...)
	g.operands = append(g.operands[:1:1], rest.operands...)
	return g
}

// verbOf is how the verb of a call of git reads its arguments.
func verbOf(args *arguments) *programs.Program {
	if args.verb == nil {
		return &programs.Undescribed
	}
	return args.verb.Described
}

// git runs shell text from aliases, pagers and hooks given as settings.
func (rd *reader) git(_ string, inv *invocation, args *arguments) (result, bool) {
	verb := verbOf(args)
	for _, o := range args.options {
		key, value, _ := strings.Cut(o.value.text, "=")
		if o.name == "-c" && value != "" || o.name == "--config" {
			rd.gitSetting(inv, key, part(o.value, value))
		}
		if slices.Contains(verb.Texts, o.name) {
			rd.text("git", inv, o.value, inv.sc.fork())
		}
	}
	ops := args.operands
	if meant, ok := aliasOf(args); ok {
		return rd.inner("git", inv, append([]word{inv.argv[0]}, meant...)), true
	}
	switch first(ops).text {
	case "clone":
		rd.clone(inv, ops)
	case "push":
		rd.pushes(inv, ops)
	case "config":
		if i := settingAt(ops); i > 0 && i+1 < len(ops) {
			rd.gitSetting(inv, ops[i].text, ops[i+1])
		}
	case "bisect", "submodule":
		if words := givenTo(args, "run", "foreach"); len(words) > 1 {
			return rd.inner("git", inv, words), true
		} else if len(words) == 1 {
			return rd.text("git", inv, words[0], inv.sc.fork()), true
		}
	}
	return result{out: unknown(value.Taint{})}, true
}

// receiving are the hooks that run in a repository to which is pushed, by githooks(5).
var receiving = []string{"pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction",
	"push-to-checkout"}

// pushes notes the hooks of a repository on this machine.
func (rd *reader) pushes(inv *invocation, ops []word) {
	if len(ops) < 2 {
		return
	}
	to := ops[1]
	_, isURL := value.URLHost(to.text)
	before, _, remote := strings.Cut(to.text, ":")
	if isURL || remote && !strings.Contains(before, "/") || !strings.Contains(to.text, "/") && !strings.HasSuffix(to.text, ".git") {
		return
	}
	for _, folder := range []string{"hooks/", ".git/hooks/"} {
		for _, hook := range receiving {
			rd.runsNamed("sh", inFolder(to, folder+hook), inv)
		}
	}
}

// aliasOf are the words that a verb stands for by an alias among the options, and those behind the verb.
func aliasOf(args *arguments) ([]word, bool) {
	for _, o := range args.options {
		key, text, _ := strings.Cut(o.value.text, "=")
		name, alias := strings.CutPrefix(strings.ToLower(key), "alias.")
		told := o.name == "-c" && alias && o.value.known && !strings.HasPrefix(text, "!")
		if !told || name != strings.ToLower(first(args.operands).text) {
			continue
		}
		var words []word
		for _, field := range strings.Fields(text) {
			words = append(words, known(field))
		}
		return append(words, after(args.rest, 1)...), len(words) > 0
	}
	return nil, false
}

// settingAt is the place of the name of a setting, which holds a dot, in "config NAME
// VALUE" and "config set NAME VALUE".
func settingAt(ops []word) int {
	return slices.IndexFunc(ops, func(w word) bool { return strings.Contains(w.text, ".") })
}

// givenTo are the words after one of these subcommands, without the options before the first.
func givenTo(args *arguments, subcommands ...string) []word {
	words := after(args.rest, 1)
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	if !slices.Contains(subcommands, first(words).text) {
		return nil
	}
	for words = words[1:]; len(words) > 0 && strings.HasPrefix(words[0].text, "-"); {
		words = words[1:]
	}
	return words
}

// gitSetting reads a setting that git hands to a shell.
func (rd *reader) gitSetting(inv *invocation, key string, value word) {
	key = strings.ToLower(key)
	section, name := key[:strings.IndexByte(key+".", '.')], key[strings.LastIndexByte(key, '.')+1:]
	code, command := strings.CutPrefix(value.text, "!")
	switch {
	case section == "alias" || section == "submodule" && name == "update" || section == "credential":
		if command {
			rd.text("git", inv, part(value, code), inv.sc.fork())
		} else if !value.known && section == "alias" {
			rd.hide()
		}
	case runsValue(key, section, name):
		rd.text("git", inv, part(value, code), inv.sc.fork())
	}
}

// runsValue says that git starts the value of a setting.
func runsValue(key, section, name string) bool {
	switch section {
	case "pager", "filter", "difftool", "mergetool":
		return true
	}
	switch key {
	case "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
		"diff.external", "sequence.editor", "gpg.program", "interactive.difffilter", "uploadpack.packobjectshook", "web.browser":
		return true
	}
	switch name {
	case "textconv", "driver", "smudge", "clean", "process", "cmd", "command", "program", "sendmailcmd", "tocmd", "cccmd", "httpd":
		return section != "user" && section != "color" && section != "advice" && section != "core"
	}
	return false
}

// clone follows "git clone URL [DIR]".
func (rd *reader) clone(inv *invocation, ops []word) {
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
	rd.unpack(rd.path(to, inv.sc), false)
}

func gitEffects(e *effect, _ string) {
	ops := e.args.operands
	if len(ops) == 0 {
		return
	}
	verb := verbOf(e.args)
	folder, elsewhere := globalFolder(e.args)
	if elsewhere {
		e.sc = e.fs.standing(folder, e.sc)
	}
	for _, o := range e.args.options {
		e.option(o, verb)
	}
	switch ops[0].text {
	case "clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive", "bundle":
		remotes(e, ops[1:])
	case "rm", "mv", "clean":
		e.write(ops[1:]...)
	}
	gitFiles(e, ops, elsewhere)
}

// remotes notes the hosts of addresses.
func remotes(e *effect, ops []word) {
	for _, w := range ops {
		if h, ok := value.RemotePath(w.text); ok && !strings.HasPrefix(w.text, "+") && strings.ContainsAny(w.text, "@.") {
			e.host(h)
		}
	}
}

// gitFiles notes what a verb writes outside of the folder where it runs.
func gitFiles(e *effect, ops []word, elsewhere bool) {
	switch ops[0].text {
	case "clone":
		e.write(after(ops, 2)...)
	case "worktree":
		if len(ops) > 2 && ops[1].text == "add" {
			e.write(ops[2])
		}
	case "config":
		if file, ok := e.args.value("-f", "--file"); ok && settingAt(ops) > 0 && settingAt(ops)+1 < len(ops) {
			e.write(file)
		}
	case "show", "cat-file", "archive", "diff", "blame", "annotate", "log":
		versions(e, ops[1:])
		if ops[0].text != "log" || e.args.has("-p", "-u", "--patch") {
			e.read(ops[1:]...)
		}
	case "checkout", "restore":
		for _, w := range ops[1:] {
			hidden := "/" + e.fs.path(w, e.sc)
			settings := strings.Contains(hidden, "/.") && !strings.Contains(hidden, "/..")
			if elsewhere || settings || rooted(w.text) || strings.HasPrefix(w.text, "~") {
				e.write(w)
			}
		}
	}
	if elsewhere && fillsFolder(ops[0].text) {
		e.write(known("."))
	}
}

// versions notes the files of which a revision is read, as "HEAD:path" says. Below a folder
// for git's own files beside a home the paths are those of the home.
func versions(e *effect, words []word) {
	sc := e.sc
	if dir, ok := e.args.value("--git-dir"); ok {
		sc = e.fs.standing(part(dir, path.Dir(strings.TrimSuffix(dir.text, "/"))), e.sc)
	}
	for _, w := range words {
		revision, file, ok := strings.Cut(w.text, ":")
		if ok && file != "" && revision != "" && !strings.Contains(revision, "/..") && !strings.HasPrefix(file, "/") {
			e.reads = add(e.reads, e.fs.path(part(w, file), sc))
		}
	}
}

// fillsFolder says that a verb writes the files of a revision over those of the folder.
func fillsFolder(verb string) bool {
	switch verb {
	case "checkout", "restore", "switch", "pull", "merge", "reset", "read-tree", "checkout-index", "stash", "apply", "am",
		"cherry-pick", "rebase":
		return true
	}
	return false
}

// globalFolder is the folder that options before the verb name.
func globalFolder(args *arguments) (word, bool) {
	for i, w := range args.all {
		if folder, ok := strings.CutPrefix(w.text, "--work-tree="); ok {
			return part(w, folder), true
		}
		if (w.text == "-C" || w.text == "--work-tree") && i+1 < len(args.all) {
			return args.all[i+1], true
		}
		if w.text == args.operands[0].text {
			break
		}
	}
	return word{}, false
}
