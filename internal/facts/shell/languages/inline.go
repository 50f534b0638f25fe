package languages

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// InlineProgram is the program that a call of an interpreter spells out in its words. With a file, an option may name a function of that.
func InlineProgram(lang string, p *programs.Program, hasFile bool, args *call.Arguments) (word.Word, bool) {
	switch lang {
	case "python":
		return args.Value("-c")
	case "perl", "ruby", "lua", "Rscript", "osascript":
		return args.Value("-e", "-E")
	case "node":
		if len(args.Operands) > 1 && args.Operands[0].Text == "eval" {
			return args.Operands[1], true
		}
		code, ok := args.Value("-e", "--eval", "-p", "--print")
		if ok && code.Text == "e" && len(args.Operands) > 0 { // "-pe CODE"
			return args.Operands[0], true
		}
		return code, ok
	case "php":
		return args.Value("-r")
	case "pwsh":
		return word.Join(args.Operands, " "), args.Has("-c", "-Command", "-EncodedCommand")
	}
	for _, o := range args.Options {
		isFunction := hasFile && slices.Contains(p.Calls, o.Name) && o.Value.Known && functionName.MatchString(o.Value.Text)
		if slices.Contains(p.Texts, o.Name) && !isFunction {
			return o.Value, true
		}
	}
	return word.Word{}, false
}

var functionName = regexp.MustCompile(`^\w[\w-]*$`)

// IsCalled says that a word which should name a file is a program itself: it calls something.
func IsCalled(w word.Word) bool { return strings.Contains(w.Text, "(") }

// IsPure says that a module of Python's only computes.
func IsPure(module string) bool { return pureModules[module] }

var pureModules = map[string]bool{
	"math": true, "json": true, "re": true, "datetime": true, "collections": true, "itertools": true, "functools": true, "random": true,
	"statistics": true, "string": true, "textwrap": true, "typing": true, "dataclasses": true, "enum": true, "decimal": true,
	"fractions": true,
	"time":      true, "csv": true, "argparse": true, "pprint": true, "operator": true, "bisect": true, "heapq": true, "unittest": true,
	"numpy": true, "abc": true, "copy": true, "uuid": true, "hashlib": true, "calendar": true,
}

// IsFreshPython says that a call starts a Python that runs what it is given, all of it together, and nothing before.
func IsFreshPython(name string, inv *call.Invocation) bool {
	return strings.HasPrefix(name, "python") && !slices.ContainsFunc(inv.Argv[1:], func(w word.Word) bool {
		return inParts.MatchString(w.Text) || !w.Known && strings.HasPrefix(w.Text, "$")
	})
}

// inParts are the options by which Python reads one statement after another, a module, or all but the first line.
var inParts = regexp.MustCompile(`^-[A-Za-z]*[imx]`)

// shellCalls finds where another language starts a shell: the call's name and
// the quoted text after it.
var shellCalls = regexp.MustCompile(`\b(?:system|exec|execSync|popen|shell_exec|passthru|spawnSync|spawn|qx|` +
	`IO\.popen|os\.execute|io\.popen|Open3\.\w+)\b\s*[({]?\s*`)

// ShellTexts are the shell texts inside a program; all is false if some could not be read.
func ShellTexts(lang, code string) (commands []string, all bool) {
	all = true
	for _, at := range shellCalls.FindAllStringIndex(code, -1) {
		text, ok := word.StringAt(code[at[1]:])
		if ok {
			commands = append(commands, text)
		}
		all = all && ok
	}
	if lang == "perl" || lang == "ruby" || lang == "php" {
		commands = append(commands, backquotes(code)...)
	}
	return commands, all
}

func backquotes(code string) []string {
	var out []string
	pieces := strings.Split(code, "`")
	for i := 1; i+1 < len(pieces); i += 2 {
		out = append(out, pieces[i])
	}
	return out
}

// AfterModule are the words after "-m MODULE".
func AfterModule(words []word.Word) []word.Word {
	for i, w := range words {
		switch {
		case w.Text == "-m":
			return word.After(words, i+2)
		case strings.HasPrefix(w.Text, "-m"):
			return word.After(words, i+1)
		}
	}
	return nil
}
