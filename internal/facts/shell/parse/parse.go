// Package parse turns a bash text into its statements, as bash itself would read it.
//
// What is promised: the depth of the parser's stack is bounded, so that no text ends the process; a carriage return and a comment
// that ends in a backslash mean what they mean to bash, which the library reads otherwise.
package parse

import (
	"errors"
	"io"
	"runtime"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames bounds the stack while parsing. The parser descends once for each
// opening bracket or keyword, and a stack that overflows takes the process
// with it, so the parser's own reads of its input are the place to stop it.
const maxFrames = 6000

var errTooDeep = errors.New("nested too deeply")

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// Statements reads a text into its statements; of more than limit, it leaves out the rest.
func Statements(text string, limit int) (stmts []*syntax.Stmt, err error) {
	text, mark, err := asBash(text)
	if err != nil {
		return nil, err
	}
	p := parsers.Get().(*syntax.Parser)
	for stmt, err := range p.StmtsSeq(&guarded{text, len(text) <= shallow}) {
		if err != nil {
			return nil, err // the parser stays out of the pool: it stopped halfway
		}
		if stmts = append(stmts, stmt); len(stmts) > limit {
			break
		}
	}
	parsers.Put(p)
	withReturns(stmts, mark)
	return stmts, nil
}

// shallow is how long a text may be that nests too little for a deep stack, with anything in it.
const shallow = maxFrames / 12

// guarded hands out a text in pieces for as long as its reader's stack is not deep.
type guarded struct {
	text    string
	shallow bool
}

func (g *guarded) Read(p []byte) (int, error) {
	if len(g.text) == 0 {
		return 0, io.EOF
	}
	if !g.shallow && deep() {
		return 0, errTooDeep
	}
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}

func deep() bool {
	var pc [1]uintptr
	return runtime.Callers(maxFrames, pc[:]) > 0
}
