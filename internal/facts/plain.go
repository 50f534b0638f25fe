package facts

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Plain says that whoever knows the folder in which the text starts knows what
// each name in it stands for: it is read as a whole, changes no folder, calls
// every program directly and by its own name, sets nothing, substitutes
// nothing, and runs no file. Where in doubt, a text is not plain.
//
// What the text is fed with from outside is not among these facts.
func Plain(c Command) bool {
	return c.Parsed && c.Complete && len(c.Assigns) == 0 && len(c.Files) == 0 &&
		!slices.ContainsFunc(c.Features, isIntricate) &&
		!slices.ContainsFunc(c.Variables, func(name string) bool { return name != "HOME" }) &&
		!slices.ContainsFunc(slices.Concat(c.Reads, c.Writes), isVague) &&
		!slices.ContainsFunc(c.Calls, func(call Call) bool { return !isPlain(call) })
}

func isIntricate(feature string) bool {
	return feature != value.FeaturePipe && feature != value.FeatureRedirect
}

// isVague says that a word can stand for something else than itself.
func isVague(word string) bool {
	return strings.ContainsAny(word, "*?[$") || strings.Contains(word, "(…)") || strings.HasPrefix(word, "~") && word != "~" && !strings.HasPrefix(word, "~/")
}

func isPlain(c Call) bool {
	return len(c.Wrappers) == 0 && len(c.Assigns) == 0 && !unsettling[c.Program] &&
		!slices.ContainsFunc(c.Argv, isVague) &&
		!slices.ContainsFunc(c.Flags, func(flag string) bool { return leadsElsewhere(c.Program, flag) })
}

// unsettling are the calls after which names may stand for something else, and
// those that start what follows them.
var unsettling = value.SetOf("cd pushd popd dirs chdir alias unalias hash eval source . exec trap enable command builtin shopt set unset shift " +
	"export declare local typeset readonly let read mapfile readarray getopts bind complete compopt compgen fc coproc setopt unsetopt rehash zmodload autoload emulate " +
	"env sudo doas su runuser pkexec chroot unshare nsenter busybox toybox xargs parallel")

// leadsElsewhere says that a flag may make the program work in another folder.
// Long options count in every shorter form that programs take for them.
func leadsElsewhere(program, flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return len(flag) > 2 && slices.ContainsFunc(leadingOptions, func(whole string) bool { return strings.HasPrefix(whole, flag) })
	}
	return strings.HasPrefix(flag, "-C") || strings.HasPrefix(flag, "-D") || flag == "-chdir" || program == "git" && strings.HasPrefix(flag, "-c")
}

var leadingOptions = []string{"--chdir", "--cd", "--cwd", "--wd", "--workdir", "--working-dir", "--working-directory", "--directory", "--dir", "--git-dir", "--work-tree",
	"--project-directory", "--project-dir", "--prefix", "--root", "--config-env", "--exec-path"}
