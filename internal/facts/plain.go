package facts

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Plain says that a reader who knows the folder in which the text starts knows what
// each name in it stands for: it is read as a whole, changes no folder, calls
// every program directly and by its own name, sets nothing, substitutes
// nothing, and runs no file. Where in doubt, a text is not plain.
//
// What the text is fed with from outside is not among these facts.
func Plain(c Command) bool {
	return c.Parsed && c.Complete && len(c.Assigns) == 0 && len(c.Files)+len(c.Opens) == 0 &&
		!slices.ContainsFunc(c.Features, isIntricate) &&
		!slices.ContainsFunc(c.Variables, func(name string) bool { return name != "HOME" }) &&
		!slices.ContainsFunc(slices.Concat(c.Reads, c.Writes), isVague) &&
		!slices.ContainsFunc(c.Calls, func(call Call) bool { return !isPlain(call) })
}

// OnlyCall is the program and the arguments of a plain text that is one call and nothing
// else, without a redirection; nil for any other text.
func OnlyCall(c Command) []string {
	if len(c.Calls) != 1 || len(c.Features) > 0 || c.Supposed != nil || c.Code != nil || !Plain(c) {
		return nil
	}
	return c.Calls[0].Argv
}

func isIntricate(feature string) bool {
	return feature != value.FeaturePipe && feature != value.FeatureRedirect
}

// isVague says that a word can stand for something else than itself.
func isVague(word string) bool {
	return strings.ContainsAny(word, "*?[$") || strings.Contains(word, "(…)") || strings.HasPrefix(word, "~") && word != "~" &&
		!strings.HasPrefix(word, "~/")
}

func isPlain(c Call) bool {
	return len(c.Wrappers) == 0 && len(c.Assigns) == 0 && !programs.Of(c.Program).Unsettles &&
		!slices.ContainsFunc(c.Argv, isVague) &&
		!slices.ContainsFunc(c.Flags, func(flag string) bool { return leadsElsewhere(c.Program, flag) })
}

// leadsElsewhere says that a flag may make the program work in another folder.
// Long options count in every shorter form that programs take for them.
func leadsElsewhere(program, flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return len(flag) > 2 && slices.ContainsFunc(leadingOptions, func(whole string) bool { return strings.HasPrefix(whole, flag) })
	}
	return strings.HasPrefix(flag, "-C") || strings.HasPrefix(flag, "-D") || flag == "-chdir" || program == "git" &&
		strings.HasPrefix(flag, "-c")
}

var leadingOptions = []string{"--chdir", "--cd", "--cwd", "--wd", "--workdir", "--working-dir", "--working-directory", "--directory",
	"--dir", "--git-dir", "--work-tree",
	"--project-directory", "--project-dir", "--prefix", "--root", "--config-env", "--exec-path"}
