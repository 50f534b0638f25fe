// Package call is one simple command on its way to becoming a call: its words, told apart by what its program takes; its
// redirections; and what it leaves behind for the commands around it.
//
// Not here: what a call reads, writes, prints or starts.
package call

import (
	"cmp"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// Invocation is one simple command on its way to becoming calls.
type Invocation struct {
	Argv         []word.Word
	Wrappers     []string
	Assigns      []string
	In           word.Stream
	Redirections Redirections
	Scope        *state.Scope
	// Number is the number of calls up to this one, once it is recorded.
	Number int
	// Direct calls look up no function ("command f", "env f").
	Direct bool
}

// WithScope is the same command in another scope.
func (inv *Invocation) WithScope(sc *state.Scope) *Invocation {
	there := *inv
	there.Scope = sc
	return &there
}

// Redirections are what a statement's redirections do.
type Redirections struct {
	In                   word.Stream
	Reads, Writes, Loses []string
	// Out are the files that get standard output.
	Out         []string
	Appends     bool
	TakesOutput bool
	// Numbers are the descriptors that changed, other than input and output.
	Numbers []string
}

// Stay keeps what the redirections of "exec" opened for the commands after it.
func (r *Redirections) Stay(s *state.Scope) {
	if r.In.Present {
		s.Descriptors = s.Descriptors.With(state.Input, state.Descriptor{In: r.In})
	}
	if r.TakesOutput {
		s.Descriptors = s.Descriptors.With(state.Output, state.Descriptor{Out: r.Out})
	}
}

// Shadows are the descriptors that a compound command's redirections take the place of.
func (r *Redirections) Shadows() []string {
	var numbers []string
	if r.In.Present {
		numbers = append(numbers, state.Input)
	}
	if r.TakesOutput {
		numbers = append(numbers, state.Output)
	}
	return numbers
}

// Result is what a command leaves behind for those around it.
type Result struct {
	Out word.Stream
	// Lead is the program that reads the command's standard input.
	Lead string
	// Ends says that nothing after the command runs (exit, return, exec).
	Ends bool
	// Opens says that the descriptors of the command stay open after it.
	Opens bool
}

// ReadsCommands says whether a program makes commands of its input.
func ReadsCommands(program string) bool {
	return programs.Interpreter(program) != "" || program == "xargs"
}

// CommandReader is a program that makes commands of its input, empty for any other.
func CommandReader(program string) string {
	if ReadsCommands(program) {
		return program
	}
	return ""
}

// Sequence is the result of two commands one after the other.
func Sequence(x, y Result) Result {
	lead := x.Lead
	if !ReadsCommands(lead) {
		lead = cmp.Or(CommandReader(y.Lead), lead)
	}
	return Result{Out: x.Out.Then(y.Out), Lead: lead}
}
