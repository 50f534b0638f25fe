// Package tableyaml reads the part of YAML in which tables are written, several times as fast as a reader of all of YAML: mappings and
// lists by indentation or in brackets, words, quoted text and whole numbers.
//
// Promised: what it reads has the value that go.yaml.in/yaml gives it. Where a text has anything else (an anchor, a tag, a block of
// text, a key twice, a fault), it says so and reads nothing.
package tableyaml

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Read is the value of a text: objects, lists, strings, booleans, null, and numbers as JSON has them. Not ok is a text that has
// something else.
func Read(text []byte) (value any, ok bool) {
	if !isSimple(text) {
		return nil, false
	}
	r := &reader{text: string(text)}
	if column := r.next(); column >= 0 {
		value = r.block(column, -1)
	}
	return value, r.next() < 0 && !r.strange
}

// isSimple says that no character has a meaning of its own, or is none of YAML, and that there is one document.
func isSimple(text []byte) bool {
	if !utf8.Valid(text) || bytes.Contains(text, []byte("\n---")) || bytes.Contains(text, []byte("\n...")) ||
		bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("...")) {
		return false
	}
	for _, c := range string(text) {
		if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 || strings.ContainsRune("\u2028\u2029\ufeff\ufffe\uffff", c) {
			return false
		}
	}
	return true
}

// reader stands somewhere in a text.
type reader struct {
	text    string
	at      int
	depth   int
	strange bool // something is there that is not read here
}

// deepest is how deep values may be nested.
const deepest = 64

// fail ends the reading.
func (r *reader) fail() any {
	r.strange, r.at = true, len(r.text)
	return nil
}

// is says whether one of some characters comes next.
func (r *reader) is(characters string) bool {
	return r.at < len(r.text) && strings.IndexByte(characters, r.text[r.at]) >= 0
}

// isApart says whether a character that comes next stands before a space, or the end of a line.
func (r *reader) isApart(character string) bool {
	return r.is(character) && (r.at+1 == len(r.text) || strings.IndexByte(" \n", r.text[r.at+1]) >= 0)
}

func (r *reader) skipSpaces() {
	for r.is(" ") {
		r.at++
	}
}

// line is the rest of this line.
func (r *reader) line() string {
	line, _, _ := strings.Cut(r.text[r.at:], "\n")
	return line
}

// colonIn is where a colon before a space, or at the end, ends a key; negative where there is none.
func colonIn(line string) int {
	if at := strings.Index(line, ": "); at >= 0 || !strings.HasSuffix(line, ":") {
		return at
	}
	return len(line) - 1
}

// isLineOver says whether nothing but a comment comes on this line, which is skipped.
func (r *reader) isLineOver() bool {
	r.skipSpaces()
	if r.is("#") && (r.at == 0 || strings.IndexByte(" \n", r.text[r.at-1]) >= 0) {
		r.at += len(r.line())
	}
	return r.at == len(r.text) || r.is("\n")
}

// next goes to what comes next on this line or another, and gives its column; negative at the end.
func (r *reader) next() (column int) {
	for r.isLineOver() {
		if r.at == len(r.text) {
			return -1
		}
		r.at++
	}
	return r.at - 1 - strings.LastIndexByte(r.text[:r.at], '\n')
}

// block reads a value that stands at a column, within one whose entries stand at another.
func (r *reader) block(column, within int) any {
	if r.depth++; r.depth > deepest {
		return r.fail()
	}
	defer func() { r.depth-- }()
	start := r.at
	if r.isApart("-") {
		return r.list(column)
	}
	if _, ok := r.key(); ok {
		r.at = start
		return r.mapping(column)
	}
	r.at = start
	return r.value(within)
}

// list reads items behind dashes at a column.
func (r *reader) list(column int) any {
	all := []any{}
	for r.isApart("-") {
		r.at++
		if r.isLineOver() {
			all = append(all, r.below(column, false))
		} else {
			all = append(all, r.block(r.next(), column))
		}
		if r.next() != column {
			break
		}
	}
	return all
}

// below reads what stands on the lines below an entry at a column, or nothing. Where these are dashes, the entry's column may be theirs.
func (r *reader) below(column int, dashes bool) any {
	switch next := r.next(); {
	case next > column:
		return r.block(next, column)
	case next == column && dashes && r.isApart("-"):
		return r.list(column)
	}
	return nil
}

