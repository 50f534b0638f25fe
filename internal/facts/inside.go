package facts

import (
	"regexp"
	"strings"
)

// shellCalls finds where another language starts a shell: the call's name and
// the quoted text after it.
var shellCalls = regexp.MustCompile(`\b(?:system|exec|execSync|popen|shell_exec|passthru|spawnSync|spawn|qx|IO\.popen|os\.execute|io\.popen|Open3\.\w+)\b\s*[({]?\s*`)

// shellInside are the shell texts inside a program; all is false if some could not be read.
func shellInside(lang, code string) (commands []string, all bool) {
	if lang == "python" {
		return nil, true
	}
	all = true
	for _, at := range shellCalls.FindAllStringIndex(code, 100) {
		text, ok := quotedText(code[at[1]:])
		if ok {
			commands = append(commands, text)
		}
		all = all && ok
	}
	if lang == "perl" || lang == "ruby" || lang == "php" {
		commands = append(commands, backquoted(code)...)
	}
	return commands, all
}

// quotedText is the string literal at the start of s.
func quotedText(s string) (string, bool) {
	if s == "" || !strings.ContainsRune("\"'`", rune(s[0])) {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return unescape(s[1:i], `"'\`), true
		}
	}
	return "", false
}

func backquoted(code string) []string {
	var out []string
	pieces := strings.Split(code, "`")
	for i := 1; i+1 < len(pieces) && i < 200; i += 2 {
		out = append(out, pieces[i])
	}
	return out
}

// awk runs shell text by system(…), by pipes to and from a string.
func (a *analysis) awk(name string, inv *invocation, args *arguments) result {
	out := result{out: unknown(inv.in.taint)}
	if _, file := args.value("-f", "--file"); file || len(args.operands) == 0 {
		return out
	}
	code := args.operands[0]
	if !strings.Contains(code.text, "system") && !strings.ContainsAny(code.text, "|") {
		return out
	}
	for _, at := range awkCalls.FindAllStringIndex(code.text, 100) {
		text, ok := quotedText(code.text[at[1]:])
		if !ok {
			a.hide()
			continue
		}
		a.feature(FeatureInlineProgram)
		a.text(name, inv, part(code, text), inv.sc.fork())
	}
	for _, m := range awkPipes.FindAllStringSubmatch(code.text, 100) {
		a.text(name, inv, part(code, unescape(m[1], `"\`)), inv.sc.fork())
	}
	return out
}

var (
	awkCalls = regexp.MustCompile(`\bsystem\s*\(\s*|(?:print[^|\n;}]*[^|])\|&?\s*`)
	awkPipes = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline`)
)
