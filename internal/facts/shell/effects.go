package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// effects are the files and hosts that one call names.
type effects struct{ reads, writes, lost, hosts []string }

// effect gathers them.
type effect struct {
	effects
	fs    *overlay
	entry *programs.Entry
	own   *programs.Program
	args  *arguments
	sc    *scope
}

func newEffect(fs *overlay, sc *scope) *effect { return &effect{fs: fs, sc: sc} }

// reset has it gather what a call of a program names; its room is used again.
func (e *effect) reset(fs *overlay, entry *programs.Entry, args *arguments, sc *scope) {
	*e = effect{fs: fs, entry: entry, own: entry.Own, args: args, sc: sc}
}

// collect is what the call names; own are the effects that a grammar of the program's own tells, nil without any.
func (e *effect) collect(name string, own func(e *effect, name string)) effects {
	p := e.entry.Described
	for _, o := range e.args.options {
		e.option(o, p)
	}
	switch {
	case len(e.own.ReadsOnly) > 0 && e.args.has(e.own.ReadsOnly...):
		e.operands(programs.Reads)
	case runsOperands(e.entry.Language, p, e.args):
	default:
		e.operands(p.Operands)
	}
	e.particular(name, own)
	e.undescribed(p)
	e.unpacks(p)
	e.losses()
	return e.effects
}

// runsOperands says that the operands are another call, with effects of its own.
func runsOperands(language string, p *programs.Program, args *arguments) bool {
	if language != "" {
		return args.has("-c", "-e", "-E", "--eval")
	}
	return p.Strict && (p.Operands == programs.None || p.Operands == programs.Unnamed)
}

func (e *effect) read(words ...word) {
	for _, w := range words {
		if !e.url(w) {
			e.reads = e.fs.addPaths(e.reads, w, e.sc, true)
			e.fs.opensFile(w, e.sc)
		}
	}
}

func (e *effect) write(words ...word) {
	for _, w := range words {
		if !e.url(w) {
			e.writes = e.fs.addPaths(e.writes, w, e.sc, true)
		}
	}
}

// change notes the operands of a program that writes them all. One that deletes or moves a link
// leaves alone what it leads to.
func (e *effect) change(ops []word) {
	unlinked := 0
	switch e.own.Unlinks {
	case programs.All:
		unlinked = len(ops)
	case programs.Sources:
		unlinked = len(e.sources(ops))
	}
	for _, w := range ops[:unlinked] {
		if !e.url(w) {
			e.writes = e.fs.addPaths(e.writes, w, e.sc, false)
		}
	}
	e.write(ops[unlinked:]...)
}

// sources are all operands but the last, which is where they go, unless an option says that.
func (e *effect) sources(ops []word) []word {
	if _, into := e.args.value("-t", "--target-directory"); !into && len(ops) > 0 {
		return ops[:len(ops)-1]
	}
	return ops
}

func (e *effect) url(w word) bool {
	if scheme := "file://"; len(w.text) > len(scheme) && strings.EqualFold(w.text[:len(scheme)], scheme) {
		_, file, _ := strings.Cut(w.text[len(scheme):], "/") // after the host, which is this one
		e.reads = e.fs.addPaths(e.reads, part(w, "/"+file), e.sc, true)
		return true
	}
	h, ok := value.URLHost(w.text)
	if ok {
		e.host(h)
	}
	return ok
}

func (e *effect) host(h string) {
	if h != "" && h != "-" {
		e.hosts = append(e.hosts, h)
	}
}

func (e *effect) option(o option, p *programs.Program) {
	switch p.Options[o.name] {
	case programs.FileWritten:
		e.write(o.value)
	case programs.FileRead:
		e.read(o.value)
	case programs.FileOfNames:
		if p.Output != programs.Report {
			e.read(o.value)
		}
	case programs.Data:
		if _, file, ok := strings.Cut("="+o.value.text, "=@"); ok {
			file, _, _ = strings.Cut(file, ";")
			e.read(part(o.value, file))
		} else if i := strings.IndexByte(o.value.text, '@'); i > 0 && o.value.text[i-1] == '=' {
			file, _, _ := strings.Cut(o.value.text[i+1:], ";")
			e.read(part(o.value, file))
		}
	case programs.URL, programs.HostName:
		e.host(value.BareHost(o.value.text))
	}
}

func (e *effect) operands(kind programs.Operands) {
	ops := e.args.operands
	switch kind {
	case programs.Text:
	case programs.Reads:
		e.read(ops...)
	case programs.Writes, programs.Moves:
		e.change(ops)
	case programs.Copies:
		e.copies(ops)
	case programs.Script:
		e.read(e.args.afterScript(ops)...)
	case programs.Mode:
		e.mode(ops)
	case programs.URLs:
		for _, w := range ops {
			switch {
			case e.url(w):
			case rooted(w.text) || strings.HasPrefix(w.text, "~") || strings.HasPrefix(w.text, "."):
				e.read(w)
			default:
				e.host(value.BareHost(w.text))
			}
		}
	case programs.Host:
		if len(ops) > 0 && !e.args.has("-l") {
			e.host(value.BareHost(ops[0].text))
		}
	case programs.Hosts:
		for _, w := range ops {
			e.host(value.BareHost(w.text))
		}
	case programs.Remote:
		e.remote(ops)
	case programs.First:
		if len(ops) > 0 {
			e.write(ops[0])
		}
	case programs.Archive:
		if len(ops) > 0 {
			e.write(ops[0])
			e.read(ops[1:]...)
		}
	default:
		for _, w := range ops {
			e.url(w)
		}
	}
}

func (e *effect) copies(ops []word) {
	if len(ops) == 0 {
		return
	}
	if _, ok := e.args.value("-t", "--target-directory"); ok || len(ops) == 1 || e.args.has("-d") {
		e.read(ops...)
		return
	}
	e.read(ops[:len(ops)-1]...)
	e.write(ops[len(ops)-1])
}

func (e *effect) mode(ops []word) {
	if len(ops) > 0 && !e.args.has("--reference") && !takesAway(e.args.all) {
		ops = ops[1:]
	}
	e.write(ops...)
}

// takesAway says whether the mode is one like "-x", which looks like an option.
func takesAway(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return len(w.text) > 1 && w.text[0] == '-' && strings.Trim(w.text[1:], "rwxXst") == ""
	})
}

func (e *effect) remote(ops []word) {
	for i, w := range ops {
		if h, ok := value.RemotePath(w.text); ok {
			e.host(h)
		} else if i == len(ops)-1 {
			e.write(w)
		} else {
			e.read(w)
		}
	}
}

// unpacks notes the current folder of a program that writes the files of an archive there.
func (e *effect) unpacks(p *programs.Program) {
	for _, when := range e.own.Unpacks {
		if when != "always" && !e.args.has(when) && first(e.args.operands).text != when {
			continue
		}
		elsewhere := slices.ContainsFunc(e.args.options, func(o option) bool { return p.Options[o.name] == programs.FileWritten })
		if !elsewhere {
			e.write(known("."))
		}
		return
	}
}

// particular are the effects that a grammar of its own tells.
func (e *effect) particular(name string, effects func(e *effect, name string)) {
	if effects != nil {
		own := *e // a copy on the heap, for the few programs that need one
		effects(&own, name)
		*e = own
	} else if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "mke2fs") || name == "newfs" {
		e.write(e.args.operands...)
	}
}
