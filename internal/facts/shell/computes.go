package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
)

// plainOptions are the options of interpreters that change neither what a program may do nor where it is from.
var plainOptions = map[string]*regexp.Regexp{
	"lua":  regexp.MustCompile(`^-$`),
	"node": regexp.MustCompile(`^-(?:p|-print|i|)$`),
	"perl": regexp.MustCompile(`^-(?:[npalw]|0[0-7]*|F(?:/?(?:[\w,:;.= |-]|\\[tsn|])\+?/?$))*(?:i[\w.~]*)?$`),
	"php":  regexp.MustCompile(`^-n?$`),
}

// endsInCode are the letters and words after which a program stands.
var endsInCode = map[string][]string{
	"lua": {"e"}, "node": {"e", "-eval", "p", "-print", "pe"}, "perl": {"e", "E"}, "php": {"r"},
}

// computes says that a program of an interpreter does nothing but print, compute and read and write files that it names, and
// notes these files. Every part of the program and every option of the call must be known.
func (a *analysis) computes(lang string, inv *invocation, code word) bool {
	if plainOptions[lang] == nil || code.Fetched || code.Decoded || len(inv.argv) == 0 {
		return false
	}
	operands, loops, ok := operandsBeside(lang, inv.argv[1:], code)
	if !ok || lang == "lua" && len(operands) > 0 {
		return false
	}
	e, ok := oneliner.Read(lang, code.text)
	if !ok || loops && strings.Contains(code.text, "ARGV") {
		return false
	}
	if len(e.Loads) > 0 {
		return false
	}
	if e.Operands || loops {
		if lang == "perl" && !opensPlainly(operands, inv.wrappers) {
			return false
		}
		e.Operands = true
	}
	a.touches(inv, e, operands...)
	return true
}

// touches notes the files that a program names, and those that operands name which it reads.
func (a *analysis) touches(inv *invocation, e oneliner.Effects, operands ...word) {
	touched := newEffect(a.overlay, inv.sc)
	if e.Operands {
		touched.read(operands...)
	}
	for _, file := range e.Reads {
		touched.read(known(file))
	}
	for _, file := range e.Writes {
		touched.write(known(file))
	}
	a.alsoTouches(inv.made, touched.reads, touched.writes)
	for _, p := range touched.writes {
		a.madeUnknown(p, "")
	}
}

// operandsBeside are the words of a call that are neither options nor its program; ok is false for an option that is not
// known. A loop reads the files that they name.
func operandsBeside(lang string, words []word, code word) (operands []word, loops, ok bool) {
	given := false
	for i := 0; i < len(words); i++ {
		text := words[i].text
		if !strings.HasPrefix(text, "-") || text == "-" {
			return words[i:], loops, true
		}
		if text == "--" {
			return words[i+1:], loops, true
		}
		options, attached, holds := beforeCode(lang, text, code.text)
		if holds {
			if given || !attached && (i+1 == len(words) || words[i+1].text != code.text) {
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
		if !words[i].known || !plainOptions[lang].MatchString(options) {
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

// isPipe says that Perl takes the name of a file for a command.
func isPipe(w word) bool {
	name := strings.TrimSpace(w.text)
	return strings.HasPrefix(name, "|") || strings.HasSuffix(name, "|")
}

// opensPlainly says that Perl opens files by these names, and starts nothing, as it does for names that begin or end with "|".
func opensPlainly(operands []word, wrappers []string) bool {
	if slices.ContainsFunc(wrappers, func(w string) bool { return w == "xargs" || w == "find" || w == "parallel" }) {
		return false
	}
	return !slices.ContainsFunc(operands, func(w word) bool {
		return !w.known || w.text == "" || strings.ContainsAny(w.text, "|<>&") || strings.ContainsAny(w.text[:1], "*?[ ") ||
			strings.ContainsAny(w.text[len(w.text)-1:], "*?] ")
	})
}
