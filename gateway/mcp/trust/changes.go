package trust

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/bailiff-dev/bailiff/api"
)

// changes are what is different between two listings, a line each for a reader.
func changes(before, after api.MCPListing) []api.MCPChange {
	all := []api.MCPChange{}
	add := func(what, before, after string) {
		if before != after {
			all = append(all, api.MCPChange{What: what, Before: before, After: after})
		}
	}
	add("command", strings.Join(before.Command, " "), strings.Join(after.Command, " "))
	add("files", fileLines(before), fileLines(after))
	add("name", before.Name, after.Name)
	add("version", before.Version, after.Version)
	add("instructions", before.Instructions, after.Instructions)
	were, are := byName(before.Tools), byName(after.Tools)
	for _, t := range before.Tools {
		if _, stays := are[t.Name]; !stays {
			add("tool "+t.Name, laidOut(t), "")
		}
	}
	for _, t := range after.Tools {
		add("tool "+t.Name, laidOut(were[t.Name]), laidOut(t))
	}
	return all
}

func byName(tools []api.MCPTool) map[string]api.MCPTool {
	all := make(map[string]api.MCPTool, len(tools))
	for _, t := range tools {
		all[t.Name] = t
	}
	return all
}

// laidOut is what is said of a tool, with a line for each thing; empty of none.
func laidOut(t api.MCPTool) string {
	if len(t.Definition) == 0 {
		return t.Refused
	}
	var text bytes.Buffer
	if json.Indent(&text, t.Definition, "", "  ") != nil {
		return string(t.Definition)
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
