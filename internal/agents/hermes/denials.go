package hermes

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/judging/guard"
)

func hasFold(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// askAndDeny carries over what bailiff has of approvals.
func (p *plan) askAndDeny() {
	p.waitForAnswers()
	p.denyGlobs()
	p.leaveModes()
}

// longestWait is what approvals.timeout may be.
const longestWait = 24 * time.Hour

func (p *plan) waitForAnswers() {
	const key = "approvals.timeout"
	p.times[key], _ = p.number(key, "bailiff.yaml: approvals.timeout; policies/data.yaml: approval.terms.timeout_seconds",
		1, longestWait.Seconds(), []string{"approval", "terms", "timeout_seconds"})
}

// denyGlobs makes a guard of each pattern by which Hermes denies.
func (p *plan) denyGlobs() {
	const key = "approvals.deny"
	said, ok := p.take(key)
	globs, isList := said.elements()
	switch {
	case !ok:
		return
	case !isList:
		p.wrong(key, said, "a list of patterns")
		return
	}
	for i, element := range globs {
		glob, isText := element.(string)
		if glob = strings.TrimSpace(glob); glob == "" {
			p.left(fmt.Sprintf("%s[%d]", key, i), said, wrongPattern(isText),
				"Correct it in Hermes, or write a guard for what it meant; the others are carried over.")
			continue
		}
		p.denyGlob(key, said, glob)
	}
}

func wrongPattern(isText bool) string {
	if isText {
		return "It is empty, and denies nothing."
	}
	return "It is no text, and so no pattern."
}

func (p *plan) denyGlob(key string, said setting, glob string) {
	name := fmt.Sprintf("hermes-deny-%d", len(p.config.guards)+1)
	rule := guard.Rule{Name: name, When: conditionOf(patternOf(glob)), Message: "The configuration denies what looks like " + glob + "."}
	var fault *guard.Fault
	if errors.As(guard.Valid(rule.When), &fault) {
		p.left(key, said, "The pattern "+glob+" cannot be a guard: "+fault.Message+".",
			"Write a guard or a rule that denies the same: docs/configuration.md, Conditions.")
		return
	}
	p.config.guards = append(p.config.guards, rule)
	p.carried(key, said, "bailiff.yaml: guards, "+name,
		"It denies what Hermes would, and each line and each command within a text or a script.")
}

// conditionOf holds a pattern against all that a request would run: its text, and
// the words of each command in it as they are without quotation marks.
func conditionOf(pattern string) string {
	matches := ".matches(" + strconv.QuoteToASCII(pattern) + ")"
	return `(request.tool == "terminal" ? request.args.command : request.tool == "execute_code" ? request.args.code : request.args.data)` +
		matches +
		` || (request.tool == "execute_code" ? code.command.calls : command.calls).exists(c, c.argv.join(" ")` + matches + ")"
}

// patternOf is the regular expression of a pattern of Python's fnmatch, in small
// and capital letters. A program may be given by its path.
func patternOf(glob string) string {
	var pattern strings.Builder
	pattern.WriteString(`(?ims)^\s*`)
	if !strings.ContainsAny(glob[:1], "*?[/") {
		pattern.WriteString(`(\S*/)?`)
	}
	for rest := []rune(glob); len(rest) > 0; {
		length, written := pieceOf(rest)
		pattern.WriteString(written)
		rest = rest[length:]
	}
	pattern.WriteString(`\s*$`)
	return pattern.String()
}

// pieceOf is the first piece of a pattern, how many characters it has and what it
// is as a regular expression.
func pieceOf(glob []rune) (int, string) {
	switch glob[0] {
	case '*':
		return 1, ".*"
	case '?':
		return 1, "."
	case ' ':
		return 1, `\s+`
	case '[':
		if length := classLength(glob); length > 0 {
			return length, classOf(string(glob[1 : length-1]))
		}
	}
	return 1, regexp.QuoteMeta(string(glob[0]))
}

// classLength is how many characters a class has, with its brackets; 0 if it is not
// closed, and its bracket therefore a character like others.
func classLength(glob []rune) int {
	first := 1
	if len(glob) > 1 && glob[1] == '!' {
		first = 2
	}
	for i := first + 1; i < len(glob); i++ {
		if glob[i] == ']' {
			return i + 1
		}
	}
	return 0
}

func classOf(inside string) string {
	negated := ""
	if rest, found := strings.CutPrefix(inside, "!"); found {
		negated, inside = "^", rest
	}
	return "[" + negated + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`, `~`, `\~`).Replace(inside) + "]"
}
