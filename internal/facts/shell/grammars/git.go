package grammars

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// gitArguments reads the words of git, and those of its verb as that takes them.
func gitArguments(words []word.Word, p *programs.Program) *call.Arguments {
	g := call.ReadArguments(words, p, true)
	if len(g.Operands) == 0 {
		return g
	}
	g.Verb = programs.Look("git " + g.Operands[0].Text)
	if verb := g.Verb.Described; verb != &programs.Undescribed {
		p = verb
	}
	rest := call.ParseArguments(g.Rest[1:], p)
	g.Flags, g.Options = append(g.Flags, rest.Flags...), append(g.Options, rest.Options...)
	g.Operands = append(g.Operands[:1:1], rest.Operands...)
	return g
}

// verbOf is how the verb of a call of git reads its arguments.
func verbOf(args *call.Arguments) *programs.Program {
	if args.Verb == nil {
		return &programs.Undescribed
	}
	return args.Verb.Described
}

// git runs shell text from aliases, pagers and hooks given as settings.
func (rd *Reader) git(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	verb := verbOf(args)
	for _, o := range args.Options {
		key, value, _ := strings.Cut(o.Value.Text, "=")
		if o.Name == "-c" && value != "" || o.Name == "--config" {
			rd.gitSetting(inv, key, word.Part(o.Value, value))
		}
		if slices.Contains(verb.Texts, o.Name) {
			rd.Text("git", inv, o.Value, inv.Scope.Fork())
		}
	}
	ops := args.Operands
	if meant, ok := aliasOf(args); ok {
		return rd.Inner("git", inv, append([]word.Word{inv.Argv[0]}, meant...)), true
	}
	rd.hooksOf(inv, word.First(ops).Text)
	switch word.First(ops).Text {
	case "clone":
		rd.clone(inv, ops)
	case "push":
		rd.pushes(inv, ops)
	case "config":
		if i := settingAt(ops); i > 0 && i+1 < len(ops) {
			rd.gitSetting(inv, ops[i].Text, ops[i+1])
		}
	case "bisect", "submodule":
		if words := subcommandWords(args, "run", "foreach"); len(words) > 1 {
			return rd.Inner("git", inv, words), true
		} else if len(words) == 1 {
			return rd.Text("git", inv, words[0], inv.Scope.Fork()), true
		}
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}

// started are the hooks of the repository that a verb starts, by githooks(5).
var started = map[string][]string{
	"am":       {"applypatch-msg", "pre-applypatch", "post-applypatch"},
	"checkout": {"post-checkout"},
	"commit":   {"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"},
	"merge":    {"pre-merge-commit", "commit-msg", "post-merge"},
	"pull":     {"post-merge", "post-checkout", "pre-rebase"},
	"push":     {"pre-push"},
	"rebase":   {"pre-rebase", "post-checkout", "post-rewrite"},
	"switch":   {"post-checkout"},
}

// hooksOf notes the hooks that a verb starts. What they do is read with the settings of the repository.
func (rd *Reader) hooksOf(inv *call.Invocation, verb string) {
	for _, hook := range started[verb] {
		rd.Modules = append(rd.Modules, rd.FileAt(word.Of(".git/hooks/"+hook), inv.Scope))
	}
}

// receiving are the hooks that run in a repository to which is pushed, by githooks(5).
var receiving = []string{"pre-receive", "update", "proc-receive", "post-receive", "post-update", "reference-transaction",
	"push-to-checkout"}

// pushes notes the hooks of a repository on this machine.
func (rd *Reader) pushes(inv *call.Invocation, ops []word.Word) {
	if len(ops) < 2 {
		return
	}
	to := ops[1]
	_, isURL := value.URLHost(to.Text)
	before, _, remote := strings.Cut(to.Text, ":")
	if isURL || remote && !strings.Contains(before, "/") || !strings.Contains(to.Text, "/") && !strings.HasSuffix(to.Text, ".git") {
		return
	}
	for _, folder := range []string{"hooks/", ".git/hooks/"} {
		for _, hook := range receiving {
			rd.ProgramFile("sh", word.InFolder(to, folder+hook), inv)
		}
	}
}

// aliasOf are the words that a verb stands for by an alias among the options, and those behind the verb.
func aliasOf(args *call.Arguments) ([]word.Word, bool) {
	for _, o := range args.Options {
		key, text, _ := strings.Cut(o.Value.Text, "=")
		name, alias := strings.CutPrefix(strings.ToLower(key), "alias.")
		told := o.Name == "-c" && alias && o.Value.Known && !strings.HasPrefix(text, "!")
		if !told || name != strings.ToLower(word.First(args.Operands).Text) {
			continue
		}
		var words []word.Word
		for _, field := range strings.Fields(text) {
			words = append(words, word.Of(field))
		}
		return append(words, word.After(args.Rest, 1)...), len(words) > 0
	}
	return nil, false
}

// settingAt is the place of the name of a setting, which holds a dot, in "config NAME
// VALUE" and "config set NAME VALUE".
func settingAt(ops []word.Word) int {
	return slices.IndexFunc(ops, func(w word.Word) bool { return strings.Contains(w.Text, ".") })
}

// subcommandWords are the words after one of these subcommands, without the options before the first.
func subcommandWords(args *call.Arguments, subcommands ...string) []word.Word {
	words := word.After(args.Rest, 1)
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	if !slices.Contains(subcommands, word.First(words).Text) {
		return nil
	}
	for words = words[1:]; len(words) > 0 && strings.HasPrefix(words[0].Text, "-"); {
		words = words[1:]
	}
	return words
}

// gitSetting reads a setting that git hands to a shell.
func (rd *Reader) gitSetting(inv *call.Invocation, key string, value word.Word) {
	key = strings.ToLower(key)
	section, name := key[:strings.IndexByte(key+".", '.')], key[strings.LastIndexByte(key, '.')+1:]
	code, command := strings.CutPrefix(value.Text, "!")
	switch {
	case section == "alias" || section == "submodule" && name == "update" || section == "credential":
		if command {
			rd.Text("git", inv, word.Part(value, code), inv.Scope.Fork())
		} else if !value.Known && section == "alias" {
			rd.Hide()
		}
	case runsValue(key, section, name):
		rd.Text("git", inv, word.Part(value, code), inv.Scope.Fork())
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
	case "textconv", "driver", "smudge", "clean", "process", "cmd", "command", "program", "sendmailcmd", "tocmd", "cccmd", "httpd",
		"defaultkeycommand", "uploadpack", "receivepack":
		return section != "user" && section != "color" && section != "advice" && section != "core"
	}
	return false
}

// clone follows "git clone URL [DIR]".
func (rd *Reader) clone(inv *call.Invocation, ops []word.Word) {
	if len(ops) < 2 {
		return
	}
	from, to := ops[1], word.Part(ops[1], urlBase(strings.TrimSuffix(strings.TrimRight(ops[1].Text, "/"), ".git")))
	if !strings.Contains(from.Text, ":") {
		return // from this machine
	}
	if len(ops) > 2 {
		to = ops[2]
	}
	rd.Unpack(rd.Path(to, inv.Scope), false)
}

func gitEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	if len(ops) == 0 {
		return
	}
	verb := verbOf(e.Args)
	folder, elsewhere := globalFolder(e.Args)
	if elsewhere {
		e.Scope = e.FS.ScopeIn(folder, e.Scope)
	}
	for _, o := range e.Args.Options {
		e.Option(o, verb)
	}
	switch ops[0].Text {
	case "clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive", "bundle":
		remotes(e, ops[1:])
	case "rm", "mv", "clean":
		e.Write(ops[1:]...)
	}
	gitFiles(e, ops, elsewhere)
}

