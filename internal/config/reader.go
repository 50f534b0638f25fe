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

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/spelling"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

// reader walks the nodes of one text and gathers what is wrong.
type reader struct {
	name, folder, home string
	known              backends.Catalogue
	faults             Faults
	// trust are the files and folders that nobody else may write.
	trust []trustee
	// listens are where the listeners' addresses stand, by index.
	listens map[int]place
	// whole are the checks that need other sections too, and so come last.
	whole []func()
}

// place is one value in the text: its node, and its key for messages.
type place struct {
	key  string
	node ast.Node
}

type trustee struct {
	path string
	at   place
}

// fields are the keys that a section may have, each with what reads its value.
type fields map[string]func(place)

func read(name string, text []byte, known backends.Catalogue) (*Config, *reader) {
	r := &reader{name: name, known: known, listens: map[int]place{}}
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
	line := 1
	if tk := at.node.GetToken(); tk != nil && tk.Position != nil {
		line = tk.Position.Line
	}
	r.faults = append(r.faults, Fault{r.name, line, at.key, fmt.Sprintf(format, args...)})
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
func (r *reader) section(at place, want fields) {
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
			r.fault(place{under(at.key, name), it.Key()}, "%s", spelling.Unknown("key", name, slices.Collect(maps.Keys(want))))
			continue
		}
		readValue(place{under(at.key, name), it.Value()})
	}
}

func under(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func (r *reader) list(at place, each func(place)) {
	seq, ok := at.node.(*ast.SequenceNode)
	if !ok {
		r.wrongType(at, "a list")
		return
	}
	for i, n := range seq.Values {
		each(place{fmt.Sprintf("%s[%d]", at.key, i), n})
	}
}

// text reads a string that is not empty.
func (r *reader) text(at place) (string, bool) {
	s, ok := r.anyText(at)
	if ok && s == "" {
		r.fault(at, "is empty")
		return "", false
	}
	return s, ok
}

func (r *reader) anyText(at place) (string, bool) {
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

func (r *reader) texts(into *[]string) func(place) {
	return r.each(into, r.text)
}

// each reads a list of what one reads, in the place of the default.
func (r *reader) each(into *[]string, one func(place) (string, bool)) func(place) {
	return func(at place) {
		*into = []string{}
		r.list(at, func(at place) {
			if s, ok := one(at); ok {
				*into = append(*into, s)
			}
		})
	}
}

func (r *reader) oneOf(into *string, kind string, valid ...string) func(place) {
	return func(at place) {
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

// path reads a path of this machine and makes it absolute.
func (r *reader) path(at place) (string, bool) {
	s, ok := r.text(at)
	if !ok {
		return "", false
	}
	return r.absolute(at, s)
}

func (r *reader) absolute(at place, s string) (string, bool) {
	rest, ofHome := strings.CutPrefix(s, "~")
	switch {
	case ofHome && rest != "" && rest[0] != '/':
		r.fault(at, "%q: only the own home folder can be written ~", s)
		return "", false
	case ofHome && r.home == "":
		r.fault(at, "%q: $HOME is not set, want an absolute path", s)
		return "", false
	case expansion.MatchString(s):
		r.fault(at, "%q: variables are not expanded; write the path", s)
		return "", false
	case strings.ContainsRune(s, 0):
		r.fault(at, "holds a NUL character, want a path")
		return "", false
	case ofHome:
		return filepath.Join(r.home, rest), true
	case filepath.IsAbs(s):
		return filepath.Clean(s), true
	}
	return filepath.Join(r.folder, s), true
}

var expansion = regexp.MustCompile(`\$(\w|\{)`)

func (r *reader) pathInto(into *string) func(place) {
	return func(at place) {
		if p, ok := r.path(at); ok {
			*into = p
		}
	}
}

// trustedPath reads the path of something that nobody else may write.
func (r *reader) trustedPath(at place) (string, bool) {
	p, ok := r.path(at)
	if ok {
		r.trust = append(r.trust, trustee{p, at})
	}
	return p, ok
}

func (r *reader) checkTrust() {
	for _, t := range r.trust {
		if err := trust.Path(t.path); err != nil {
			r.fault(t.at, "%v", err)
		}
	}
}
