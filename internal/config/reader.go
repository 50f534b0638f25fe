package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// reader walks the nodes of one text and gathers what is wrong.
type reader struct {
	name, folder, home string
	known              backends.Catalogue
	faults             Faults
	// trust are the files and folders that no other user may write.
	trust []trustedFile
	// places are where the values stand that the text has, by their keys.
	places map[string]place
	// top are the sections of the whole text.
	top fields
	// whole are the checks that need other sections too, and so come last.
	whole []func()
}

// place is one value in the text: its node, and its key for messages.
type place struct {
	key  string
	node ast.Node
}

type trustedFile struct {
	path string
	at   place
}

// fields are the keys that a section may have, each with what reads its value.
type fields map[string]func(place)

func read(name string, text []byte, known backends.Catalogue) (*Config, *reader) {
	r := &reader{name: name, known: known, places: map[string]place{}}
	if abs, err := filepath.Abs(name); err == nil {
		r.folder = filepath.Dir(abs)
	}
	r.home, _ = os.UserHomeDir()
	c := Default(known)
	c.Path = name
	if root := r.parse(text); root != nil {
		r.config(c, place{node: root})
	}
	return c, r
}

// parse returns the text's only document; nil if it is empty or not YAML.
func (r *reader) parse(text []byte) ast.Node {
	file, err := parser.ParseBytes(text, 0)
	var wrong yaml.Error
	if errors.As(err, &wrong) && wrong.GetToken() != nil {
		r.faults = append(r.faults, Fault{File: r.name, Line: wrong.GetToken().Position.Line, Message: wrong.GetMessage()})
		return nil
	}
	if err != nil {
		r.faults = append(r.faults, Fault{File: r.name, Line: 1, Message: err.Error()})
		return nil
	}
	if len(file.Docs) > 1 {
		r.faults = append(r.faults, Fault{r.name, second(file), "", "holds several YAML documents, want one"})
	}
	if len(file.Docs) == 0 {
		return nil
	}
	return file.Docs[0].Body
}

// second is the line in which the second document starts.
func second(file *ast.File) int {
	if start := file.Docs[1].Start; start != nil {
		return start.Position.Line
	}
	return 1
}

func (r *reader) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return a.Line - b.Line })
	return r.faults
}

func (r *reader) fault(at place, format string, args ...any) {
	r.faults = append(r.faults, r.faultIn(at, fmt.Sprintf(format, args...)))
}

func (r *reader) faultIn(at place, message string) Fault {
	line := 1
	if at.node == nil {
		return Fault{r.name, line, at.key, message}
	}
	if tk := at.node.GetToken(); tk != nil && tk.Position != nil {
		line = tk.Position.Line
	}
	return Fault{r.name, line, at.key, message}
}

func (r *reader) wrongType(at place, want string) {
	r.fault(at, "want %s, is %s", want, kind(at.node))
}

func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a section"
	}
	return "a YAML " + n.Type().YAMLName()
}

// section reads a mapping; an empty value is a section without keys.
func (r *reader) section(at place, want fields) { r.sectionOf(at, want, nil) }

// sectionOf reads a mapping of which some keys have other names, each with a sentence
// that says so.
func (r *reader) sectionOf(at place, want fields, renamed map[string]string) {
	if at.describe(func(s *jsonschema.Schema) { describeSection(s, at, want) }) {
		return
	}
	if _, empty := at.node.(*ast.NullNode); empty {
		return
	}
	m, ok := at.node.(ast.MapNode)
	if !ok {
		r.wrongType(at, "a section of keys")
		return
	}
	for it := m.MapRange(); it.Next(); {
		name := it.Key().GetToken().Value
		readValue, known := want[name]
		if !known {
			r.refuseUnknown(place{under(at.key, name), it.Key()}, name, want, renamed)
			continue
		}
		value := place{under(at.key, name), it.Value()}
		r.places[value.key] = value
		readValue(value)
	}
}

func (r *reader) refuseUnknown(at place, name string, want fields, renamed map[string]string) {
	if other := spelling.Nearest(name, slices.Sorted(maps.Keys(renamed)), 1); other != "" {
		r.fault(at, "%s", renamed[other])
		return
	}
	if section, _, isInside := strings.Cut(at.key, "."); isInside && r.top[name] != nil {
		r.fault(at, "it is a section of its own: write it at the top level, beside %s", section)
		return
	}
	r.fault(at, "%s", spelling.Unknown("key", name, slices.Collect(maps.Keys(want))))
}

