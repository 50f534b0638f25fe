package oneliner

import "strings"

// javascript is cut as Node cuts it, comments between stars left out.
var javascript = lexis{
	comments: []string{"//"},
	marks: strings.Fields(">>>= === !== **= ... <<= >>= >>> &&= ||= ??= " +
		"=> == != <= >= && || ?? ?. ++ -- += -= *= /= %= &= |= ^= << >> **"),
	singles: "+-*/%=<>!&|^~?:;,.()[]{}",
	special: javaScriptText,
}

func javaScriptText(s *scanner) bool {
	switch c := s.code[s.at]; {
	case c == '"' || c == '\'':
		s.quoted(c, "")
	case c == '`':
		s.quoted(c, "${")
	case c == '$':
		s.failed = true // a name may hold it
	case strings.HasPrefix(s.code[s.at:], "/*"):
		s.failed = true
	case c == '/' && s.beginsPattern():
		s.slashes()
	case c == '/' && s.last().kind != number && s.last().kind != word && !s.last().is("]") && s.slashAgain():
		s.failed = true
	case c == '/' && s.last().kind == word && javaScriptWords[s.last().text]:
		s.failed = true
	default:
		return false
	}
	return true
}

// beginsPattern says that a slash at this place can only begin a regular expression.
func (s *scanner) beginsPattern() bool {
	last := s.last()
	return len(s.out) == 0 || last.named("return", "typeof", "case", "in") && !at(s.out, len(s.out)-2).is(".", "?.") ||
		last.is("(", ",", "=", ":", "[", "!", "&&", "||", "??", "?", "{", ";", "=>", "==", "===", "!=", "!==", "+")
}

// slashes reads a regular expression of JavaScript, Ruby and PHP's kin between slashes.
func (s *scanner) slashes() {
	inClass := false
	for i := s.at + 1; i < len(s.code); i++ {
		switch c := s.code[i]; {
		case c == '\n':
			s.failed = true
			return
		case c == '\\':
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			s.add(pattern, s.code[s.at+1:i], false)
			for i++; i < len(s.code) && isLetter(s.code[i]); i++ {
			}
			s.at = i
			return
		}
	}
	s.failed = true
}

var (
	// javaScriptWords are those of the language.
	javaScriptWords = set(`async await break case catch const continue default delete do else false finally for
		function if in instanceof let new null of return switch throw true try typeof undefined var void while NaN
		Infinity`)
	// javaScriptGlobals may be used in every way: none of what they hold starts a program or opens a file.
	javaScriptGlobals = set(`JSON Math Number String Boolean Array Date Map Set BigInt RegExp URL URLSearchParams Intl
		parseInt parseFloat isNaN isFinite console Buffer setTimeout clearTimeout structuredClone encodeURIComponent
		decodeURIComponent encodeURI decodeURI atob btoa TextEncoder TextDecoder`)
	javaScriptMade = set(`Map Set Array Date Error RegExp URL URLSearchParams Number String BigInt TypeError
		RangeError TextEncoder TextDecoder WeakMap WeakSet`)
	// javaScriptHeld are names that a program may not give to what is its own: elsewhere in the text they are others.
	javaScriptHeld = set(`eval Function require global globalThis self import this arguments process child_process
		cluster dgram dns fs http http2 https inspector module exports net repl tls v8 vm wasi worker_threads
		WebAssembly fetch WebSocket EventSource Worker Reflect Proxy Symbol constructor prototype Object os path util
		crypto Error`)
	// javaScriptHidden are properties that lead out of what a program was given.
	javaScriptHidden = set(`constructor prototype mainModule caller callee arguments binding getBuiltinModule
		prepareStackTrace captureStackTrace dlopen openStdin toMatchFileSnapshot`)
	// modules are what the text may take from Node's modules, with what that does to the file which it names.
	modules = map[string]map[string]effect{
		"fs": {"readFileSync": reads, "existsSync": reads, "statSync": reads, "readdirSync": reads, "writeFileSync": writes,
			"appendFileSync": writes},
		"process": {"argv": none, "version": none, "versions": none, "platform": none, "arch": none, "stdout": none, "stderr": none,
			"stdin": none, "exit": none, "cwd": none, "uptime": none, "memoryUsage": none, "hrtime": none, "pid": none, "exitCode": none},
		"Object": {"keys": none, "values": none, "entries": none, "fromEntries": none, "assign": none, "freeze": none},
		"os": {"EOL": none, "cpus": none, "totalmem": none, "freemem": none, "platform": none, "arch": none, "type": none, "release": none,
			"hostname": none, "uptime": none, "loadavg": none, "tmpdir": none},
		"path":   {"join": none, "resolve": none, "basename": none, "dirname": none, "extname": none, "relative": none, "sep": none},
		"util":   {"inspect": none, "format": none, "isDeepStrictEqual": none},
		"crypto": {"createHash": none, "randomBytes": none, "randomUUID": none, "createHmac": none, "randomInt": none},
	}
)

