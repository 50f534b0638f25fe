package facts

import (
	"slices"
	"strings"
)

// Plain says that whoever knows the folder in which the text starts knows what
// each name in it stands for: it is read as a whole, changes no folder, calls
// every program directly and by its own name, sets nothing, substitutes
// nothing, and runs no file. Where in doubt, a text is not plain.
//
// What the text is fed with from outside is not among these facts.
func (c Command) Plain() bool {
	return c.Parsed && c.Complete && len(c.Assigns) == 0 && len(c.Files) == 0 &&
		!slices.ContainsFunc(c.Features, isIntricate) &&
		!slices.ContainsFunc(c.Variables, func(name string) bool { return name != "HOME" }) &&
		!slices.ContainsFunc(slices.Concat(c.Reads, c.Writes), isVague) &&
		!slices.ContainsFunc(c.Calls, func(call Call) bool { return !call.isPlain() })
}

func isIntricate(feature string) bool { return feature != FeaturePipe && feature != FeatureRedirect }

// isVague says that a word can stand for something else than itself.
func isVague(word string) bool {
	return strings.ContainsAny(word, "*?[$") || strings.Contains(word, "(…)") || strings.HasPrefix(word, "~") && word != "~" && !strings.HasPrefix(word, "~/")
}

func (c Call) isPlain() bool {
	return len(c.Wrappers) == 0 && len(c.Assigns) == 0 && !unsettling[c.Program] &&
		!slices.ContainsFunc(c.Argv, isVague) &&
		!slices.ContainsFunc(c.Flags, func(flag string) bool { return c.leadsElsewhere(flag) })
}

// unsettling are the calls after which names may stand for something else, and
// those that start what follows them.
var unsettling = setOf("cd pushd popd dirs chdir alias unalias hash eval source . exec trap enable command builtin shopt set unset shift " +
	"export declare local typeset readonly let read mapfile readarray getopts bind complete compopt compgen fc coproc setopt unsetopt rehash zmodload autoload emulate " +
	"env sudo doas su runuser pkexec chroot unshare nsenter busybox toybox xargs parallel")

// leadsElsewhere says that a flag may make the program work in another folder.
// Long options count in every shorter form that programs take for them.
func (c Call) leadsElsewhere(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return len(flag) > 2 && slices.ContainsFunc(leadingOptions, func(whole string) bool { return strings.HasPrefix(whole, flag) })
	}
	return strings.HasPrefix(flag, "-C") || strings.HasPrefix(flag, "-D") || flag == "-chdir" || c.Program == "git" && strings.HasPrefix(flag, "-c")
}

var leadingOptions = []string{"--chdir", "--cd", "--cwd", "--wd", "--workdir", "--working-dir", "--working-directory", "--directory", "--dir", "--git-dir", "--work-tree",
	"--project-directory", "--project-dir", "--prefix", "--root", "--config-env", "--exec-path"}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
