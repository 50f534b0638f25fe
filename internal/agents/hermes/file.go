package hermes

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"golang.org/x/sys/unix"
)

// maxFile bounds what is read of a file, maxDepth how deep its brackets nest: what
// the parser takes for them grows with the square.
const (
	maxFile  = 1 << 20
	maxDepth = 200
)

// readBounded reads a regular file; symbolic links are followed. Anything else, which
// may have no end or never begin, is not opened for long.
func readBounded(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a named pipe must not block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !about.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return text, err
}

// parsed is the mapping that a config.yaml is; nil if it says nothing. What Hermes
// would take for no settings at all is an error here, since its reader means
// something by it. No error shows an excerpt, which may hold a secret.
func parsed(path string, text []byte) (ast.Node, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("reading %s: it is no UTF-8 text", path)
	}
	if line := deepLine(text); line > 0 {
		return nil, fmt.Errorf("reading %s:%d: it nests deeper than %d levels", path, line, maxDepth)
	}
	file, err := parser.ParseBytes(text, 0)
	var wrong yaml.Error
	switch {
	case errors.As(err, &wrong) && wrong.GetToken() != nil:
		return nil, fmt.Errorf("reading %s:%d: %s", path, wrong.GetToken().Position.Line, wrong.GetMessage())
	case err != nil:
		return nil, fmt.Errorf("reading %s: it is no YAML", path)
	}
	bodies := slices.DeleteFunc(file.Docs, func(doc *ast.DocumentNode) bool { return saysNothing(doc.Body) })
	switch {
	case len(bodies) == 0:
		return nil, nil
	case len(bodies) > 1:
		return nil, fmt.Errorf("reading %s:%d: want one document, not several", path, lineOf(bodies[1].Body))
	}
	if fault := misshapen("", bodies[0].Body); fault != "" {
		return nil, fmt.Errorf("reading %s:%s", path, fault)
	}
	return bodies[0].Body, nil
}

// deepLine is the line at which brackets, or lists within lists on one line, go too
// deep; 0 if none does. Those in texts and comments count neither way.
func deepLine(text []byte) int {
	depth, line, entries := 0, 0, 0
	for _, piece := range lexer.Tokenize(string(text)) {
		if piece.Position.Line != line {
			line, entries = piece.Position.Line, 0
		}
		switch piece.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(0, depth-1)
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		}
		if max(depth, entries) > maxDepth {
			return line
		}
	}
	return 0
}

func saysNothing(node ast.Node) bool {
	switch node.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

// sections are the settings that hold others, of those that are looked at.
var sections = []string{
	"", "terminal", "approvals", "code_execution", "gateway", "gateway.platforms", "platforms", "security", "security.approval", "hooks",
	"plugins", "plugins.entries", "plugins.entries." + pluginName, strings.TrimSuffix(pluginSettings, "."), "quick_commands", "mcp_servers",
}

// misshapen says at which line a section is none; empty if all are.
func misshapen(key string, node ast.Node) string {
	if !slices.Contains(sections, key) || saysNothing(node) {
		return ""
	}
	m, ok := node.(ast.MapNode)
	if !ok {
		return fmt.Sprintf("%d: %s is %s, want a mapping", lineOf(node), orWhole(key), kindOf(node))
	}
	for it := m.MapRange(); it.Next(); {
		name := it.Key().GetToken().Value
		if key != "" {
			name = key + "." + name
		}
		if fault := misshapen(name, it.Value()); fault != "" {
			return fault
		}
	}
	return ""
}

func orWhole(key string) string {
	if key == "" {
		return "the whole of it"
	}
	return key
}

func lineOf(node ast.Node) int {
	if token := node.GetToken(); token != nil {
		return token.Position.Line
	}
	return 1
}

// kindOf names what a node is, and not what it says.
func kindOf(node ast.Node) string {
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	}
	return "a YAML " + node.Type().YAMLName()
}
