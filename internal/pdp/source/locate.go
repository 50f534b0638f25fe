package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Locate follows keys into a file of data as far as they lead, and says how many
// that are.
func (f File) Locate(at []string) (line, found int) {
	var document yaml.Node
	if yaml.Unmarshal(f.Text, &document) != nil || len(document.Content) == 0 {
		return 0, 0
	}
	if folder := path.Dir(f.Place); folder != "." {
		names := strings.Split(folder, "/")
		if len(names) > len(at) || !slices.Equal(names, at[:len(names)]) {
			return 0, 0
		}
		found = len(names)
	}
	here := document.Content[0]
	for line = here.Line; found < len(at); found++ {
		next, begins := entry(here, at[found])
		if next == nil {
			break
		}
		here, line = next, begins
	}
	return line, found
}

// entry is the value of a key, or the element of a list by its number, and where
// it begins.
func entry(n *yaml.Node, name string) (*yaml.Node, int) {
	switch n.Kind {
	case yaml.AliasNode:
		return entry(n.Alias, name)
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	}
	return nil, 0
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// LineOf finds the line that an error of a decoder means.
func LineOf(err error, text []byte) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		return line
	}
	return 1
}
