package oneliner

import (
	"regexp"
	"strings"
)

var perl = lexis{
	comments: []string{"#"},
	marks:    strings.Fields("<=> **= ||= &&= //= ... <<= >>= -> ++ -- => =~ !~ == != <= >= && || // .. :: += -= *= /= .= %= x= ** << >>"),
	singles:  "+-*/%=<>!|^~?:;,.()[]{}\\",
	special:  perlText,
}

var (
	// perlNames are variables by their spelling.
	perlNames    = regexp.MustCompile(`^(?:(?:[$@%]|\$#|@\$|%\$)[A-Za-z_][A-Za-z0-9_]*|\$[0-9]+|\$[.,/\\!&$;|])`)
	perlPackages = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)+`)
	perlReads    = regexp.MustCompile(`^<(?:\$?[A-Za-z_][A-Za-z0-9_]*)?>`)
	// perlFills is what Perl fills in for a variable and for a part of one, and what else it may run.
	perlFills = regexp.MustCompile(`[$@](?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[.,!&])(?:\[(?:-?[0-9]+|\$[A-Za-z_]+)\]|\{\$?[A-Za-z_]+\})?` +
		`(?:->|\[|\{)?`)
	perlEnds   = regexp.MustCompile(`\$(?:$|[|)])`)
	perlQuotes = map[string]int{"q": 1, "qq": 1, "qw": 1, "m": 1, "qr": 1, "s": 2, "y": 2, "tr": 2}
	perlFlags  = map[string]string{"m": "msixgcon", "qr": "msixon", "s": "msixgconer", "y": "cdsr", "tr": "cdsr"}
	perlPairs  = map[byte]byte{'{': '}', '(': ')', '[': ']', '<': '>'}
)

func perlText(s *scanner) bool {
	rest := s.code[s.at:]
	c := rest[0]
	switch {
	case s.isUnsure(c):
		s.failed = true
	case c == '\'':
		s.quoted(c, "")
	case c == '"':
		s.quoted(c, "")
		s.interpolates(false)
	case c == '`' || s.line && c == '=':
		s.failed = true
	case c == '-' && len(rest) > 1 && isLetter(rest[1]): // a test of a file, or a text
		s.failed = true
	case c == '<' && !s.afterValue() && perlReads.MatchString(rest):
		s.take(pattern, len(perlReads.FindString(rest)))
	case c == '<' && (!s.afterValue() || strings.HasPrefix(rest, "<<")): // the names of files, or a text of several lines
		s.failed = true
	case c == '$' || c == '@' || c == '%' && !s.afterValue():
		name := perlNames.FindString(rest)
		s.failed = s.failed || name == "" || strings.HasPrefix(name, "$$") && len(rest) > 2 && (isLetter(rest[2]) || rest[2] == '{')
		s.take(variable, max(len(name), 1))
	case c == '*' && len(rest) > 1 && (isLetter(rest[1]) || rest[1] == '{') && !s.afterValue():
		s.failed = true
	case c == '/':
		return s.perlSlash()
	case isLetter(c):
		if name := perlPackages.FindString(rest); name != "" {
			s.take(word, len(name))
			break
		}
		return s.quoteLike(rest)
	default:
		return false
	}
	return true
}

// isUnsure says that Perl may take what begins here for another thing than its reader: a quote behind a name is a part of
// the name, and behind a handle begins a value where behind a variable stands an operator.
func (s *scanner) isUnsure(c byte) bool {
	if c == '\'' {
		return s.at > 0 && (isLetter(s.code[s.at-1]) || isDigit(s.code[s.at-1]))
	}
	last := s.last()
	return strings.IndexByte("/<%*?", c) >= 0 && last.kind == variable && at(s.out, len(s.out)-2).named("print", "printf", "say", "sort")
}

// afterValue says that an operator is due at this place.
func (s *scanner) afterValue() bool {
	last := s.last()
	return last.kind == variable || last.kind == number || last.kind == text || last.is(")", "]")
}

// perlSlash reads a pattern where one may stand, and leaves a division, which is one for certain.
func (s *scanner) perlSlash() bool {
	last := s.last()
	if s.afterValue() {
		return false
	}
	begins := len(s.out) == 0 || last.is("(", ",", "=", "=~", "!~", "&&", "||", "!", "{", ";", "?", ":", "//") ||
		last.named("if", "unless", "and", "or", "not", "split", "grep", "while", "until", "print",
			"return") && !at(s.out, len(s.out)-2).is("->", "{")
	if !begins {
		s.failed = s.failed || s.slashAgain()
		return s.failed
	}
	s.delimited("m", s.at)
	return true
}

