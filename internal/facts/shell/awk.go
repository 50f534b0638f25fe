package shell

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// awk runs shell text by system(…) and by pipes to and from a string.
func (rd *reader) awk(name string, inv *invocation, args *arguments) (result, bool) {
	out := result{out: unknown(inv.in.Taint)}
	for _, code := range rd.awkPrograms(inv, args) {
		rd.awkProgram(name, inv, code)
	}
	return out, true
}

// awk changes its files in place with the library of that name.
func awkEffects(e *effect, _ string) {
	if library, ok := e.args.value("-i", "--include"); ok && library.text == "inplace" {
		e.write(e.args.afterScript(e.args.operands)...)
	}
}

// awkPrograms are the programs of a call, as far as the text holds them.
func (rd *reader) awkPrograms(inv *invocation, args *arguments) []word {
	var codes []word
	given := false
	for _, o := range args.options {
		switch o.name {
		case "-f", "--file":
			given = true
			if s, ok := rd.programIn(o.value, inv.in, inv.sc); ok {
				codes = append(codes, rd.ofItsOwn(s)...)
			}
		case "-e", "--source":
			given = true
			codes = append(codes, o.value)
		}
	}
	if !given && len(args.operands) > 0 {
		codes = append(codes, args.operands[0])
	}
	return codes
}

// awkProgram reads one program.
func (rd *reader) awkProgram(name string, inv *invocation, code word) {
	rd.awkWrites(inv, code.text)
	plain := withoutStrings(code.text)
	if awkLoads.MatchString(code.text) || awkComputes.MatchString(plain) {
		rd.hide()
	}
	rest, commands := awkPipes(code.text, plain)
	if _, ok := oneliner.Read("awk", rest); ok && code.known {
		fed := *inv
		fed.in = unknown(inv.in.Taint)
		for _, command := range commands {
			rd.text(name, &fed, part(code, command), inv.sc.fork())
		}
		return
	}
	if !strings.Contains(code.text, "system") && !strings.ContainsAny(code.text, "|") {
		return
	}
	for _, at := range awkCalls.FindAllStringIndex(plain, -1) {
		text, ok := quotedText(code.text[at[1]:])
		if !ok {
			rd.hide()
			continue
		}
		rd.feature(value.FeatureInlineProgram)
		rd.feature(value.FeatureUnreadProgram)
		fed := *inv
		fed.in = unknown(inv.in.Taint) // "print | CMD" writes to CMD
		rd.text(name, &fed, part(code, text), inv.sc.fork())
	}
	for _, at := range awkReads.FindAllStringIndex(plain, -1) {
		if m := awkCommand.FindStringSubmatch(code.text[:at[0]]); m != nil {
			rd.text(name, inv, part(code, unescape(m[1], `"\`)), inv.sc.fork())
		} else {
			rd.hide()
		}
	}
}

// awkPipes is a program without the commands that it spells out to pipe into, and these; plain is the program with blanks in
// its string literals.
func awkPipes(code, plain string) (rest string, commands []string) {
	if plain == code {
		return code, nil
	}
	out := []byte(code)
	for _, at := range awkInto.FindAllStringSubmatchIndex(plain, -1) {
		closes := at[2] < 0
		end := at[1]
		if !closes {
			commands = append(commands, unescape(code[at[2]:at[3]], `"\`))
			end = at[4]
		}
		for i := at[0]; i < end; i++ {
			out[i] = ' '
		}
		if closes { // which is a value
			out[at[0]] = '0'
		}
	}
	return string(out), commands
}

var awkInto = regexp.MustCompile(`\|[ \t]*"( *)"[ \t]*([;}\n]|$)|\bclose[ \t]*\([ \t]*" *"[ \t]*\)`)

var (
	awkCalls = regexp.MustCompile(`\bsystem\s*\(\s*|(?:print[^|\n;}]*[^|])\|&?\s*`)
	awkLoads = regexp.MustCompile(`(?m)(?:^|[;}])\s*@(?:load|include)\b`)
	// awkComputes are calls by a name that is a value, and files whose names are put together of literals.
	awkComputes = regexp.MustCompile(`@\w+\s*\(|(?:\bprintf?\b[^|;}\n]*>|\bgetline\b[\s\w]*<)\s*(?:\(\s*"|"[ ]*"[ \t]*["\w(])`)
	// awkReads begins with the pipe from a command, awkCommand ends with one that is a single literal.
	awkReads   = regexp.MustCompile(`\|&?\s*getline`)
	awkCommand = regexp.MustCompile(`(?:^|[^"\w\s)\]$])\s*"((?:[^"\\]|\\.)*)"\s*$`)
)

// withoutStrings is a program of the same length, with blanks in its string literals. Where a regular
// expression or a comment holds a quote or a bracket, what is a string cannot be told so easily, and the text is as it was.
func withoutStrings(code string) string {
	text := []byte(code)
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '"':
			end := closing(code, i+1, '"')
			if strings.ContainsRune(code[i:end], '\n') {
				return code
			}
			for j := i + 1; j < end; j++ {
				text[j] = ' '
			}
			i = end
		case '/', '#':
			if code[i] == '/' && divides(code[:i]) {
				continue
			}
			end := closing(code, i+1, '/')
			if code[i] == '#' {
				end = closing(code, i+1, '\n')
			}
			if strings.ContainsAny(code[i:min(end, len(code))], `"[`) {
				return code
			}
			if code[i] == '#' || strings.ContainsRune(code[i:min(end, len(code))], '\n') {
				continue // a division, or to the end of the line
			}
			i = end
		}
	}
	return string(text)
}

// divides says that a slash behind this is a division for certain: it follows a value.
func divides(code string) bool {
	code = strings.TrimRight(code, " \t")
	start := len(strings.TrimRightFunc(code, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }))
	return strings.HasSuffix(code, "]") || start < len(code) && !oneliner.AwkKeyword(code[start:])
}

// closing is where a character stands that no backslash precedes, or the end.
func closing(code string, from int, what byte) int {
	for i := from; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case what:
			return i
		}
	}
	return len(code)
}

// awkPrints finds where an awk program prints into a file: the text, if that is a single one, and
// the file's name.
var awkPrints = regexp.MustCompile(`\bprintf?\b\s*\(?\s*("(?:[^"\\]|\\.)*")?((?:"(?:[^"\\]|\\.)*"|[^;}\n">])*)>{1,2}\s*"((?:[^"\\]|\\.)*)"`)

// awkWrites notes the files that an awk program writes.
func (rd *reader) awkWrites(inv *invocation, code string) {
	for _, found := range awkPrints.FindAllStringSubmatch(code, -1) {
		text, _ := quotedText(found[1])
		s := unknown(inv.in.Taint)
		if found[1] != "" && strings.Trim(found[2], " \t)") == "" {
			s = literal(unescape(strings.ReplaceAll(text, `\n`, "\n"), `"\`) + "\n")
		}
		to := rd.path(known(unescape(found[3], `"\`)), inv.sc)
		again := rd.holdsText(to)
		rd.keep(to, s, again)
		rd.alsoTouches(inv.made, nil, add(nil, to))
	}
}
