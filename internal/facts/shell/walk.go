package shell

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/loops"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// statements reads a list of commands; all of them read the same input.
func (a *analysis) statements(stmts []*syntax.Stmt, sc *state.Scope, in word.Stream) call.Result {
	defer a.Enter()()
	var all call.Result
	for i, s := range stmts {
		if !a.Spend(1) {
			break
		}
		r := a.statement(s, sc, in)
		if i == 0 {
			all = r
			continue
		}
		all.Out = all.Out.Then(r.Out)
		all.Ends = all.Ends || r.Ends
		if !call.ReadsCommands(all.Lead) {
			all.Lead = cmp.Or(call.CommandReader(r.Lead), all.Lead)
		}
	}
	return all
}

func (a *analysis) statement(s *syntax.Stmt, sc *state.Scope, in word.Stream) call.Result {
	if s.Background || s.Coprocess {
		a.NoteFeature(value.FeatureBackground)
		a.Aside++
		defer func() { a.Aside-- }()
	}
	before := sc.Descriptors
	files := a.redirections(s.Redirs, sc, in)
	a.Loses = append(a.Loses, files.Loses...)
	in = sc.Input(in)
	if files.In.Present {
		in = files.In
	}
	r := a.redirectedCommand(s, sc, in, files)
	if !r.Opens {
		sc.Descriptors = sc.Descriptors.AfterCommand(before, files.Numbers)
	}
	r.Opens = false
	return r
}

// redirectedCommand reads the command of a statement, whose redirections are read.
func (a *analysis) redirectedCommand(s *syntax.Stmt, sc *state.Scope, in word.Stream, files call.Redirections) call.Result {
	var r call.Result
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		if opened, _ := sc.Descriptors.At(state.Output); len(opened.Out) > 0 && !files.TakesOutput {
			files.TakesOutput, files.Appends, files.Out = true, true, opened.Out
		}
		r = a.call(c, sc, in, files)
		if r.Opens {
			return r
		}
	case *syntax.DeclClause:
		a.declare(c, sc, files)
	default:
		if s.Background {
			sc = sc.Fork()
		}
		given := sc.Descriptors
		sc.Descriptors = sc.Descriptors.Without(files.Shadows()...)
		r = a.compound(c, sc, in)
		sc.Descriptors = sc.Descriptors.AfterCommand(given, files.Shadows())
		a.Reads, a.Writes = append(a.Reads, files.Reads...), append(a.Writes, files.Writes...)
	}
	if s.Cmd == nil {
		r.Out = files.In // "$(< file)" is what the file holds
		a.Reads, a.Writes = append(a.Reads, files.Reads...), append(a.Writes, files.Writes...)
	}
	return a.sendOutput(r, files)
}

// sendOutput sends a command's output to its files.
func (a *analysis) sendOutput(r call.Result, files call.Redirections) call.Result {
	for _, path := range files.Out {
		a.Write(path, r.Out, files.Appends)
	}
	if files.TakesOutput {
		r.Out = word.Stream{}
	}
	return r
}

func (a *analysis) endless(c syntax.Command) {
	if loops.StartWithoutEnd(c) {
		a.NoteFeature(value.FeatureEndlessStarts)
	}
}

func (a *analysis) compound(c syntax.Command, sc *state.Scope, in word.Stream) call.Result {
	defer a.Enter()()
	switch c := c.(type) {
	case *syntax.Block:
		return a.statements(c.Stmts, sc, in)
	case *syntax.Subshell:
		a.NoteFeature(value.FeatureSubshell)
		return a.statements(c.Stmts, sc.Fork(), in)
	case *syntax.BinaryCmd:
		return a.binary(c, sc, in)
	case *syntax.IfClause:
		return a.conditional(c, sc, in)
	case *syntax.WhileClause:
		a.NoteFeature(value.FeatureLoop)
		a.endless(c)
		return a.loop(sc, func(sc *state.Scope) call.Result {
			cond := a.statements(c.Cond, sc, in)
			return call.Sequence(cond, a.statements(c.Do, sc, in))
		})
	case *syntax.ForClause:
		a.NoteFeature(value.FeatureLoop)
		a.endless(c)
		return a.each(c, sc, in)
	case *syntax.CaseClause:
		return a.cases(c, sc, in)
	case *syntax.FuncDecl:
		a.define(c, sc)
	case *syntax.ArithmCmd:
		a.Operands(c.X, sc)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			a.Operands(x, sc)
		}
	case *syntax.TestClause:
		a.test(c.X, sc)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return a.statement(c.Stmt, sc, in)
		}
	case *syntax.CoprocClause:
		a.NoteFeature(value.FeatureBackground)
		if _, call := c.Stmt.Cmd.(*syntax.CallExpr); c.Name != nil && (call || c.Stmt.Cmd == nil) { // the name is a program
			a.Hide()
		}
		return a.statement(c.Stmt, sc.Fork(), word.Unknown(value.Taint{}))
	default:
		a.Complete = false
	}
	return call.Result{}
}