// programJS is what is known of a program's own names.
type programJS struct {
	tokens []token
	own    map[string]bool
	// counts are variables that never hold anything but a number.
	counts  map[string]bool
	aliases map[string]string
	// tested says that the program takes names from a runner of tests.
	tested bool
	// read are the places of statements that import, which were read as a whole.
	read map[int]bool
	Effects
}

func readJavaScript(tokens []token) (Effects, bool) {
	p := &programJS{tokens: tokens, own: map[string]bool{}, counts: map[string]bool{}, aliases: map[string]string{},
		read: map[int]bool{}}
	if !p.declares() {
		return Effects{}, false
	}
	p.count()
	for i := range tokens {
		if !p.knows(i) {
			return Effects{}, false
		}
	}
	return p.Effects, true
}

// declares gathers the names that the program gives to its own values and functions.
func (p *programJS) declares() bool {
	for i, t := range p.tokens {
		switch next := at(p.tokens, i+1); {
		case t.named("const", "let", "var"):
			p.bindUntil(i + 1)
		case t.named("function"):
			if next.kind == word {
				p.own[next.text] = true
				next = at(p.tokens, i+2)
				i++
			}
			p.bind(i+2, closes(p.tokens, i+1))
		case t.named("catch") && next.is("("):
			p.bind(i+2, closes(p.tokens, i+1))
		case t.is("=>") && at(p.tokens, i-1).is(")"):
			p.bind(opened(p.tokens, i-1)+1, i-1)
		case t.is("=>"):
			p.bind(i-1, i)
		case t.kind == word && next.is("=") && !at(p.tokens, i-1).is(".", "?."):
			p.own[t.text] = true
		}
	}
	for i, t := range p.tokens {
		p.tested = p.tested || t.kind == text && testingModules[t.text]
		p.alias(i)
		p.imports(i)
	}
	for name := range p.own {
		if javaScriptHeld[name] && p.aliases[name] != name {
			return false
		}
	}
	return true
}

// alias notes a name for a module: "const fs = require('fs')".
func (p *programJS) alias(i int) {
	if !p.tokens[i].named("require") || !at(p.tokens, i-1).is("=") || at(p.tokens, i-2).kind != word || !at(p.tokens, i+3).is(")") {
		return
	}
	if next := at(p.tokens, i+4); next.is(".") || next.is("[") || next.is("(") {
		return
	}
	name := p.tokens[i-2].text
	assigned := 0
	for j, t := range p.tokens {
		if t.named(name) && at(p.tokens, j+1).is("=") {
			assigned++
		}
	}
	if module := moduleName(at(p.tokens, i+2)); assigned == 1 && modules[module] != nil {
		p.aliases[name] = module
	}
}

func moduleName(t token) string {
	if t.kind != text || !t.plain {
		return ""
	}
	return strings.TrimPrefix(t.text, "node:")
}

// bindUntil binds the names of a declaration, up to its value.
func (p *programJS) bindUntil(from int) {
	for i := from; i < len(p.tokens); i++ {
		t := p.tokens[i]
		if t.is("=", ";") || t.named("of", "in") {
			return
		}
		if t.kind == word {
			p.own[t.text] = true
		}
	}
}

func (p *programJS) bind(from, to int) {
	for i := max(from, 0); i < to && i < len(p.tokens); i++ {
		if p.tokens[i].kind == word {
			p.own[p.tokens[i].text] = true
		}
	}
}

// count finds the variables of loops that are only given numbers and counted.
func (p *programJS) count() {
	other := map[string]bool{}
	for i, t := range p.tokens {
		if t.kind != word || !p.own[t.text] {
			continue
		}
		next, before := at(p.tokens, i+1), at(p.tokens, i-1)
		switch {
		case before.named("let", "var") && next.is("=") && at(p.tokens, i+2).kind == number && at(p.tokens, i+3).is(";", ","):
			p.counts[t.text] = true
		case next.is("++", "--", "<", "<=", ">", ">=", "]", "+", "-", ")", ";", "==", "===", "%", "*") && !before.is("(", ",",
			"{", "[", "...", "=>"):
		case before.is("[") && next.is("]", "+", "-") && p.isSubscript(i-1):
		case before.is("(") && next.is("<", "%", "+", "-", "*"):
		default:
			other[t.text] = true
		}
	}
	for name := range other {
		delete(p.counts, name)
	}
}

