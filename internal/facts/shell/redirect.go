package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) redirections(list []*syntax.Redirect, sc *state.Scope, in word.Stream) call.Redirections {
	var r call.Redirections
	for _, d := range list {
		before := len(a.Reads)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			a.NoteFeature(value.FeatureHeredoc)
			a.feeds(&r, a.numberOf(d, state.Input, sc), a.heredoc(d, sc), sc)
			r.Reads = append(r.Reads, a.Reads[before:]...)
		case syntax.WordHdoc:
			a.NoteFeature(value.FeatureHeredoc)
			w := a.Word(d.Word, sc)
			a.feeds(&r, a.numberOf(d, state.Input, sc), word.Stream{Present: true, Text: w.Text + "\n", Known: w.Known, Taint: w.Taint}, sc)
			r.Reads = append(r.Reads, a.Reads[before:]...) // what the text in it was made of
		case syntax.DplIn, syntax.DplOut:
			a.duplicate(&r, d, sc, in)
		default:
			a.file(&r, d, sc)
		}
	}
	return r
}

func (a *analysis) heredoc(d *syntax.Redirect, sc *state.Scope) word.Stream {
	body := d.Hdoc
	if d.Op == syntax.DashHdoc {
		body = withoutTabs(body)
	}
	if body != nil && isQuoted(d.Word) {
		return word.Literal(body.Lit())
	}
	w := a.Document(body, sc)
	return word.Stream{Present: true, Text: w.Text, Known: w.Known, Taint: w.Taint}
}

// withoutTabs is the body of a document behind "<<-", whose lines lose the tabs that they begin with.
func withoutTabs(body *syntax.Word) *syntax.Word {
	if body == nil {
		return nil
	}
	out, begins := &syntax.Word{}, true
	for _, p := range body.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			out.Parts, begins = append(out.Parts, p), false
			continue
		}
		lines := strings.SplitAfter(lit.Value, "\n")
		for i := range lines {
			if i > 0 || begins {
				lines[i] = strings.TrimLeft(lines[i], "\t")
			}
		}
		out.Parts = append(out.Parts, &syntax.Lit{Value: strings.Join(lines, "")})
		begins = strings.HasSuffix(lit.Value, "\n")
	}
	return out
}