// binary reads a chain of && and ||, or a pipeline. Chains lean to the left and
// may be as long as the text, so they are taken apart without descending.
func (a *analysis) binary(c *syntax.BinaryCmd, sc *state.Scope, in word.Stream) call.Result {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		return a.pipeline(c, sc, in)
	}
	links := []*syntax.BinaryCmd{c}
	first := c.X
	for plain(first) {
		x, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || x.Op != syntax.AndStmt && x.Op != syntax.OrStmt {
			break
		}
		links, first = append(links, x), x.X
	}
	slices.Reverse(links)
	return a.chain(first, links, sc, in)
}

// plain says that a statement is its command and nothing else.
func plain(s *syntax.Stmt) bool {
	return len(s.Redirs) == 0 && !s.Negated && !s.Background && !s.Coprocess
}

func (a *analysis) chain(first *syntax.Stmt, links []*syntax.BinaryCmd, sc *state.Scope, in word.Stream) call.Result {
	before := sc.Fork()
	all := a.statement(first, sc, in)
	start := sc.Fork()
	left := sc.Fallbacks
	for _, link := range links {
		if !a.Spend(1) {
			break
		}
		if link.Op == syntax.AndStmt {
			left, sc.Fallbacks = state.Union(left, sc.Fallbacks), before.Fallbacks // what stands before has succeeded
			r := a.statement(link.Y, sc, in)
			r.Ends = false
			all = call.Sequence(all, r)
			continue
		}
		failed := before.Fork()
		r := a.statement(link.Y, failed, in)
		if !r.Ends {
			a.Merge(sc, failed)
		} else {
			left, sc.Fallbacks = before.Fallbacks, before.Fallbacks
		}
		out := all.Out.Or(r.Out)
		all = call.Sequence(all, r)
		all.Out = out
	}
	start.Fallbacks = left
	a.Merge(sc, start)
	return all
}

// pipeline reads the stages of a pipe from left to right.
func (a *analysis) pipeline(c *syntax.BinaryCmd, sc *state.Scope, in word.Stream) call.Result {
	a.NoteFeature(value.FeaturePipe)
	if a.Aside == 0 {
		a.Piped = len(a.Calls)
	}
	a.Aside++
	defer func() { a.Aside-- }()
	stages := pipeStages(c)
	var r call.Result
	var lead string
	before := len(a.Calls)
	for i, s := range stages {
		if !a.Spend(1) {
			break
		}
		if i > 0 {
			in = r.Out
			in.Present = true
		}
		from := len(a.Calls)
		stage := sc.Fork()
		if i > 0 {
			stage.Descriptors = stage.Descriptors.Without(state.Input)
		}
		if i < len(stages)-1 {
			stage.Descriptors = stage.Descriptors.Without(state.Output)
		}
		r = a.statement(s, stage, in)
		if i == 0 {
			lead = r.Lead
		} else {
			a.Pipe(before, from, r.Lead)
		}
		before = from
	}
	return call.Result{Out: r.Out, Lead: lead}
}

func pipeStages(c *syntax.BinaryCmd) []*syntax.Stmt {
	var stages []*syntax.Stmt
	pending := []*syntax.Stmt{{Cmd: c}}
	for len(pending) > 0 {
		s := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if ok && plain(s) && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			pending = append(pending, b.Y, b.X)
			continue
		}
		stages = append(stages, s)
	}
	return stages
}
