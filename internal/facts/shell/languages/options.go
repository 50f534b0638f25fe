package languages

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// plainOptions are the options of interpreters that change neither what a program may do nor where it is from.
var plainOptions = map[string]*regexp.Regexp{
	"lua":  regexp.MustCompile(`^-$`),
	"node": regexp.MustCompile(`^-(?:p|-print|i|-no-warnings|-input-type=(?:module|commonjs)|)$`),
	"perl": regexp.MustCompile(`^-(?:[npalw]|0[0-7]*|F(?:/?(?:[\w,:;.= |-]|\\[tsn|])\+?/?$))*(?:i[\w.~]*)?$`),
	"php":  regexp.MustCompile(`^-n?$`),
}

// HasPlainOptions says that the plain options of a language are listed.
func HasPlainOptions(lang string) bool { return plainOptions[lang] != nil }

// endsInCode are the letters and words after which a program stands.
var endsInCode = map[string][]string{
	"lua": {"e"}, "node": {"e", "-eval", "p", "-print", "pe"}, "perl": {"e", "E"}, "php": {"r"},
}

// Operands are the words of a call that are neither options nor its program; ok is false for an option that is not
// known. A loop reads the files that they name.
func Operands(lang string, words []word.Word, code word.Word) (operands []word.Word, loops, ok bool) {
	given := false
	for i := 0; i < len(words); i++ {
		text := words[i].Text
		if !strings.HasPrefix(text, "-") || text == "-" {
			return words[i:], loops, true
		}
		if text == "--" {
			return words[i+1:], loops, true
		}
		options, attached, holds := beforeCode(lang, text, code.Text)
		if holds {
			if given || !attached && (i+1 == len(words) || words[i+1].Text != code.Text) {
				return nil, false, false // of several programs one alone was read
			}
			given = true
			if !attached {
				i++
			}
		} else if module, is := namesModule(lang, text); is {
			if !module {
				return nil, false, false
			}
			continue
		}
		if !words[i].Known || !plainOptions[lang].MatchString(options) {
			return nil, false, false
		}
		loops = loops || lang == "perl" && strings.ContainsAny(strings.SplitN(options, "F", 2)[0], "np")
	}
	return nil, loops, true
}

// beforeCode cuts what gives a program off a group of options, with the program if it is attached.
func beforeCode(lang, options, code string) (before string, attached, holds bool) {
	if rest, ok := strings.CutSuffix(options, code); ok && code != "" {
		if before, _, holds := beforeCode(lang, rest, ""); holds {
			return before, true, true
		}
	}
	for _, end := range endsInCode[lang] {
		if before, ok := strings.CutSuffix(options, end); ok && plainOptions[lang].MatchString(before) {
			return before, false, true
		}
	}
	return options, false, false
}

// namesModule says whether an option loads a module, and whether the readers know what that gives a program.
func namesModule(lang, option string) (listed, is bool) {
	if lang == "perl" && len(option) > 2 && (option[1] == 'M' || option[1] == 'm') {
		name, _, _ := strings.Cut(option[2:], "=")
		return oneliner.PerlModule(name), true
	}
	return false, false
}

// IsPipe says that Perl takes the name of a file for a command.
func IsPipe(w word.Word) bool {
	name := strings.TrimSpace(w.Text)
	return strings.HasPrefix(name, "|") || strings.HasSuffix(name, "|")
}

// OpensPlainly says that Perl opens files by these names, and starts nothing, as it does for names that begin or end with "|".
func OpensPlainly(operands []word.Word, wrappers []string) bool {
	if slices.ContainsFunc(wrappers, func(w string) bool { return w == "xargs" || w == "find" || w == "parallel" }) {
		return false
	}
	return !slices.ContainsFunc(operands, func(w word.Word) bool {
		return !w.Known || w.Text == "" || strings.ContainsAny(w.Text, "|<>&") || strings.ContainsAny(w.Text[:1], "*?[ ") ||
			strings.ContainsAny(w.Text[len(w.Text)-1:], "*?] ")
	})
}

// harmlessOptions are those of interpreters that change neither what a program in a file may do nor where it is from.
var harmlessOptions = value.SetOf("--test --watch --no-warnings -w")

// HasHarmlessOptions says that the options before a program in a file are harmless. Those of a runner of tests are not looked at.
func HasHarmlessOptions(lang string, inv *call.Invocation) bool {
	for _, w := range inv.Argv[min(1, len(inv.Argv)):] {
		if lang == "" || !strings.HasPrefix(w.Text, "-") {
			return true
		}
		if !harmlessOptions[w.Text] {
			return false
		}
	}
	return true
}