// knows says that the list has the token at a place, as it is used there.
func (p *programJS) knows(i int) bool {
	t, before, next := p.tokens[i], at(p.tokens, i-1), at(p.tokens, i+1)
	switch {
	case p.read[i]:
		return true
	case t.is("["):
		return !p.isSubscript(i) || p.subscribes(i+1, closes(p.tokens, i))
	case t.is("]"):
		return !next.is(":") && !next.is("(")
	case t.kind == text && before.is("{", ",") && next.is(":"):
		return t.plain && !hidden(t.text)
	case t.kind != word:
		return !t.is("`")
	case before.is(".", "?."):
		return !hidden(t.text)
	case next.is(":") && before.is("{", ","):
		return !hidden(t.text)
	case t.named("new"):
		return next.kind == word && javaScriptMade[next.text]
	case t.text == "require":
		return p.requires(i)
	case p.aliases[t.text] != "":
		return at(p.tokens, i+1).is("=") || p.member(p.aliases[t.text], i+1)
	case modules[t.text] != nil:
		return p.member(t.text, i+1)
	case t.text == "Error":
		return next.is("(")
	case t.named("export", "module", "exports"):
		return p.exports(i)
	case testNames[t.text] && (p.tested || !p.own[t.text]):
		return p.tests(i)
	}
	return javaScriptWords[t.text] || javaScriptGlobals[t.text] || javaScriptMade[t.text] || p.own[t.text]
}

func hidden(property string) bool {
	return strings.HasPrefix(property, "_") || javaScriptHidden[property]
}

// isSubscript says that a bracket follows a value, and so chooses among its properties.
func (p *programJS) isSubscript(i int) bool {
	before := at(p.tokens, i-1)
	return before.is(")", "]", "}", "?.") || before.kind == text || before.kind == pattern ||
		before.kind == word && (!javaScriptWords[before.text] || p.own[before.text] || at(p.tokens, i-2).is(".", "?."))
}

// subscribes says that a subscript is a number or the name of a property that hides nothing.
func (p *programJS) subscribes(from, to int) bool {
	if to-from == 1 && p.tokens[from].kind == text {
		return p.tokens[from].plain && !hidden(p.tokens[from].text)
	}
	if to-from == 5 && p.tokens[from+1].is(".") && p.tokens[from+2].named("length") && p.tokens[from+3].is("-") &&
		p.tokens[from+4].kind == number {
		return true
	}
	for i := from; i < to; i++ {
		t := p.tokens[i]
		if t.kind != number && !t.is("+", "-", "*", "%") && (t.kind != word || !p.counts[t.text]) {
			return false
		}
	}
	return to > from
}

// requires reads "require('fs')", whether it is given a name or used at once.
func (p *programJS) requires(i int) bool {
	if !at(p.tokens, i+1).is("(") || !at(p.tokens, i+3).is(")") {
		return false
	}
	module := moduleName(p.tokens[i+2])
	if strings.HasPrefix(module, ".") && strings.HasSuffix(module, ".json") {
		return p.note(reads, module)
	}
	switch {
	case isOwnFile(module):
		return p.loads(module)
	case checking[module] || testingModules[p.tokens[i+2].text]:
		return p.requiresTests(i, module)
	case modules[module] == nil || module == "Object" || module == "process":
		return false
	}
	if at(p.tokens, i-1).is("=") && at(p.tokens, i-2).kind == word && p.aliases[p.tokens[i-2].text] == module {
		return true
	}
	return p.member(module, i+4)
}

// member reads what is taken from a module, and the file that a call of it names.
func (p *programJS) member(module string, i int) bool {
	if !at(p.tokens, i).is(".") || at(p.tokens, i+1).kind != word {
		return false
	}
	does, listed := modules[module][p.tokens[i+1].text]
	if !listed || does == none {
		return listed
	}
	if !at(p.tokens, i+2).is("(") {
		return false
	}
	return p.file(does, i+3)
}

// file notes a file by its name, or that it is the standard input or one that an argument names.
func (p *programJS) file(does effect, i int) bool {
	first := at(p.tokens, i)
	if does == reads && first.kind == number && first.text == "0" && at(p.tokens, i+1).is(",", ")") {
		return true
	}
	if does == reads && first.named("process") && at(p.tokens, i+2).named("argv") && at(p.tokens, i+3).is("[") &&
		at(p.tokens, i+4).kind == number && at(p.tokens, i+5).is("]") && at(p.tokens, i+6).is(",", ")") {
		p.Operands = true
		return true
	}
	return p.add(does, p.tokens, i) && (does != reads || p.onlyReads(i+1))
}

// onlyReads says that what follows the name of a file that is read leaves it as it is: nothing, an encoding, or options that are
// spelt out, without a flag, which may empty the file.
func (p *programJS) onlyReads(i int) bool {
	if !at(p.tokens, i).is(",") || at(p.tokens, i+1).kind == text {
		return true
	}
	if !at(p.tokens, i+1).is("{") {
		return false
	}
	for i += 2; ; i += 4 {
		key, value := at(p.tokens, i), at(p.tokens, i+2)
		plain := value.kind == text || value.named("true", "false", "null")
		if key.kind != word || key.named("flag") || !at(p.tokens, i+1).is(":") || !plain {
			return false
		}
		if end := at(p.tokens, i+3); !end.is(",") {
			return end.is("}")
		}
	}
}
