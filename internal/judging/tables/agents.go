package tables

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/bailiff-dev/bailiff"
)

// heldTo is what a row makes stricter, with more keys.
func heldTo(all any, words map[string]bool, known technologies, more map[string]shape) shape {
	keys := map[string]shape{
		"verdicts": ruleTo(verdict, all, words), "network": network, "backends": known.list(), "env": list(text),
		"scopes": list(word(bailiff.ScopeOnce, bailiff.ScopeSession)),
	}
	maps.Copy(keys, more)
	return fields(keys)
}

// agentsTable is what holds besides for agents that another one started, by their depth.
func agentsTable(row shape) shape {
	return entries("an object with a row for each depth", func(name string, value any, at keys, tell reporter) {
		depth, err := strconv.Atoi(name)
		if name != "" && (err != nil || strconv.Itoa(depth) != name || depth < 1 || depth > bailiff.MaxAgentDepth) { // no schema has a name
			tell(at, fmt.Sprintf("is no depth of agents, want 1 (started by the session's own) to %d", bailiff.MaxAgentDepth))
		}
		row(value, at, tell)
	})
}