// mapping reads entries at a column.
func (r *reader) mapping(column int) any {
	all := map[string]any{}
	for {
		key, ok := r.key()
		if _, twice := all[key]; !ok || twice {
			return r.fail()
		}
		if r.isLineOver() {
			all[key] = r.below(column, true)
		} else {
			all[key] = r.value(column)
		}
		if r.next() != column {
			return all
		}
	}
}

// key reads a key on one line, with its colon.
func (r *reader) key() (key string, ok bool) {
	if r.is(`'"`) {
		start := r.at
		if key, ok = r.quoted(); !ok || !r.isApart(":") || r.at-start > longestKey || strings.Contains(r.text[start:r.at], "\n") {
			return "", false
		}
		r.at++
		return key, true
	}
	line := r.line()
	colon := colonIn(line)
	if colon <= 0 || strings.Contains(line[:colon], " #") || !r.startsWord() {
		return "", false
	}
	key = strings.TrimRight(line[:colon], " ")
	r.at += colon + 1
	return r.asKey(key)
}

// asKey is a word as a key, if it is one there.
func (r *reader) asKey(word string) (key string, ok bool) {
	key, ok = r.meaning(word).(string)
	return key, ok && len(word) <= longestKey
}

// longestKey is shorter than what YAML allows.
const longestKey = 500

// startsWord says whether what comes next is a word without quotes.
func (r *reader) startsWord() bool {
	return r.at < len(r.text) && !r.is(",[]{}#&*!|>'\"%@`\n") && !r.isApart("-?:")
}

// value reads what stands behind a key or a dash, or below: in brackets, in quotes, or words up to the end of the line. These go on on
// lines that stand deeper than the entry.
func (r *reader) value(within int) (value any) {
	switch {
	case r.is("{["):
		value = r.inBrackets()
	case r.is(`'"`):
		text, ok := r.quoted()
		if value = text; !ok {
			return r.fail()
		}
	default:
		return r.words(within)
	}
	if !r.isLineOver() {
		return r.fail()
	}
	return value
}

// words reads the words of one or several lines.
func (r *reader) words(within int) any {
	var all []string
	for {
		line, ends, ok := r.lineOfWords()
		if !ok {
			return r.fail()
		}
		if all = append(all, line); ends {
			break
		}
		end := r.at
		blank := strings.HasPrefix(strings.TrimLeft(r.text[min(end+1, len(r.text)):], " "), "\n")
		if r.next() <= within || r.commented(end) {
			r.at = end
			break
		}
		if blank {
			return r.fail()
		}
	}
	return r.meaning(strings.Join(all, " "))
}

// commented says whether a comment stands between some place and here.
func (r *reader) commented(from int) bool {
	return strings.ContainsRune(r.text[from:r.at], '#')
}

// lineOfWords reads the words up to the end of a line, or to a comment, which ends the text.
func (r *reader) lineOfWords() (line string, ends, ok bool) {
	if !r.startsWord() {
		return "", true, false
	}
	line = r.line()
	end := r.at + len(line)
	if comment := strings.Index(line, " #"); comment >= 0 {
		line, ends = line[:comment], true
	}
	line = strings.TrimRight(line, " ")
	r.at = end
	return line, ends || end == len(r.text), colonIn(line) < 0
}

// quoted reads a text in quotes.
func (r *reader) quoted() (text string, ok bool) {
	quote := r.text[r.at]
	for end := r.at + 1; end < len(r.text); end++ {
		switch c := r.text[end]; {
		case c == '\\' && quote == '"':
			end++
		case c == '\'' && quote == c && strings.HasPrefix(r.text[end+1:], "'"):
			end++
		case c == quote:
			text = r.text[r.at+1 : end]
			r.at = end + 1
			return unquoted(text, quote)
		}
	}
	return "", false
}

// unquoted is what stands in quotes. Of what a backslash may mean, only that is known which all mean alike.
func unquoted(text string, quote byte) (_ string, ok bool) {
	if strings.Contains(text, "\n") {
		return folded(text, quote)
	}
	if quote == '\'' {
		return strings.ReplaceAll(text, "''", "'"), true
	}
	if !strings.Contains(text, `\`) {
		return text, true
	}
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		if at++; at == len(text) || strings.IndexByte(`\"nt`, text[at]) < 0 {
			return "", false
		}
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(text), true
}

// folded is what stands in quotes on several lines, none of them empty.
func folded(text string, quote byte) (_ string, ok bool) {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		words := strings.Trim(line, " ")
		if words == "" || quote != '\'' || n > 0 && line[0] != ' ' {
			return "", false
		}
		switch n {
		case 0:
			words = strings.TrimRight(line, " ")
		case len(lines) - 1:
			words = strings.TrimLeft(line, " ")
		}
		lines[n] = words
	}
	return unquoted(strings.Join(lines, " "), quote)
}

