package loads

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/oneliner"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// isPure says that a program of an interpreter does nothing but print, compute and read and write files that it names, and
// notes these files. Every part of the program and every option of the call must be known.
func (ld *Loader) isPure(lang string, inv *call.Invocation, code word.Word) bool {
	if !languages.HasPlainOptions(lang) || code.Fetched || code.Decoded || len(inv.Argv) == 0 {
		return false
	}
	operands, loops, ok := languages.Operands(lang, inv.Argv[1:], code)
	if !ok || lang == "lua" && len(operands) > 0 {
		return false
	}
	e, ok := oneliner.Read(lang, code.Text)
	if !ok || loops && strings.Contains(code.Text, "ARGV") {
		return false
	}
	if len(e.Loads) > 0 {
		return false
	}
	if e.Operands || loops {
		if lang == "perl" && !languages.OpensPlainly(operands, inv.Wrappers) {
			return false
		}
		e.Operands = true
	}
	ld.noteFiles(inv, e, operands...)
	return true
}

// computes says that a source whose text is known, and is from nowhere else, only computes.
func computes(file string, s word.Stream) bool {
	return s.Known && !s.Fetched && !s.Decoded && languages.Computes(file, s.Text)
}

// namesConstants says that a call has an interpreter run a program that does no more than that, and nothing else. Languages that are
// read have readers of their own.
func namesConstants(lang string, inv *call.Invocation, code word.Word) bool {
	switch {
	case lang == "python", languages.HasPlainOptions(lang), code.Fetched, code.Decoded, !languages.NamesConstants(code.Text):
		return false
	}
	return len(inv.Argv) < 3 || len(inv.Argv) == 3 && inv.Argv[2].Text == code.Text
}

// noteFiles notes the files that a program names, and those that operands name which it reads.
func (ld *Loader) noteFiles(inv *call.Invocation, e oneliner.Effects, operands ...word.Word) {
	touched := effects.New(ld.FS, inv.Scope)
	if e.Operands {
		touched.Read(operands...)
	}
	for _, file := range e.Reads {
		touched.Read(word.Of(file))
	}
	for _, file := range e.Writes {
		touched.Write(word.Of(file))
	}
	ld.AddToCall(inv.Number, touched.Reads, touched.Writes)
	for _, p := range touched.Writes {
		ld.Rewrite(p, "")
	}
}
