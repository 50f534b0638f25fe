package value

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Globs are the options of a shell that change what its wildcards mean.
type Globs struct {
	// Star has "**" mean folders of any depth, as with bash's globstar, and "***" any text.
	Star bool
	// Fold has letters mean their capitals too, as with nocaseglob.
	Fold bool
}

// Pattern spells a shell's pattern for the globs of policies: classes, "[^…]" and
// extended patterns become lists, ranges and alternatives. What these cannot say
// becomes a pattern that means more, never less.
func (g Globs) Pattern(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); {
		i += g.piece(&b, p, i, false)
	}
	return b.String()
}

// piece writes the part of a pattern at i, and returns its length.
func (g Globs) piece(b *strings.Builder, p string, i int, inside bool) int {
	c := p[i]
	if strings.IndexByte("?*+@!", c) >= 0 && strings.HasPrefix(p[i+1:], "(") {
		if n, ok := g.group(b, p, i); ok {
			return n
		}
	}
	switch {
	case c == '*':
		return g.stars(b, p, i)
	case c == '?':
		b.WriteByte(c)
	case c == '[' && endless(p[i:]):
		b.WriteString("**")
		return len(p) - i
	case c == '[':
		if set, n, ok := bracket(p[i:]); ok {
			b.WriteString(set.fold(g.Fold).String())
			return n
		}
		b.WriteString(`\[`)
	case strings.IndexByte(`\{}`, c) >= 0 || c == ',' && inside:
		b.WriteByte('\\')
		b.WriteByte(c)
	case g.Fold && isLetter(c):
		b.WriteString("[" + strings.ToLower(string(c)) + strings.ToUpper(string(c)) + "]")
	default:
		b.WriteByte(c)
	}
	return 1
}

// maxBracket is how far the end of a bracket is looked for.
const maxBracket = 512

// endless says that a bracket does not end where it is looked for: the rest of its pattern may be anything.
func endless(p string) bool {
	return len(p) > maxBracket && !strings.ContainsAny(p[1:maxBracket], "]/")
}

// stars are as good as one, unless they stand for folders of any depth.
func (g Globs) stars(b *strings.Builder, p string, i int) int {
	n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
	whole := (i == 0 || p[i-1] == '/') && (i+n == len(p) || p[i+n] == '/')
	b.WriteString(map[bool]string{true: "**", false: "*"}[g.Star && (n == 2 && whole || n == 3)])
	return n
}

// group writes an extended pattern such as "@(a|b)".
func (g Globs) group(b *strings.Builder, p string, i int) (length int, ok bool) {
	inner, ok := enclosed(p[i+2:])
	if !ok || strings.Contains(inner, "/") {
		return 0, false
	}
	length = len(inner) + 3
	alternatives := g.alternatives(inner)
	switch {
	case p[i] == '*' || p[i] == '!' || strings.Contains(inner, "$"):
		b.WriteByte('*')
	case p[i] == '+':
		b.WriteString(alternatives + "*")
	case p[i] == '?':
		b.WriteString("{," + alternatives + "}")
	default:
		b.WriteString(alternatives)
	}
	return length, true
}

// alternatives are those of "a|b" as "{a,b}".
func (g Globs) alternatives(inner string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(inner); {
		if inner[i] == '|' {
			b.WriteByte(',')
			i++
			continue
		}
		i += g.piece(&b, inner, i, true)
	}
	b.WriteByte('}')
	return b.String()
}

// enclosed is what stands before the bracket that closes a group.
func enclosed(s string) (string, bool) {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[:i], true
			}
		}
	}
	return "", false
}

// set are the characters that a bracket means, or all but those.
type set struct {
	members []rune
	not     bool
}

// bracket reads "[…]" at the beginning of a pattern.
func bracket(p string) (s set, length int, ok bool) {
	rest := p[1:]
	if strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^") {
		s.not, rest = true, rest[1:]
	}
	for first := true; rest != ""; first = false {
		switch {
		case rest[0] == ']' && !first:
			return s, len(p) - len(rest) + 1, true
		case rest[0] == '/':
			return set{}, 0, false
		}
		rest = s.member(rest)
	}
	return set{}, 0, false
}

