package shell

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/loops"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// statements reads a list of commands; all of them read the same input.
func (a *analysis) statements(stmts []*syntax.Stmt, sc *scope, in stream) result {
	defer a.enter()()
	var all result
	for i, s := range stmts {
		if !a.spend(1) {
			break
		}
		r := a.statement(s, sc, in)
		if i == 0 {
			all = r
			continue
		}
		all.out = all.out.then(r.out)
		all.ends = all.ends || r.ends
		if !readsCommands(all.lead) {
			all.lead = cmp.Or(reading(r.lead), all.lead)
		}
	}
	return all
}

func (a *analysis) statement(s *syntax.Stmt, sc *scope, in stream) result {
	if s.Background || s.Coprocess {
		a.feature(value.FeatureBackground)
		a.aside++
		defer func() { a.aside-- }()
	}
	before := sc.open
	files := a.redirections(s.Redirs, sc, in)
	a.loses = append(a.loses, files.loses...)
	in = sc.inherited(in)
	if files.in.present {
		in = files.in
	}
	r := a.redirectedCommand(s, sc, in, files)
	if !r.opens {
		sc.open = sc.open.restored(before, files.numbers)
	}
	r.opens = false
	return r
}

// redirectedCommand reads the command of a statement, whose redirections are read.
func (a *analysis) redirectedCommand(s *syntax.Stmt, sc *scope, in stream, files redirections) result {
	var r result
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		if opened, _ := sc.open.at(output); len(opened.out) > 0 && !files.takesOutput {
			files.takesOutput, files.appends, files.out = true, true, opened.out
		}
		r = a.call(c, sc, in, files)
		if r.opens {
			return r
		}
	case *syntax.DeclClause:
		a.declare(c, sc, files)
	default:
		if s.Background {
			sc = sc.fork()
		}
		given := sc.open
		sc.open = sc.open.without(files.shadows()...)
		r = a.compound(c, sc, in)
		sc.open = sc.open.restored(given, files.shadows())
		a.reads, a.writes = append(a.reads, files.reads...), append(a.writes, files.writes...)
	}
	if s.Cmd == nil {
		r.out = files.in // "$(< file)" is what the file holds
		a.reads, a.writes = append(a.reads, files.reads...), append(a.writes, files.writes...)
	}
	return a.redirected(r, files)
}

// redirected sends a command's output to its files.
func (a *analysis) redirected(r result, files redirections) result {
	for _, path := range files.out {
		a.keep(path, r.out, files.appends)
	}
	if files.takesOutput {
		r.out = stream{}
	}
	return r
}

func (a *analysis) endless(c syntax.Command) {
	if loops.StartWithoutEnd(c) {
		a.feature(value.FeatureEndlessStarts)
	}
}

func (a *analysis) compound(c syntax.Command, sc *scope, in stream) result {
	defer a.enter()()
	switch c := c.(type) {
	case *syntax.Block:
		return a.statements(c.Stmts, sc, in)
	case *syntax.Subshell:
		a.feature(value.FeatureSubshell)
		return a.statements(c.Stmts, sc.fork(), in)
	case *syntax.BinaryCmd:
		return a.binary(c, sc, in)
	case *syntax.IfClause:
		return a.conditional(c, sc, in)
	case *syntax.WhileClause:
		a.feature(value.FeatureLoop)
		a.endless(c)
		return a.loop(sc, func(sc *scope) result {
			cond := a.statements(c.Cond, sc, in)
			return following(cond, a.statements(c.Do, sc, in))
		})
	case *syntax.ForClause:
		a.feature(value.FeatureLoop)
		a.endless(c)
		return a.each(c, sc, in)
	case *syntax.CaseClause:
		return a.cases(c, sc, in)
	case *syntax.FuncDecl:
		a.define(c, sc)
	case *syntax.ArithmCmd:
		a.operands(c.X, sc)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			a.operands(x, sc)
		}
	case *syntax.TestClause:
		a.test(c.X, sc)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return a.statement(c.Stmt, sc, in)
		}
	case *syntax.CoprocClause:
		a.feature(value.FeatureBackground)
		if _, call := c.Stmt.Cmd.(*syntax.CallExpr); c.Name != nil && (call || c.Stmt.Cmd == nil) { // the name is a program
			a.hide()
		}
		return a.statement(c.Stmt, sc.fork(), unknown(value.Taint{}))
	default:
		a.complete = false
	}
	return result{}
}

// binary reads a chain of && and ||, or a pipeline. Chains lean to the left and
// may be as long as the text, so they are taken apart without descending.
func (a *analysis) binary(c *syntax.BinaryCmd, sc *scope, in stream) result {
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

func (a *analysis) chain(first *syntax.Stmt, links []*syntax.BinaryCmd, sc *scope, in stream) result {
	before := sc.fork()
	all := a.statement(first, sc, in)
	start := sc.fork()
	left := sc.former
	for _, link := range links {
		if !a.spend(1) {
			break
		}
		if link.Op == syntax.AndStmt {
			left, sc.former = union(left, sc.former), before.former // what stands before has succeeded
			r := a.statement(link.Y, sc, in)
			r.ends = false
			all = following(all, r)
			continue
		}
		failed := before.fork()
		r := a.statement(link.Y, failed, in)
		if !r.ends {
			a.merge(sc, failed)
		} else {
			left, sc.former = before.former, before.former
		}
		out := all.out.or(r.out)
		all = following(all, r)
		all.out = out
	}
	start.former = left
	a.merge(sc, start)
	return all
}

// pipeline reads the stages of a pipe from left to right.
func (a *analysis) pipeline(c *syntax.BinaryCmd, sc *scope, in stream) result {
	a.feature(value.FeaturePipe)
	if a.aside == 0 {
		a.piped = len(a.calls)
	}
	a.aside++
	defer func() { a.aside-- }()
	stages := pipeStages(c)
	var r result
	var lead string
	before := len(a.calls)
	for i, s := range stages {
		if !a.spend(1) {
			break
		}
		if i > 0 {
			in = r.out
			in.present = true
		}
		from := len(a.calls)
		stage := sc.fork()
		if i > 0 {
			stage.open = stage.open.without(input)
		}
		if i < len(stages)-1 {
			stage.open = stage.open.without(output)
		}
		r = a.statement(s, stage, in)
		if i == 0 {
			lead = r.lead
		} else {
			a.pipes(before, from, r.lead)
		}
		before = from
	}
	return result{out: r.out, lead: lead}
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