// isQuoted says that a part of a word is quoted, as that behind "<<" of a document in which nothing is expanded or escaped.
func isQuoted(w *syntax.Word) bool {
	lit := w.Lit() // empty where a part is no literal
	return lit == "" || strings.Contains(lit, `\`)
}

// duplicate reads ">&2", but also ">&file".
func (a *analysis) duplicate(r *call.Redirections, d *syntax.Redirect, sc *state.Scope, in word.Stream) {
	target := strings.TrimSuffix(a.Word(d.Word, sc).Text, "-")
	if strings.Trim(target, "0123456789") != "" && d.Op != syntax.DplIn {
		a.file(r, d, sc)
		return
	}
	number := a.numberOf(d, usual(d.Op == syntax.DplIn), sc)
	from, open := a.duplicateOf(target, r, sc, in)
	switch {
	case number == target:
	case target == "":
		a.closes(r, number, sc)
	case number == state.Input:
		r.In = from.In
		if !open {
			r.In = word.Unknown(value.Taint{Fetched: slices.Contains(a.Features, value.FeatureNetworkRedirect)})
		}
	case number != state.Output:
		a.opens(r, number, from, sc)
	case target == "2" && !open:
		r.TakesOutput = true
	case len(from.Out) > 0:
		r.TakesOutput, r.Appends, r.Out = true, true, append(r.Out, from.Out...)
	}
}

// duplicateOf is what a number stands for where a redirection copies it.
func (a *analysis) duplicateOf(number string, r *call.Redirections, sc *state.Scope, in word.Stream) (state.Descriptor, bool) {
	if d, ok := sc.Descriptors.At(number); ok && number != state.Input {
		return d, true
	}
	switch {
	case number == state.Input && r.In.Present:
		in = r.In
	case number == state.Input:
		in = sc.Input(in)
	case number == state.Output && len(r.Out) > 0:
		return state.Descriptor{Out: r.Out}, true
	default:
		return state.Descriptor{In: word.Unknown(value.Taint{})}, false
	}
	return state.Descriptor{In: in}, in.Present
}

// closes notes that a descriptor stands for nothing any more.
func (a *analysis) closes(r *call.Redirections, number string, sc *state.Scope) {
	if _, ok := sc.Descriptors.At(number); ok {
		r.Numbers = append(r.Numbers, number)
		sc.Descriptors = sc.Descriptors.Without(number)
	}
}

// file reads a redirection from or to a file.
func (a *analysis) file(r *call.Redirections, d *syntax.Redirect, sc *state.Scope) {
	a.NoteFeature(value.FeatureRedirect)
	w := a.Word(d.Word, sc)
	reads := d.Op == syntax.RdrIn || d.Op == syntax.RdrInOut
	number := a.numberOf(d, usual(reads), sc)
	if s, ok := a.PseudoFile(w, word.Stream{}, sc); ok && reads {
		a.feeds(r, number, s, sc)
		return
	}
	if host, ok := networkPath(w.Text); ok {
		a.NoteFeature(value.FeatureNetworkRedirect)
		a.Hosts = append(a.Hosts, host)
		if reads {
			a.feeds(r, number, word.Unknown(value.Taint{Fetched: true}), sc)
		}
		return
	}
	p := a.Path(w, sc)
	switch d.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		r.Reads = a.AddPaths(r.Reads, w, sc, true)
		a.Open(w, sc)
		a.feeds(r, number, a.Stream(w, sc), sc)
		if d.Op == syntax.RdrInOut {
			r.Writes = a.AddPaths(r.Writes, w, sc, true)
			a.writesTo(r, number, p, sc)
		}
	default:
		a.fileOut(r, w, number, d, sc)
	}
}

// writesTo has a descriptor that reads from a file write there as well.
func (a *analysis) writesTo(r *call.Redirections, number, p string, sc *state.Scope) {
	if d, ok := sc.Descriptors.At(number); ok && p != "" {
		d.Out = []string{p}
		a.opens(r, number, d, sc)
	}
}

func (a *analysis) fileOut(r *call.Redirections, w word.Word, number string, d *syntax.Redirect, sc *state.Scope) {
	p := a.Path(w, sc)
	if n, _, ok := state.DescriptorNumber(p); ok {
		a.toDescriptor(r, n, sc)
		return
	}
	paths := a.AddNames(nil, w, sc, true)
	r.Writes = state.AddPaths(r.Writes, paths)
	appends := d.Op == syntax.AppOut || d.Op == syntax.AppAll
	if !appends {
		r.Loses = state.AddPaths(r.Loses, paths)
	}
	if number != state.Output {
		if p != "" && number != "2" {
			a.Write(p, word.Literal(""), appends)
			a.opens(r, number, state.Descriptor{Out: []string{p}}, sc)
		}
		return
	}
	r.TakesOutput, r.Appends = true, appends
	r.Out = append(r.Out, p)
}

// toDescriptor sends output to what a descriptor writes to.
func (a *analysis) toDescriptor(r *call.Redirections, number string, sc *state.Scope) {
	if opened, _ := sc.Descriptors.At(number); len(opened.Out) > 0 {
		r.TakesOutput, r.Appends, r.Out = true, true, append(r.Out, opened.Out...)
	}
}

// networkPath is the host of bash's /dev/tcp/host/port.
func networkPath(p string) (host string, ok bool) {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			host, _, _ = strings.Cut(rest, "/")
			return value.NormalHost(host), true
		}
	}
	return "", false
}

// numberOf is the descriptor that a redirection changes. For "{name}" the shell takes
// the first free one from ten on, and puts its number into the variable.
func (a *analysis) numberOf(d *syntax.Redirect, usual string, sc *state.Scope) string {
	if d.N == nil {
		return usual
	}
	name, named := strings.CutPrefix(d.N.Value, "{")
	if !named {
		return d.N.Value
	}
	free := 10
	number := strconv.Itoa(free)
	for _, taken := sc.Descriptors.At(number); taken; _, taken = sc.Descriptors.At(number) {
		free++
		number = strconv.Itoa(free)
	}
	a.Assign(strings.TrimSuffix(name, "}"), state.Variable{List: []word.Word{word.Of(number)}}, sc)
	return number
}

// usual is the descriptor of a redirection that names none.
func usual(reads bool) string {
	if reads {
		return state.Input
	}
	return state.Output
}

// opens notes what a redirection makes of a descriptor other than input and output.
func (a *analysis) opens(r *call.Redirections, number string, to state.Descriptor, sc *state.Scope) {
	if len(sc.Descriptors) >= state.MaxVariables {
		a.Hide()
		return
	}
	r.Numbers = append(r.Numbers, number)
	sc.Descriptors = sc.Descriptors.With(number, to)
}

// feeds has a descriptor read from a stream.
func (a *analysis) feeds(r *call.Redirections, number string, s word.Stream, sc *state.Scope) {
	if number == state.Input {
		r.In = s
		return
	}
	a.opens(r, number, state.Descriptor{In: s}, sc)
}
