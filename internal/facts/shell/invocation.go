package shell

import (
	"cmp"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// invocation is one simple command on its way to becoming calls.
type invocation struct {
	argv     []word
	wrappers []string
	assigns  []string
	in       stream
	files    redirections
	sc       *scope
	// made is the number of calls up to this one, once it is recorded.
	made int
	// direct calls look up no function ("command f", "env f").
	direct bool
}

// stay keeps what the redirections of "exec" opened for the commands after it.
func (r *redirections) stay(s *scope) {
	if r.in.present {
		s.open = s.open.with(input, descriptor{in: r.in})
	}
	if r.takesOutput {
		s.open = s.open.with(output, descriptor{out: r.out})
	}
}

// shadows are the descriptors that a compound command's redirections take the place of.
func (r *redirections) shadows() []string {
	var numbers []string
	if r.in.present {
		numbers = append(numbers, input)
	}
	if r.takesOutput {
		numbers = append(numbers, output)
	}
	return numbers
}

// redirections are what a statement's redirections do.
type redirections struct {
	in                   stream
	reads, writes, loses []string
	// out are the files that get standard output.
	out         []string
	appends     bool
	takesOutput bool
	// numbers are the descriptors that changed, other than input and output.
	numbers []string
}

// result is what a command leaves behind for those around it.
type result struct {
	out stream
	// lead is the program that reads the command's standard input.
	lead string
	// ends says that nothing after the command runs (exit, return, exec).
	ends bool
	// opens says that the descriptors of the command stay open after it.
	opens bool
}

// readsCommands says whether a program makes commands of its input.
func readsCommands(program string) bool {
	return programs.Interpreter(program) != "" || program == "xargs"
}

func reading(program string) string {
	if readsCommands(program) {
		return program
	}
	return ""
}

// following is the result of two commands one after the other.
func following(x, y result) result {
	lead := x.lead
	if !readsCommands(lead) {
		lead = cmp.Or(reading(y.lead), lead)
	}
	return result{out: x.out.then(y.out), lead: lead}
}
