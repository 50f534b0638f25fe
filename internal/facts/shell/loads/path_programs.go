package loads

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// PathProgram notes a program that is run by its path, and reads it if the text wrote it.
func (ld *Loader) PathProgram(inv *call.Invocation) {
	w := inv.Argv[0]
	if !strings.Contains(w.Text, "/") {
		return
	}
	if overlay.IsSystemFolder(path.Dir(w.Text)) && path.Clean(w.Text) == w.Text {
		ld.Modules = append(ld.Modules, w.Text) // an earlier request may have installed it
		return
	}
	p := ld.RunFile(w, inv.Scope)
	ld.runCopies(*inv, p)
	for _, there := range ld.FallbackCalls(inv, w) {
		s, _ := ld.Lookup(ld.FileAt(w, there.Scope))
		ld.ReadIn(s, func() { ld.startDiskFile(there, p, s) })
	}
	ld.EachMatch(w, inv.Scope, func(file string, s word.Stream) { ld.runContent("", "", inv, file, s) })
	beside := *inv
	ld.Start(p, func(s word.Stream) { ld.startOwnFile(&beside, p, s) })
	if s, ok := ld.Program(p, ld.FileAt(w, inv.Scope)); ok && s.OnDisk {
		ld.ReadIn(s, func() { ld.startDiskFile(inv, p, s) })
	} else if ok {
		ld.startOwnFile(inv, p, s)
	}
}

// runCopies reads a call of a file as one of the known programs that the text copied to it, or linked it to.
func (ld *Loader) runCopies(inv call.Invocation, p string) {
	ascend, ok := ld.Descend()
	if p == "" || !ok {
		return
	}
	defer ascend()
	for _, from := range ld.Originals(p) {
		if name, ok := call.ProgramName(word.Of(from)); !ok || programs.Of(name) == &programs.Undescribed {
			ld.runCopies(inv, ld.At.Path(from, ""))
			continue
		}
		in := inv
		in.Argv, in.Direct = append([]word.Word{word.Of(from)}, inv.Argv[1:]...), true
		ld.Invoke(in)
	}
}

// startOwnFile reads a program that the text wrote.
func (ld *Loader) startOwnFile(inv *call.Invocation, p string, s word.Stream) {
	ld.NoteRun(s.Taint)
	if script, shell := languages.ShellScript(s); shell {
		ld.Text(path.Base(p), inv, script, inv.Scope.Fork())
	}
}
