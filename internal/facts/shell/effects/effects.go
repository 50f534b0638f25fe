// Package effects is what one call does to files and hosts, by its words and the grammar of its program: the Collector
// has what it reads, writes, loses and connects to, the Writer keeps in the overlay what it copies, links, unpacks and compiles.
//
// What is promised: a word that may name a file of a program that nothing describes counts as read, and as written where an option
// says so.
//
// Not here: effects that only a grammar of its own tells (package grammars), and what a call starts.
package effects

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Effects are the files and hosts that one call names.
type Effects struct{ Reads, Writes, Losses, Hosts []string }

// Collector gathers them.
type Collector struct {
	Effects
	FS    *overlay.FS
	entry *programs.Entry
	Own   *programs.Program
	Args  *call.Arguments
	Scope *state.Scope
}

// New gathers what words name that are no call of their own.
func New(fs *overlay.FS, sc *state.Scope) *Collector { return &Collector{FS: fs, Scope: sc} }

// Reset has it gather what a call of a program names; its room is used again.
func (e *Collector) Reset(fs *overlay.FS, entry *programs.Entry, args *call.Arguments, sc *state.Scope) {
	*e = Collector{FS: fs, entry: entry, Own: entry.Own, Args: args, Scope: sc}
}

// Collect is what the call names; own are the effects that a grammar of the program's own tells, nil without any.
func (e *Collector) Collect(name string, own func(e *Collector, name string)) Effects {
	p := e.entry.Described
	for _, o := range e.Args.Options {
		e.Option(o, p)
	}
	switch {
	case len(e.Own.ReadsOnly) > 0 && e.Args.Has(e.Own.ReadsOnly...):
		e.Operands(programs.Reads)
	case runsOperands(e.entry.Language, p, e.Args):
	default:
		e.Operands(p.Operands)
	}
	e.particular(name, own)
	e.unknownWords(p)
	e.unpacks(p)
	e.losses()
	return e.Effects
}

// runsOperands says that the operands are another call, with effects of its own.
func runsOperands(language string, p *programs.Program, args *call.Arguments) bool {
	if language != "" {
		return args.Has("-c", "-e", "-E", "--eval")
	}
	return p.Strict && (p.Operands == programs.None || p.Operands == programs.Unnamed)
}

// Read notes files whose content is read, and the hosts of words that are addresses.
func (e *Collector) Read(words ...word.Word) {
	for _, w := range words {
		if !e.URL(w) {
			e.Reads = e.FS.AddPaths(e.Reads, w, e.Scope, true)
			e.FS.Open(w, e.Scope)
		}
	}
}

// Write notes files that are written.
func (e *Collector) Write(words ...word.Word) {
	for _, w := range words {
		if !e.URL(w) {
			e.Writes = e.FS.AddPaths(e.Writes, w, e.Scope, true)
		}
	}
}

// change notes the operands of a program that writes them all. One that deletes or moves a link
// leaves alone what it leads to.
func (e *Collector) change(ops []word.Word) {
	unlinked := 0
	switch e.Own.Unlinks {
	case programs.All:
		unlinked = len(ops)
	case programs.Sources:
		unlinked = len(e.sources(ops))
	}
	for _, w := range ops[:unlinked] {
		if !e.URL(w) {
			e.Writes = e.FS.AddPaths(e.Writes, w, e.Scope, false)
		}
	}
	e.Write(ops[unlinked:]...)
}

// sources are all operands but the last, which is where they go, unless an option says that.
func (e *Collector) sources(ops []word.Word) []word.Word {
	if _, into := e.Args.Value("-t", "--target-directory"); !into && len(ops) > 0 {
		return ops[:len(ops)-1]
	}
	return ops
}

// URL notes the host of a word that is an address, or the file of one that begins with "file://"; it is false for other words.
func (e *Collector) URL(w word.Word) bool {
	if scheme := "file://"; len(w.Text) > len(scheme) && strings.EqualFold(w.Text[:len(scheme)], scheme) {
		_, file, _ := strings.Cut(w.Text[len(scheme):], "/") // after the host, which is this one
		e.Reads = e.FS.AddPaths(e.Reads, word.Part(w, "/"+file), e.Scope, true)
		return true
	}
	h, ok := value.URLHost(w.Text)
	if ok {
		e.Host(h)
	}
	return ok
}

// Host notes a host, if it has a name.
func (e *Collector) Host(h string) {
	if h != "" && h != "-" {
		e.Hosts = append(e.Hosts, h)
	}
}

