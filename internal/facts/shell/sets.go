package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// union is a list with what others add to it.
func union(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(slices.Clip(list), s)
		}
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// listed returns the list, never nil.
func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// distinct drops calls that say nothing new, such as those of a loop's second round.
func distinct(calls []made) []value.Call {
	if len(calls) == 1 {
		return []value.Call{calls[0].Call}
	}
	seen := make(map[string]bool, len(calls))
	kept := make([]value.Call, 0, len(calls))
	for _, c := range calls {
		if key := keyOf(&c.Call); !seen[key] {
			seen[key] = true
			kept = append(kept, c.Call)
		}
	}
	return kept
}

func keyOf(c *value.Call) string {
	var b strings.Builder
	for _, list := range [][]string{c.Argv, c.Wrappers, c.Reads, c.Writes, c.Assigns, {c.Program, c.PipesTo}} {
		for _, s := range list {
			b.WriteString(s)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	return b.String()
}

func programsOf(calls []value.Call) []string {
	var names []string
	for _, c := range calls {
		if c.Program != "" {
			names = append(names, c.Program)
		}
	}
	return value.Sorted(names)
}
