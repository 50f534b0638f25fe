package shell

import (
	"hash/maphash"
	"maps"
	"slices"

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
	seen := make(map[uint64]*value.Call, len(calls))
	kept := make([]value.Call, 0, len(calls))
	for i := range calls {
		c := &calls[i].Call
		hash := hashOf(c)
		if same := seen[hash]; same == nil || !saysTheSame(c, same) {
			seen[hash] = c
			kept = append(kept, *c)
		}
	}
	return kept
}

var seed = maphash.MakeSeed()

// hashOf is the same for calls that say the same.
func hashOf(c *value.Call) uint64 {
	hash := maphash.String(seed, c.Program)*31 + maphash.String(seed, c.PipesTo)
	for _, list := range [...][]string{c.Argv, c.Wrappers, c.Reads, c.Writes, c.Assigns} {
		hash = hash*31 + uint64(len(list))
		for _, s := range list {
			hash = hash*31 + maphash.String(seed, s)
		}
	}
	return hash
}

func saysTheSame(c, d *value.Call) bool {
	return c.Program == d.Program && c.PipesTo == d.PipesTo && slices.Equal(c.Argv, d.Argv) && slices.Equal(c.Wrappers, d.Wrappers) &&
		slices.Equal(c.Reads, d.Reads) && slices.Equal(c.Writes, d.Writes) && slices.Equal(c.Assigns, d.Assigns)
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