// Option notes what the value of an option names, by what the program takes it for.
func (e *Collector) Option(o call.Option, p *programs.Program) {
	switch p.Options[o.Name] {
	case programs.FileWritten:
		e.Write(o.Value)
	case programs.FileRead:
		e.Read(o.Value)
	case programs.FileOfNames:
		if p.Output != programs.Report {
			e.Read(o.Value)
		}
	case programs.Data:
		if _, file, ok := strings.Cut("="+o.Value.Text, "=@"); ok {
			file, _, _ = strings.Cut(file, ";")
			e.Read(word.Part(o.Value, file))
		} else if i := strings.IndexByte(o.Value.Text, '@'); i > 0 && o.Value.Text[i-1] == '=' {
			file, _, _ := strings.Cut(o.Value.Text[i+1:], ";")
			e.Read(word.Part(o.Value, file))
		}
	case programs.URL, programs.HostName:
		e.Host(value.BareHost(o.Value.Text))
	}
}

// Operands notes what the operands name.
func (e *Collector) Operands(kind programs.Operands) {
	ops := e.Args.Operands
	switch kind {
	case programs.Text:
	case programs.Reads:
		e.Read(ops...)
	case programs.Writes, programs.Moves:
		e.change(ops)
	case programs.Copies:
		e.copies(ops)
	case programs.Script:
		e.scriptFiles(ops)
		e.Read(e.Args.AfterScript(ops)...)
	case programs.Mode:
		e.mode(ops)
	case programs.URLs:
		for _, w := range ops {
			switch {
			case e.URL(w):
			case word.IsRooted(w.Text) || strings.HasPrefix(w.Text, "~") || strings.HasPrefix(w.Text, "."):
				e.Read(w)
			default:
				e.Host(value.BareHost(w.Text))
			}
		}
	case programs.Host:
		if len(ops) > 0 && !e.Args.Has("-l") {
			e.Host(value.BareHost(ops[0].Text))
		}
	case programs.Hosts:
		for _, w := range ops {
			e.Host(value.BareHost(w.Text))
		}
	case programs.Remote:
		e.remote(ops)
	case programs.First:
		if len(ops) > 0 {
			e.Write(ops[0])
		}
	case programs.Archive:
		if len(ops) > 0 {
			e.Write(ops[0])
			e.Read(ops[1:]...)
		}
	default:
		for _, w := range ops {
			e.URL(w)
		}
	}
}

func (e *Collector) copies(ops []word.Word) {
	if len(ops) == 0 {
		return
	}
	if _, ok := e.Args.Value("-t", "--target-directory"); ok || len(ops) == 1 || e.Args.Has("-d") {
		e.Read(ops...)
		return
	}
	e.Read(ops[:len(ops)-1]...)
	e.Write(ops[len(ops)-1])
}

func (e *Collector) mode(ops []word.Word) {
	if len(ops) > 0 && !e.Args.Has("--reference") && !takesAway(e.Args.All) {
		ops = ops[1:]
	}
	e.Write(ops...)
}

// takesAway says whether the mode is one like "-x", which looks like an option.
func takesAway(words []word.Word) bool {
	return slices.ContainsFunc(words, func(w word.Word) bool {
		return len(w.Text) > 1 && w.Text[0] == '-' && strings.Trim(w.Text[1:], "rwxXst") == ""
	})
}

func (e *Collector) remote(ops []word.Word) {
	for i, w := range ops {
		if h, ok := value.RemotePath(w.Text); ok {
			e.Host(h)
		} else if i == len(ops)-1 {
			e.Write(w)
		} else {
			e.Read(w)
		}
	}
}

// unpacks notes the current folder of a program that writes the files of an archive there.
func (e *Collector) unpacks(p *programs.Program) {
	for _, when := range e.Own.Unpacks {
		if when != "always" && !e.Args.Has(when) && word.First(e.Args.Operands).Text != when {
			continue
		}
		elsewhere := slices.ContainsFunc(e.Args.Options, func(o call.Option) bool { return p.Options[o.Name] == programs.FileWritten })
		if !elsewhere {
			e.Write(word.Of("."))
		}
		return
	}
}

// particular are the effects that a grammar of its own tells.
func (e *Collector) particular(name string, effects func(e *Collector, name string)) {
	if effects != nil {
		own := *e // a copy on the heap, for the few programs that need one
		effects(&own, name)
		*e = own
	} else if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "mke2fs") || name == "newfs" {
		e.Write(e.Args.Operands...)
	}
}
