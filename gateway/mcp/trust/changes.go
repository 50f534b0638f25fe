package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// changes are what is different between two listings, a line each for a reader.
func changes(before, after api.MCPListing) []api.MCPChange {
	all := []api.MCPChange{}
	add := func(what, before, after string) {
		if before != after {
			all = append(all, api.MCPChange{What: what, Before: before, After: after})
		}
	}
	add("command", shellquote.Join(before.Command...), shellquote.Join(after.Command...))
	add("files", fileLines(before), fileLines(after))
	add("headers", strings.Join(before.Headers, "\n"), strings.Join(after.Headers, "\n"))
	add("working folder", before.Workdir, after.Workdir)
	add("variables", strings.Join(before.Env, "\n"), strings.Join(after.Env, "\n"))
	add("backend", before.Backend, after.Backend)
	add("name", before.Name, after.Name)
	add("title", before.Title, after.Title)
	add("version", before.Version, after.Version)
	add("instructions", before.Instructions, after.Instructions)
	were, are := newTools(before.Tools), newTools(after.Tools)
	for _, key := range were.keys {
		if _, stays := are.texts[key]; !stays {
			add(key, were.texts[key], "")
		}
	}
	for _, key := range are.keys {
		add(key, were.texts[key], are.texts[key])
	}
	add("order of the tools", were.order(are), are.order(were))
	return all
}

// tools are those of a listing, in its order. Each has a key of its own, also where several have one name.
type tools struct {
	keys  []string
	texts map[string]string
}

func newTools(list []api.MCPTool) tools {
	all := tools{texts: map[string]string{}}
	for _, t := range list {
		key := "tool " + t.Name
		for n := 2; all.texts[key] != ""; n++ {
			key = fmt.Sprintf("tool %s, number %d of this name", t.Name, n)
		}
		all.keys, all.texts[key] = append(all.keys, key), definitionText(t)
	}
	return all
}

// order are the keys that another listing has too, a line each.
func (t tools) order(other tools) string {
	both := slices.DeleteFunc(slices.Clone(t.keys), func(key string) bool { return other.texts[key] == "" })
	return strings.Join(both, "\n")
}

// definitionText is what is said of a tool, with a line for each thing; never empty.
func definitionText(t api.MCPTool) string {
	var text bytes.Buffer
	if json.Indent(&text, t.Definition, "", "  ") != nil {
		return t.Refused + "\n" + string(t.Definition)
	}
	return strings.TrimSpace(t.Refused + "\n" + text.String())
}

func fileLines(l api.MCPListing) string {
	var lines []string
	for _, f := range l.Files {
		lines = append(lines, f.Path+" "+f.SHA256)
	}
	return strings.Join(lines, "\n")
}
