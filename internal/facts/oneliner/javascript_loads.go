package oneliner

import (
	"path"
	"regexp"
	"strings"
)

// A program that loads files of the project does what these do. It says no more than their names, as who starts such a file by its
// name, where nothing that the program spells or computes can reach them: it calls what they hold without arguments, hands what
// comes back to what prints, and gives nothing of theirs another value.

var (
	// printing take what they are given and hand it to nothing but what prints it.
	printing = map[string]map[string]bool{
		"console": set("log error info warn table dir"),
		"Object":  set("keys values entries"),
		"JSON":    set("stringify"),
		"Array":   set("isArray"),
	}
	// awaiting take a function for what comes back.
	awaiting = set("then catch finally")
	// opening stand before a parenthesis that is no call.
	opening = set("if for while switch catch return typeof await of in case void throw function async")
	// drastic is a name by which more is done than to ask.
	drastic = regexp.MustCompile(`(?i)drop|delet|destroy|reset|wipe|purge|truncat|remov|clear|clean|flush|unlink|kill|exec|spawn|eval|` +
		`shell|system|deploy|publish|push|send|upload|seed|migrat|revok|grant|rm|install`)
)

// onlyAsks says that a program hands nothing to the files that it loads, all of them the project's own.
func (p *programJS) onlyAsks() bool {
	if len(p.Writes) > 0 || p.Operands {
		return false
	}
	for _, module := range p.Loads {
		if p.own["console"] || p.own["Object"] || p.own["JSON"] || p.own["Array"] || !isBelow(module) {
			return false
		}
	}
	for i, t := range p.tokens {
		switch {
		case t.kind == text && !p.namesModule(i) && !p.isPrinted(i), t.is("`"), t.kind == pattern:
			return false
		case t.kind == word && drastic.MatchString(t.text):
			return false
		case t.kind == word && at(p.tokens, i-1).is(".", "?.") && isAssignment(at(p.tokens, i+1)):
			return false
		case t.is("]", ")") && isAssignment(at(p.tokens, i+1)):
			return false
		case t.is("(") && !p.handsNothing(i):
			return false
		}
	}
	return true
}

// isBelow says that a file stands in the project, and is neither a package's nor hidden.
func isBelow(module string) bool {
	file := path.Clean(module)
	return strings.HasPrefix(module, "./") && !strings.HasPrefix(file, ".") && !strings.Contains("/"+file, "/.") &&
		!strings.Contains("/"+file+"/", "/node_modules/") && !drastic.MatchString(file)
}

func isAssignment(t token) bool {
	return t.is("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&=", "||=", "??=", "<<=", ">>=", "**=", "++", "--")
}

// namesModule says that a text is that of "require" or "import".
func (p *programJS) namesModule(i int) bool {
	before := at(p.tokens, i-1)
	return p.read[i] && before.named("from", "import") || before.is("(") && at(p.tokens, i-2).named("require")
}

// isPrinted says that a text is an argument of its own of what prints.
func (p *programJS) isPrinted(i int) bool {
	if next := at(p.tokens, i+1); !next.is(",", ")") || !at(p.tokens, i-1).is("(", ",") {
		return false
	}
	for depth := 0; i > 0; i-- {
		switch t := p.tokens[i]; {
		case t.is(")", "]", "}"):
			depth++
		case t.is("(", "[", "{") && depth == 0:
			return t.is("(") && at(p.tokens, i-3).named("console") && at(p.tokens, i-2).is(".")
		case t.is("(", "[", "{"):
			depth--
		}
	}
	return false
}

// handsNothing says that a parenthesis is no call, one without arguments, or one of what only prints or waits.
func (p *programJS) handsNothing(i int) bool {
	next, name, dot, of := at(p.tokens, i+1), at(p.tokens, i-1), at(p.tokens, i-2), at(p.tokens, i-3)
	isMember := dot.is(".", "?.")
	switch {
	case next.is(")"):
		return true
	case name.kind == word && isMember && awaiting[name.text]:
		return next.named("console") || p.isArrow(i+1)
	case name.kind == word && isMember:
		return of.kind == word && printing[of.text][name.text] && !at(p.tokens, i-4).is(".", "?.")
	case name.kind == word:
		return name.text == "require" || opening[name.text] || dot.named("function")
	}
	return !name.is(")", "]", "?.", "}") && name.kind != text && name.kind != number && name.kind != pattern
}

// isArrow says that a function in short form begins here.
func (p *programJS) isArrow(i int) bool {
	if at(p.tokens, i).named("async") {
		i++
	}
	if at(p.tokens, i).is("(") {
		return at(p.tokens, closes(p.tokens, i)+1).is("=>")
	}
	return at(p.tokens, i).kind == word && at(p.tokens, i+1).is("=>")
}