// quoteLike reads q(…), m{…}, s/…/…/ and their kin, whose delimiter follows at once.
func (s *scanner) quoteLike(rest string) bool {
	end := 0
	for end < len(rest) && (isLetter(rest[end]) || isDigit(rest[end])) {
		end++
	}
	if perlQuotes[rest[:end]] == 0 || end == len(rest) {
		return false
	}
	if rest[end] == '}' || rest[end] == ',' || rest[end] == ';' || rest[end] == ')' || strings.IndexByte("/|!#:{([~%^@", rest[end]) < 0 {
		s.failed = s.failed || rest[end] != '}' // a key of a hash
		return s.failed
	}
	s.delimited(rest[:end], s.at+end)
	return true
}

// delimited reads a quote-like operator from its delimiter on.
func (s *scanner) delimited(operator string, from int) {
	open := s.code[from]
	end, paired := perlPairs[open]
	if !paired {
		end = open
	}
	body, next, ok := s.within(from+1, open, end)
	second := ""
	if ok && perlQuotes[operator] == 2 {
		if paired {
			ok = next < len(s.code) && s.code[next] == open
			next++
		}
		if ok {
			second, next, ok = s.within(next, open, end)
		}
	}
	flags := next
	for next < len(s.code) && isLetter(s.code[next]) {
		next++
	}
	if !ok {
		s.failed = true
		return
	}
	s.at = next
	s.quotes(operator, body, second, s.code[flags:next])
}

// within is what stands between delimiters, which may be nested if they are brackets.
func (s *scanner) within(from int, open, end byte) (body string, next int, ok bool) {
	depth := 1
	for i := from; i < len(s.code); i++ {
		switch c := s.code[i]; {
		case c == '\\':
			i++
		case c == end:
			if depth--; depth == 0 {
				return s.code[from:i], i + 1, true
			}
		case c == open:
			depth++
		}
	}
	return "", len(s.code), false
}

