package grammars

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// awk runs shell text by system(…) and by pipes to and from a string.
func (rd *Reader) awk(name string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	out := call.Result{Out: word.Unknown(inv.In.Taint)}
	for _, code := range rd.awkPrograms(inv, args) {
		rd.awkProgram(name, inv, code)
		rd.awkGiven(inv, args, withoutStrings(code.Text))
	}
	return out, true
}

// awkGiven notes the values that variables of a program are given from outside as files that it may open, where it opens some by
// names that are no literals.
func (rd *Reader) awkGiven(inv *call.Invocation, args *call.Arguments, plain string) {
	reads, writes := opensByName(awkTakes, plain), opensByName(awkPuts, plain)
	if !reads && !writes {
		return
	}
	given := slices.Clone(args.Operands)
	for _, o := range args.Options {
		if o.Name == "-v" || o.Name == "--assign" {
			given = append(given, o.Value)
		}
	}
	for _, w := range given {
		if name := awkGives.FindString(w.Text); name != "" {
			file := state.AddPath(nil, rd.Path(word.Part(w, w.Text[len(name):]), inv.Scope))
			rd.AddToCall(inv.Number, pick(reads, file), pick(writes, file))
		}
	}
}

func pick(is bool, paths []string) []string {
	if is {
		return paths
	}
	return nil
}

// opensByName says that one of a program's statements opens a file whose name is more or less than one literal.
func opensByName(statements *regexp.Regexp, plain string) bool {
	for _, at := range statements.FindAllStringIndex(plain, -1) {
		if !awkLiteral.MatchString(plain[at[1]:]) {
			return true
		}
	}
	return false
}

var (
	awkTakes   = regexp.MustCompile(`\bgetline\b[\s\w]*<`)
	awkPuts    = regexp.MustCompile(`\bprintf?\b[^|;}\n]*>`)
	awkLiteral = regexp.MustCompile(`^\s*"[^"]*"\s*(?:[;})\n]|$)`)
	awkShows   = regexp.MustCompile(`(?s)\bin\s+ENVIRON\b.*\bprintf?\b`)
	awkGives   = regexp.MustCompile(`^[A-Za-z_]\w*=`)
)

// awkEffects: awk changes its files in place with the library of that name.
func awkEffects(e *effects.Collector, _ string) {
	if library, ok := e.Args.Value("-i", "--include"); ok && library.Text == "inplace" {
		e.Write(e.Args.AfterScript(e.Args.Operands)...)
	}
}

// awkPrograms are the programs of a call, as far as the text holds them.
func (rd *Reader) awkPrograms(inv *call.Invocation, args *call.Arguments) []word.Word {
	var codes []word.Word
	given := false
	for _, o := range args.Options {
		files := []word.Word{o.Value}
		switch o.Name {
		case "-i", "--include":
			files = append(files, word.Part(o.Value, o.Value.Text+".awk"))
			rd.RunFile(files[1], inv.Scope)
		case "-f", "--file", "-E", "--exec":
			given = true
		case "-e", "--source":
			given = true
			codes = append(codes, o.Value)
			continue
		default:
			continue
		}
		for _, file := range files {
			if s, ok := rd.ProgramIn(file, inv.In, inv.Scope); ok {
				codes = append(codes, rd.Programs(s)...)
			}
		}
	}
	if !given && len(args.Operands) > 0 {
		codes = append(codes, args.Operands[0])
	}
	return codes
}