// remotes notes the hosts of addresses.
func remotes(e *effects.Collector, ops []word.Word) {
	for _, w := range ops {
		if h, ok := value.RemotePath(w.Text); ok && !strings.HasPrefix(w.Text, "+") && strings.ContainsAny(w.Text, "@.") {
			e.Host(h)
		}
	}
}

// gitFiles notes what a verb writes outside of the folder where it runs.
func gitFiles(e *effects.Collector, ops []word.Word, elsewhere bool) {
	switch ops[0].Text {
	case "clone":
		e.Write(word.After(ops, 2)...)
	case "worktree":
		if len(ops) > 2 && ops[1].Text == "add" {
			e.Write(ops[2])
		}
	case "config":
		if file, ok := e.Args.Value("-f", "--file"); ok && settingAt(ops) > 0 && settingAt(ops)+1 < len(ops) {
			e.Write(file)
		}
	case "show", "cat-file", "archive", "diff", "blame", "annotate", "log":
		versions(e, ops[1:])
		if ops[0].Text != "log" || e.Args.Has("-p", "-u", "--patch") {
			e.Read(ops[1:]...)
		}
	case "checkout", "restore":
		for _, w := range ops[1:] {
			hidden := "/" + e.FS.Path(w, e.Scope)
			settings := strings.Contains(hidden, "/.") && !strings.Contains(hidden, "/..")
			if elsewhere || settings || word.IsRooted(w.Text) || strings.HasPrefix(w.Text, "~") {
				e.Write(w)
			}
		}
	}
	if elsewhere && fillsFolder(ops[0].Text) {
		e.Write(word.Of("."))
	}
}

// versions notes the files of which a revision is read, as "HEAD:path" says. Below a folder
// for git's own files beside a home the paths are those of the home.
func versions(e *effects.Collector, words []word.Word) {
	sc := e.Scope
	if dir, ok := e.Args.Value("--git-dir"); ok {
		sc = e.FS.ScopeIn(word.Part(dir, path.Dir(strings.TrimSuffix(dir.Text, "/"))), e.Scope)
	}
	for _, w := range words {
		revision, file, ok := strings.Cut(w.Text, ":")
		if ok && file != "" && revision != "" && !strings.Contains(revision, "/..") && !strings.HasPrefix(file, "/") {
			e.Reads = state.AddPath(e.Reads, e.FS.Path(word.Part(w, file), sc))
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
func globalFolder(args *call.Arguments) (word.Word, bool) {
	for i, w := range args.All {
		if folder, ok := strings.CutPrefix(w.Text, "--work-tree="); ok {
			return word.Part(w, folder), true
		}
		if (w.Text == "-C" || w.Text == "--work-tree") && i+1 < len(args.All) {
			return args.All[i+1], true
		}
		if w.Text == args.Operands[0].Text {
			break
		}
	}
	return word.Word{}, false
}