// quotes adds the token for a quote-like operator, and reads the program that a substitution may hold.
func (s *scanner) quotes(operator, body, second, flags string) {
	if strings.Contains(flags, "ee") || strings.Trim(flags, perlFlags[operator]) != "" {
		s.failed = true
		return
	}
	switch operator {
	case "q", "qw":
		s.add(text, body, operator == "q" && !strings.Contains(body, `\`))
	case "qq":
		s.add(text, body, !strings.Contains(body, `\`))
		s.interpolates(false)
	case "y", "tr":
		s.add(pattern, body, false)
	default:
		s.add(pattern, body, false)
		s.interpolates(true)
		s.replaces(second, strings.Contains(flags, "e"))
	}
}

// replaces reads what a substitution puts in: text, or a program.
func (s *scanner) replaces(second string, program bool) {
	if !program {
		s.add(text, second, false)
		s.interpolates(false)
		s.out = s.out[:len(s.out)-1]
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.failed = true
		return
	}
	inner := &scanner{lexis: s.lexis, code: second, depth: s.depth}
	inner.scan(false)
	s.failed = s.failed || inner.failed || len(s.out)+len(inner.out) > maxTokens
	s.add(mark, ";", true)
	s.out = append(s.out, inner.out...)
	s.add(mark, ";", true)
	s.out = append(s.out, token{kind: number, text: "0"})
	s.depth--
}

// interpolates looks at what is filled in the last token: the values of variables and of their elements alone.
func (s *scanner) interpolates(inPattern bool) {
	if s.failed {
		return
	}
	last := &s.out[len(s.out)-1]
	body := strings.NewReplacer(`\\`, "", `\$`, "", `\@`, "").Replace(last.text)
	if inPattern {
		s.failed = strings.Contains(body, "(?{") || strings.Contains(body, "(??") || strings.Contains(body, "(?#")
		body = perlEnds.ReplaceAllString(body, "")
	}
	if !strings.ContainsAny(body, "$@") {
		return
	}
	last.plain = false
	for _, found := range perlFills.FindAllString(body, -1) {
		s.failed = s.failed || strings.HasSuffix(found, "[") || strings.HasSuffix(found, "{") || strings.HasSuffix(found, "->") ||
			strings.Contains(found, "ENV") || inPattern && strings.ContainsAny(found, "[{")
	}
	s.failed = s.failed || strings.ContainsAny(perlFills.ReplaceAllString(body, ""), "$@")
}

var (
	perlWords = set(`if elsif else unless while until for foreach my our local and or not xor x eq ne lt gt le ge cmp
		last next redo return BEGIN END print printf say join split sprintf keys values each exists delete defined
		undef push pop shift unshift splice reverse sort map grep wantarray scalar uc lc ucfirst lcfirst length substr
		index rindex abs int sqrt sin cos atan2 exp log hex oct ord chr localtime gmtime time rand srand chomp chop
		die warn exit pos quotemeta pack unpack eof close binmode ref lstat sum sum0 max min first any all none uniq
		shuffle reduce product floor ceil fmod strftime Dumper encode_base64 decode_base64 encode_json decode_json
		md5_hex sha1_hex sha256_hex sleep STDIN STDOUT STDERR`)
	perlModules = set(`strict warnings utf8 List::Util POSIX Data::Dumper MIME::Base64 JSON::PP Time::HiRes
		Digest::MD5 Digest::SHA Text::Wrap Scalar::Util`)
	perlHandle = regexp.MustCompile(`^[A-Z][A-Z0-9]*$`)
)

// PerlModule says that a module gives a program nothing but what the list knows.
func PerlModule(name string) bool { return perlModules[name] }

// readPerl knows a program's words, the names of its files, and no calls but those of listed functions.
func readPerl(tokens []token) (Effects, bool) {
	var e Effects
	handles := map[string]bool{}
	for i, t := range tokens {
		if t.named("open") {
			next := i + 1
			for at(tokens, next).is("(") || at(tokens, next).named("my") {
				next++
			}
			if name := at(tokens, next); name.kind == word && perlHandle.MatchString(name.text) && at(tokens, next+1).is(",") {
				handles[name.text] = true
			}
		}
	}
	loops := false
	for i, t := range tokens {
		ok := true
		switch {
		case t.kind == variable:
			ok = !strings.Contains(t.text, "ENV") && !strings.Contains(t.text, "INC") && !strings.HasPrefix(t.text, "$ARGV") ||
				t.text == "$ARGV" && at(tokens, i+1).is("[")
			ok = ok && (!strings.Contains(t.text, "SIG") || ignoresSignal(tokens, i))
			loops = loops || strings.Contains(t.text, "ARGV")
		case t.kind == pattern && t.text == "<ARGV>", t.named("sort") && at(tokens, i+1).kind == variable && at(tokens, i+1).text[0] == '$':
			ok = false
		case t.kind == pattern && t.text == "<>":
			e.Operands = true
		case t.is("]", "}"):
			ok = !at(tokens, i+1).is("(")
		case t.is("->"):
			ok = at(tokens, i+1).is("[", "{")
		case t.kind == word:
			ok = e.knowsPerl(tokens, i, handles)
		}
		if !ok {
			return Effects{}, false
		}
	}
	return e, !loops || !e.Operands
}

// ignoresSignal says that a variable is the handler of a signal, and that it is set to none: any other text names a function to call.
func ignoresSignal(tokens []token, i int) bool {
	handler := at(tokens, i+5)
	return at(tokens, i+1).is("{") && at(tokens, i+3).is("}") && at(tokens, i+4).is("=") && handler.kind == text && handler.plain &&
		(handler.text == "IGNORE" || handler.text == "DEFAULT")
}

func (e *Effects) knowsPerl(tokens []token, i int, handles map[string]bool) bool {
	t, before, next := tokens[i], at(tokens, i-1), at(tokens, i+1)
	switch {
	case next.is("=>") && !before.is("->"):
		return true
	case before.is("{") && next.is("}"):
		named := at(tokens, i-2)
		return named.kind == variable || named.is("->", "]", "}") || perlWords[t.text]
	case t.text == "use":
		return e.usesPerl(tokens, i+1)
	case before.named("use"):
		return true
	case t.text == "do":
		return next.is("{")
	case t.text == "open":
		return e.opensPerl(tokens, i+1)
	}
	return perlWords[t.text] || handles[t.text] || strings.Trim(t.text, "x0123456789") == "" && t.text[0] == 'x'
}

// usesPerl reads the name of a module after "use".
func (e *Effects) usesPerl(tokens []token, i int) bool {
	if first := at(tokens, i); first.kind != word || !perlModules[first.text] {
		return false
	}
	next := at(tokens, i+1)
	return next.kind == text || next.is(";", "}") && next.text != "" || i+1 == len(tokens)
}

// opensPerl reads open with three arguments, the second of which is a mode that starts nothing.
func (e *Effects) opensPerl(tokens []token, i int) bool {
	for at(tokens, i).is("(") || at(tokens, i).named("my") {
		i++
	}
	mode := at(tokens, i+2)
	if !at(tokens, i+1).is(",") || mode.kind != text || !mode.plain || !at(tokens, i+3).is(",") {
		return false
	}
	does := reads
	switch mode.text {
	case "<", "<:utf8", "<:encoding(UTF-8)", "<:raw":
	case ">", ">>", ">:utf8", ">>:utf8", ">:encoding(UTF-8)":
		does = writes
	default:
		return false
	}
	if next := at(tokens, i+5); next.named("or") || next.is("||") {
		file := at(tokens, i+4)
		return file.kind == text && file.plain && e.note(does, file.text)
	}
	return e.add(does, tokens, i+4)
}