// member adds the first character, range or class, and returns what follows it.
func (s *set) member(text string) (rest string) {
	for _, mark := range []string{":", "=", "."} {
		inside, opens := strings.CutPrefix(text, "["+mark)
		if !opens {
			continue
		}
		if inner, after, ok := strings.Cut(inside, mark+"]"); ok {
			if mark == ":" {
				s.class(inner)
			} else {
				s.members = append(s.members, []rune(inner)...)
			}
			return after
		}
	}
	low, size := utf8.DecodeRuneInString(text)
	end, ranges := strings.CutPrefix(text[size:], "-")
	if !ranges || end == "" || end[0] == ']' {
		s.members = append(s.members, low)
		return text[size:]
	}
	high, size := utf8.DecodeRuneInString(end)
	for c := low; c <= high && c-low < 512; c++ {
		s.members = append(s.members, c)
	}
	return end[size:]
}

// class adds the characters of a class of POSIX.
func (s *set) class(name string) {
	for c := rune(1); c < 127; c++ {
		if inClass(name, byte(c)) {
			s.members = append(s.members, c)
		}
	}
}

func inClass(name string, c byte) bool {
	upper, digit, space := c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == ' ' || c >= '\t' && c <= '\r'
	switch name {
	case "alpha":
		return isLetter(c)
	case "lower":
		return isLetter(c) && !upper
	case "upper":
		return upper
	case "digit":
		return digit
	case "alnum":
		return isLetter(c) || digit
	case "word":
		return isLetter(c) || digit || c == '_'
	case "xdigit":
		return digit || strings.IndexByte("abcdefABCDEF", c) >= 0
	case "space":
		return space
	case "blank":
		return c == ' ' || c == '\t'
	case "cntrl":
		return c < ' '
	case "punct":
		return c > ' ' && !isLetter(c) && !digit
	case "print":
		return c >= ' '
	case "graph":
		return c > ' '
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (s set) fold(yes bool) set {
	if yes {
		for _, c := range s.members {
			s.members = append(s.members, []rune(strings.ToLower(string(c))+strings.ToUpper(string(c)))...)
		}
	}
	return s
}

// few is how many characters are listed one by one.
const few = 12

// String is the set as a glob of policies: a character, a list, or alternatives of
// lists and ranges.
func (s set) String() string {
	slices.Sort(s.members)
	members := slices.DeleteFunc(slices.Compact(s.members), func(c rune) bool { return c == '/' })
	if s.not && len(members) <= few && !slices.Equal(members, []rune{'-'}) && len(members) > 0 {
		return listOf(members, "!")
	}
	if s.not {
		members = allBut(members)
	}
	switch {
	case len(members) == 0:
		return `\[`
	case len(members) == 1:
		return escaped(members[0])
	case len(members) <= few:
		return listOf(members, "")
	}
	ranges := slices.DeleteFunc([]string{"a-z", "A-Z", "0-9"}, func(r string) bool {
		return slices.ContainsFunc(between(r), func(c rune) bool { return !slices.Contains(members, c) })
	})
	for _, r := range ranges {
		members = slices.DeleteFunc(members, func(c rune) bool { return slices.Contains(between(r), c) })
	}
	for i, r := range ranges {
		ranges[i] = "[" + r + "]"
	}
	switch len(members) {
	case 0:
	case 1:
		ranges = append(ranges, escaped(members[0]))
	default:
		ranges = append(ranges, listOf(members, ""))
	}
	return "{" + strings.Join(ranges, ",") + "}"
}

// allBut are the other characters of ASCII, of which all names in tables are.
func allBut(members []rune) []rune {
	var others []rune
	for c := rune(1); c < 127; c++ {
		if c != '/' && !slices.Contains(members, c) {
			others = append(others, c)
		}
	}
	return others
}

func between(r string) []rune {
	var all []rune
	for c := r[0]; c <= r[2]; c++ {
		all = append(all, rune(c))
	}
	return all
}

// listOf writes a list. A hyphen stands last, and never second, where it would make a
// range.
func listOf(members []rune, not string) string {
	var b strings.Builder
	hyphen := false
	for _, c := range members {
		if hyphen = hyphen || c == '-'; c != '-' {
			b.WriteString(inList(c))
		}
	}
	list := b.String()
	if hyphen {
		if len([]rune(list)) == 1 {
			list += list
		}
		list += "-"
	}
	return "[" + not + list + "]"
}

func inList(c rune) string {
	if strings.ContainsRune(`]\!`, c) {
		return `\` + string(c)
	}
	return string(c)
}

func escaped(c rune) string {
	if strings.ContainsRune(`\*?[]{},`, c) {
		return `\` + string(c)
	}
	return string(c)
}
