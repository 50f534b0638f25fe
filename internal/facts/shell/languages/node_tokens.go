package languages

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

type nodeKind int

const (
	nodeName nodeKind = iota
	nodeString
	nodeNumber
	nodeMark
)

// Token is a name, a string, a number or a mark of Node's language.
type Token struct {
	kind nodeKind
	Text string
}

// nodeLexemes are spaces and comments, names, strings without escapes, numbers, and marks.
var nodeLexemes = regexp.MustCompile("^(?:(\\s+|//[^\\n]*|/\\*(?s:.*?)\\*/)|([A-Za-z_$][\\w$]*)|" +
	"('[^'\\\\\\n]*'|\"[^\"\\\\\\n]*\"|`[^`\\\\$]*`)|" +
	"(\\d[\\w.]*)|(=>|\\.\\.\\.|[{}\\[\\](),:;.=?!&|>*+-]))")

// nodePattern is a regular expression where a value is due.
var nodePattern = regexp.MustCompile(`^/(?:[^*/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*`)

// NodeTokens are the tokens of a text; it is false for one with others than settings need.
func NodeTokens(text string) (tokens []Token, ok bool) {
	for text != "" {
		if p := nodePattern.FindString(text); p != "" && patternIsDue(tokens) {
			tokens, text = append(tokens, Token{nodeNumber, ""}), text[len(p):]
			continue
		}
		found := nodeLexemes.FindStringSubmatch(text)
		if found == nil {
			return nil, false
		}
		text = text[len(found[0]):]
		for kind, token := range found[2:] {
			if token == "" {
				continue
			}
			if nodeKind(kind) == nodeString {
				token = token[1 : len(token)-1]
			}
			tokens = append(tokens, Token{nodeKind(kind), token})
		}
	}
	return tokens, true
}

// valueIsDue says that what follows begins a value.
func valueIsDue(tokens []Token) bool {
	if len(tokens) == 0 {
		return true
	}
	last := tokens[len(tokens)-1]
	return last.kind == nodeMark && last.Text != ")" && last.Text != "]" && last.Text != "}" ||
		last.kind == nodeName && (last.Text == "return" || last.Text == "default")
}

// patternIsDue says that a slash begins a regular expression, whatever stands before the last token.
func patternIsDue(tokens []Token) bool {
	last := tokenAt(tokens, len(tokens)-1)
	return last.kind == nodeMark && last.Text != "" && strings.Contains("=([{,:;?&|!", last.Text)
}

// nodeRoads are names by which a program reaches more than it spells out.
var nodeRoads = value.SetOf("eval Function constructor prototype __proto__ globalThis global window self Reflect Proxy Object this with " +
	"getPrototypeOf getBuiltinModule mainModule binding dlopen createRequire await async class function")

// OnlyNodeSettings says that the tokens import packages of a program's own kind, and call nothing else.
func OnlyNodeSettings(program string, tokens []Token) bool {
	var imported []string
	for i, t := range tokens {
		switch {
		case leadsFurther(tokens, i):
			return false
		case t.kind == nodeString && isModule(tokens[:i]):
			if !ofItsKind(program, t.Text) {
				return false
			}
			imported = append(imported, importedBefore(tokens[:i])...)
		case t.kind == nodeString && !valueIsDue(tokens[:i]), t.isMark("(") && !mayCall(tokens[:i], imported):
			return false
		}
	}
	return true
}

// IsString says that a token is a string.
func (t Token) IsString() bool { return t.kind == nodeString }

func (t Token) isMark(text string) bool { return t.kind == nodeMark && t.Text == text }

// isModule says that a string behind these tokens names a module.
func isModule(tokens []Token) bool {
	last := tokenAt(tokens, len(tokens)-1)
	return last.kind == nodeName && (last.Text == "from" || last.Text == "import") ||
		last.isMark("(") && tokenAt(tokens, len(tokens)-2).Text == "require"
}

// leadsFurther says that a token may reach what no name spells out: members and keys that are computed, calls of what may be
// there, and names that lead to code.
func leadsFurther(tokens []Token, i int) bool {
	t, next := tokens[i], tokenAt(tokens, i+1)
	switch {
	case t.kind == nodeNumber:
		return false
	case t.kind == nodeMark:
		return t.Text == "[" && !valueIsDue(tokens[:i]) || t.Text == "]" && next.isMark(":") || t.Text == "?" && next.isMark(".")
	case t.Text == "require":
		return !next.isMark("(") || tokenAt(tokens, i+2).kind != nodeString || !tokenAt(tokens, i+3).isMark(")")
	case t.Text == "process":
		return !next.isMark(".") || tokenAt(tokens, i+2).Text != "env"
	}
	return nodeRoads[t.Text]
}

func tokenAt(tokens []Token, i int) Token {
	if i < 0 || i >= len(tokens) {
		return Token{kind: nodeMark}
	}
	return tokens[i]
}

// ofItsKind says that a package is one by which a program is set up, or no more than names of paths.
func ofItsKind(program, from string) bool {
	switch from {
	case "path", "url", "node:path", "node:url":
		return true
	}
	parts := []string{program, "plugin", "preset", "loader", "config", "globals", "eslint", "vite"}
	return strings.HasPrefix(from, ".") || slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(from, part) })
}

// importedBefore are the names that the statement gives what it imports, up to its last token.
func importedBefore(tokens []Token) (names []string) {
	for i := len(tokens) - 1; i >= 0; i-- {
		switch t := tokens[i]; {
		case t.Text == ";" && t.kind == nodeMark, t.kind == nodeString:
			return nil
		case t.kind == nodeName && (t.Text == "import" || t.Text == "const" || t.Text == "let" || t.Text == "var"):
			return names
		case t.kind == nodeName:
			names = append(names, t.Text)
		}
	}
	return nil
}

// mayCall says that a bracket behind these tokens opens no call, or one of a package that was imported.
func mayCall(tokens []Token, imported []string) bool {
	i := len(tokens) - 1
	if last := tokenAt(tokens, i); last.kind != nodeName {
		return last.kind == nodeMark && last.Text != "]" && last.Text != "}"
	}
	for tokenAt(tokens, i-1).isMark(".") && tokenAt(tokens, i-2).kind == nodeName {
		i -= 2
	}
	switch root := tokens[i].Text; root {
	case "if", "return", "default", "require":
		return i == len(tokens)-1
	default:
		return !tokenAt(tokens, i-1).isMark(".") && slices.Contains(imported, root)
	}
}
