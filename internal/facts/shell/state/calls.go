package state

import (
	"hash/maphash"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Record is a call, and whether its output is captured by a substitution instead
// of flowing on.
type Record struct {
	value.Call
	InSubstitution bool
}

// Capture marks the calls since from: their output does not flow on.
func (facts *Sink) Capture(from int) {
	for i := from; i < len(facts.Calls); i++ {
		facts.Calls[i].InSubstitution = true
	}
}

// Pipe sets where the output of the calls in [from, to) goes.
func (facts *Sink) Pipe(from, to int, program string) {
	for i := from; i < to; i++ {
		if c := &facts.Calls[i]; !c.InSubstitution && c.PipesTo == "" {
			c.PipesTo = program
		}
	}
}

// DistinctCalls drops calls that say nothing new, such as those of a loop's second round.
func DistinctCalls(calls []Record) []value.Call {
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

// Programs are the names of the programs that are called.
func Programs(calls []value.Call) []string {
	names := make([]string, 0, len(calls))
	for i := range calls {
		if name := calls[i].Program; name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AddToCall adds files to those that the recorded call reads and writes.
func (facts *Sink) AddToCall(made int, reads, writes []string) {
	facts.Reads, facts.Writes = append(facts.Reads, reads...), append(facts.Writes, writes...)
	if made > 0 {
		call := &facts.Calls[made-1].Call
		call.Reads, call.Writes = value.Sorted(append(call.Reads, reads...)), value.Sorted(append(call.Writes, writes...))
	}
}

// Take adds the facts of a shell text that was read by itself.
func (facts *Sink) Take(c *value.Command, wrappers []string) {
	for _, call := range c.Calls {
		if len(facts.Calls) >= value.MaxCalls || !facts.Spend(1) {
			facts.Complete = false
			break
		}
		call.Wrappers = append(slices.Clip(wrappers), call.Wrappers...)
		facts.Calls = append(facts.Calls, Record{Call: call})
	}
	for _, f := range c.Features {
		facts.NoteFeature(f)
	}
	facts.Hosts, facts.Variables = append(facts.Hosts, c.Hosts...), append(facts.Variables, c.Variables...)
	facts.Reads, facts.Writes = append(facts.Reads, c.Reads...), append(facts.Writes, c.Writes...)
	facts.Settings, facts.Loses = append(facts.Settings, c.Settings...), append(facts.Loses, c.Loses...)
	facts.Assigns, facts.Files = append(facts.Assigns, c.Assigns...), append(facts.Files, c.Files...)
	facts.Made, facts.Sources = append(facts.Made, c.Made...), append(facts.Sources, c.Sources...)
	facts.LookUps, facts.Given = append(facts.LookUps, c.Opens...), append(facts.Given, c.Origins...)
	facts.Modules = append(facts.Modules, c.Modules...)
}