// inBrackets reads a mapping or a list in brackets.
func (r *reader) inBrackets() any {
	if r.depth++; r.depth > deepest {
		return r.fail()
	}
	defer func() { r.depth-- }()
	if r.is("[") {
		return r.itemsInBrackets()
	}
	all := map[string]any{}
	for r.at++; r.next() >= 0 && !r.is("}"); {
		key, ok := r.keyInBrackets()
		if _, twice := all[key]; !ok || twice {
			return r.fail()
		}
		if r.next() < 0 || r.is(",]}") {
			return r.fail()
		}
		if all[key] = r.itemInBrackets(); !r.isItemOver("}") {
			return r.fail()
		}
	}
	return r.closed(all)
}

func (r *reader) itemsInBrackets() any {
	all := []any{}
	for r.at++; r.next() >= 0 && !r.is("]"); {
		if all = append(all, r.itemInBrackets()); !r.isItemOver("]") {
			return r.fail()
		}
	}
	return r.closed(all)
}

// closed is a value whose closing bracket comes next.
func (r *reader) closed(value any) any {
	if r.at == len(r.text) {
		return r.fail()
	}
	r.at++
	return value
}

// isItemOver says whether a comma or the closing bracket comes next. The comma is skipped.
func (r *reader) isItemOver(closing string) bool {
	if r.next() < 0 {
		return false
	}
	if r.is(",") {
		r.at++
		return true
	}
	return r.is(closing)
}

func (r *reader) keyInBrackets() (key string, ok bool) {
	start := r.at
	if r.is(`'"`) {
		key, ok = r.quoted()
	} else if word, isWord := r.wordInBrackets(); isWord {
		key, ok = r.asKey(word)
	}
	if !ok || !r.isApart(":") || r.at-start > longestKey || strings.Contains(r.text[start:r.at], "\n") {
		return "", false
	}
	r.at++
	return key, true
}

func (r *reader) itemInBrackets() any {
	if r.is("{[") {
		return r.inBrackets()
	}
	if r.is(`'"`) {
		if text, ok := r.quoted(); ok {
			return text
		}
		return r.fail()
	}
	if word, ok := r.wordInBrackets(); ok {
		return r.meaning(word)
	}
	return r.fail()
}

// wordInBrackets reads words up to a comma, a bracket, or a colon behind a key.
func (r *reader) wordInBrackets() (word string, ok bool) {
	if !r.startsWord() || r.is("?:") {
		return "", false
	}
	start := r.at
	for ; r.at < len(r.text) && !r.is(",[]{}\n") && !r.isApart(":"); r.at++ {
		if r.is("#") && r.text[r.at-1] == ' ' || r.is("?") || r.is(":") && strings.IndexByte(",[]{}", r.text[r.at+1]) >= 0 {
			return "", false
		}
	}
	word = strings.TrimRight(r.text[start:r.at], " ")
	if !r.is("\n") {
		return word, true
	}
	end := r.at
	if r.next(); r.commented(end) || strings.Count(r.text[end:r.at], "\n") > 1 {
		return "", false
	}
	if r.is(",]}") {
		return word, true
	}
	more, ok := r.wordInBrackets()
	return word + " " + more, ok
}

// meaning is the value of a word: few are no text.
func (r *reader) meaning(word string) any {
	switch word {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	case "~", "null", "Null", "NULL":
		return nil
	case "<<":
		return r.fail()
	}
	if !mayBeNumber(word) {
		return word
	}
	if n, err := strconv.Atoi(word); err == nil && strconv.Itoa(n) == word {
		return json.Number(word)
	}
	return r.fail()
}

// ofNumbers are the characters of which numbers and dates consist.
const ofNumbers = "0123456789abcdefABCDEFxXoOiInNtTZ.+-: "

// mayBeNumber says whether a word may be a number or a date. Within these "_" means nothing.
func mayBeNumber(word string) bool {
	if word == "" || word[0] == '_' {
		return false
	}
	word = strings.ReplaceAll(word, "_", "")
	rest := strings.TrimLeft(word, "+-")
	if len(word)-len(rest) > 1 || rest == "" || strings.Trim(rest, ofNumbers) != "" || strings.Count(rest, ".") > 1 {
		return false
	}
	digits := strings.TrimPrefix(rest, ".")
	return digits != "" && digits[0] >= '0' && digits[0] <= '9' || strings.EqualFold(rest, ".inf") || strings.EqualFold(rest, ".nan")
}