func under(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func (r *reader) list(at place, each func(place)) {
	if at.describe(func(s *jsonschema.Schema) { describeList(s, at, each) }) {
		return
	}
	seq, ok := at.node.(*ast.SequenceNode)
	if !ok {
		r.wrongType(at, "a list")
		return
	}
	for i, n := range seq.Values {
		value := place{fmt.Sprintf("%s[%d]", at.key, i), n}
		r.places[value.key] = value
		each(value)
	}
}

// listOfTexts shows of a text that stands alone how it would be written.
func (r *reader) listOfTexts(at place, each func(place)) {
	if alone, is := at.node.(*ast.StringNode); is && alone.GetToken().Type == token.StringType && plain.MatchString(alone.Value) {
		r.fault(at, "want a list, such as [%s], is text", alone.Value)
		return
	}
	r.list(at, each)
}

// plain are short words that mean the same in brackets.
var plain = regexp.MustCompile(`^(~/)?[A-Za-z0-9/][\w./@:-]{0,99}$`)

// text reads a string that is not empty.
func (r *reader) text(at place) (string, bool) {
	at.describe(func(s *jsonschema.Schema) { s.MinLength = jsonschema.Ptr(1) })
	s, ok := r.anyText(at)
	if ok && s == "" {
		r.fault(at, "is empty")
		return "", false
	}
	return s, ok
}

func (r *reader) anyText(at place) (string, bool) {
	if at.describe(func(s *jsonschema.Schema) { s.Type = "string" }) {
		return "", false
	}
	switch n := at.node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		r.fault(at, "want text, is %s; write it in quotes: %q", kind(n), n.GetToken().Value)
	default:
		r.wrongType(at, "text")
	}
	return "", false
}

// as keeps what one reads, if that is right.
func as[T any](into *T, one func(place) (T, bool)) func(place) {
	return func(at place) {
		if value, ok := one(at); ok {
			*into = value
		}
	}
}

// each reads a list of what one reads, in the place of the default.
func (r *reader) each(into *[]string, one func(place) (string, bool)) func(place) {
	return func(at place) {
		*into = []string{}
		r.listOfTexts(at, func(at place) {
			if s, ok := one(at); ok {
				*into = append(*into, s)
			}
		})
	}
}

func (r *reader) oneOf(into *string, kind string, valid ...string) func(place) {
	return func(at place) {
		at.describe(func(s *jsonschema.Schema) { s.Enum = anyOf(valid) })
		s, ok := r.text(at)
		if !ok {
			return
		}
		if !slices.Contains(valid, s) {
			r.fault(at, "%q: %s", s, spelling.Unknown(kind, s, valid))
			return
		}
		*into = s
	}
}

func (r *reader) boolean(into *bool) func(place) {
	return func(at place) {
		if at.describe(func(s *jsonschema.Schema) { s.Type = "boolean" }) {
			return
		}
		n, ok := at.node.(*ast.BoolNode)
		if !ok {
			r.wrongType(at, "true or false")
			return
		}
		*into = n.Value
	}
}

func (r *reader) duration(into *time.Duration, least, most time.Duration) func(place) {
	return func(at place) {
		if at.describe(describeDuration) {
			return
		}
		n, ok := at.node.(*ast.StringNode)
		if !ok {
			r.fault(at, `want a duration such as "5m", is %s`, kind(at.node))
			return
		}
		d, err := time.ParseDuration(n.Value)
		switch {
		case err != nil:
			r.fault(at, `want a duration such as "5m", is %q`, n.Value)
		case d < least || d > most:
			r.fault(at, "want %v to %v, is %v", least, most, d)
		default:
			*into = d
		}
	}
}

func (r *reader) number(into *int, least, most int) func(place) {
	return func(at place) {
		if at.describe(func(s *jsonschema.Schema) { describeNumber(s, "integer", float64(least), float64(most)) }) {
			return
		}
		n, isNumber := at.node.(*ast.IntegerNode)
		if !isNumber {
			r.wrongType(at, "a whole number")
			return
		}
		number, err := strconv.Atoi(n.GetToken().Value)
		if err != nil || number < least || number > most {
			r.fault(at, "want %d to %d, is %s", least, most, n.GetToken().Value)
			return
		}
		*into = number
	}
}

func (r *reader) uids(into *[]uint32) func(place) {
	return func(at place) {
		*into = []uint32{}
		r.list(at, func(at place) {
			if at.describe(func(s *jsonschema.Schema) { describeNumber(s, "integer", 0, 1<<32-2) }) {
				return
			}
			n, isNumber := at.node.(*ast.IntegerNode)
			if !isNumber {
				r.wrongType(at, "a numeric user id")
				return
			}
			uid, err := strconv.ParseUint(n.GetToken().Value, 10, 32)
			if err != nil || uid == 1<<32-1 {
				r.fault(at, "want a user id from 0 to 4294967294, is %s", n.GetToken().Value)
				return
			}
			*into = append(*into, uint32(uid))
		})
	}
}