// awkProgram reads one program.
func (rd *Reader) awkProgram(name string, inv *call.Invocation, code word.Word) {
	rd.awkWrites(inv, code.Text)
	plain := withoutStrings(code.Text)
	environs := strings.Contains(plain, "ENVIRON") && (opensByName(awkTakes, plain) || opensByName(awkPuts, plain))
	if awkLoads.MatchString(code.Text) || awkComputes.MatchString(plain) || environs || awkTurns.MatchString(plain) {
		rd.Hide()
	}
	if awkShows.MatchString(plain) {
		rd.NoteFeature(value.FeatureShowsEnvironment)
	}
	rest, commands := awkPipes(code.Text, plain)
	if _, ok := oneliner.Read("awk", rest); ok && code.Known {
		fed := *inv
		fed.In = word.Unknown(inv.In.Taint)
		for _, command := range commands {
			rd.Text(name, &fed, word.Part(code, command), inv.Scope.Fork())
		}
		return
	}
	if !strings.Contains(code.Text, "system") && !strings.ContainsAny(code.Text, "|") {
		return
	}
	for _, at := range awkCalls.FindAllStringIndex(plain, -1) {
		text, ok := word.StringAt(code.Text[at[1]:])
		if !ok {
			rd.Hide()
			continue
		}
		rd.NoteFeature(value.FeatureInlineProgram)
		rd.NoteFeature(value.FeatureUnreadProgram)
		fed := *inv
		fed.In = word.Unknown(inv.In.Taint) // "print | CMD" writes to CMD
		rd.Text(name, &fed, word.Part(code, text), inv.Scope.Fork())
	}
	for _, at := range awkReads.FindAllStringIndex(plain, -1) {
		if m := awkCommand.FindStringSubmatch(code.Text[:at[0]]); m != nil {
			rd.Text(name, inv, word.Part(code, word.Unescape(m[1], `"\`)), inv.Scope.Fork())
		} else {
			rd.Hide()
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
			commands = append(commands, word.Unescape(code[at[2]:at[3]], `"\`))
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
	awkComputes = regexp.MustCompile(`@\s*\w+\s*\(|(?:\bprintf?\b[^|;}\n]*>|\bgetline\b[\s\w]*<)\s*(?:\(\s*"|"[ ]*"[ \t]*["\w(])`)
	// awkTurns makes other operands, which are files to read, of what is no literal.
	awkTurns = regexp.MustCompile(`\bARGV[ \t]*\[[^\]]*\][ \t]*=[ \t]*[^"=\s]`)
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
			end := closingAt(code, i+1, '"')
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
			end := closingAt(code, i+1, '/')
			if code[i] == '#' {
				end = closingAt(code, i+1, '\n')
			}
			if code[i] == '/' && blanked(text[i:min(end, len(code))], code[:i]) {
				i = end
				continue
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

// blanked takes the quotes out of a pattern, if what stands before it tells that it is one for certain: a comparison with a pattern.
func blanked(pattern []byte, before string) bool {
	if !strings.HasSuffix(strings.TrimRight(before, " \t"), "~") || bytes.ContainsAny(pattern, "[\n") {
		return false
	}
	copy(pattern, bytes.ReplaceAll(pattern, []byte{'"'}, []byte{' '}))
	return true
}

// divides says that a slash behind this is a division for certain: it follows a value.
func divides(code string) bool {
	code = strings.TrimRight(code, " \t")
	start := len(strings.TrimRightFunc(code, func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }))
	return strings.HasSuffix(code, "]") || start < len(code) && !oneliner.AwkKeyword(code[start:])
}

// closingAt is where a character stands that no backslash precedes, or the end.
func closingAt(code string, from int, what byte) int {
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
func (rd *Reader) awkWrites(inv *call.Invocation, code string) {
	for _, found := range awkPrints.FindAllStringSubmatch(code, -1) {
		text, _ := word.StringAt(found[1])
		s := word.Unknown(inv.In.Taint)
		if found[1] != "" && strings.Trim(found[2], " \t)") == "" {
			s = word.Literal(word.Unescape(strings.ReplaceAll(text, `\n`, "\n"), `"\`) + "\n")
		}
		to := rd.Path(word.Of(word.Unescape(found[3], `"\`)), inv.Scope)
		again := rd.IsWritten(to)
		rd.Write(to, s, again)
		rd.AddToCall(inv.Number, nil, state.AddPath(nil, to))
	}
}
