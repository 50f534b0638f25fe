package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) redirections(list []*syntax.Redirect, sc *scope, in stream) redirections {
	var r redirections
	for _, d := range list {
		before := len(a.reads)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			a.feature(value.FeatureHeredoc)
			a.feeds(&r, a.numberOf(d, input, sc), a.heredoc(d, sc), sc)
			r.reads = append(r.reads, a.reads[before:]...)
		case syntax.WordHdoc:
			a.feature(value.FeatureHeredoc)
			w := a.single(d.Word, sc)
			a.feeds(&r, a.numberOf(d, input, sc), stream{present: true, text: w.text + "\n", known: w.known, Taint: w.Taint}, sc)
			r.reads = append(r.reads, a.reads[before:]...) // what the text in it was made of
		case syntax.DplIn, syntax.DplOut:
			a.duplicate(&r, d, sc, in)
		default:
			a.file(&r, d, sc)
		}
	}
	return r
}

func (a *analysis) heredoc(d *syntax.Redirect, sc *scope) stream {
	body := d.Hdoc
	if d.Op == syntax.DashHdoc {
		body = withoutTabs(body)
	}
	if body != nil && isQuoted(d.Word) {
		return literal(body.Lit())
	}
	w := a.document(body, sc)
	return stream{present: true, text: w.text, known: w.known, Taint: w.Taint}
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
func (a *analysis) duplicate(r *redirections, d *syntax.Redirect, sc *scope, in stream) {
	target := strings.TrimSuffix(a.single(d.Word, sc).text, "-")
	if strings.Trim(target, "0123456789") != "" && d.Op != syntax.DplIn {
		a.file(r, d, sc)
		return
	}
	number := a.numberOf(d, usual(d.Op == syntax.DplIn), sc)
	from, open := a.duplicated(target, r, sc, in)
	switch {
	case number == target:
	case target == "":
		a.closes(r, number, sc)
	case number == input:
		r.in = from.in
		if !open {
			r.in = unknown(value.Taint{Fetched: slices.Contains(a.features, value.FeatureNetworkRedirect)})
		}
	case number != output:
		a.opens(r, number, from, sc)
	case target == "2" && !open:
		r.takesOutput = true
	case len(from.out) > 0:
		r.takesOutput, r.appends, r.out = true, true, append(r.out, from.out...)
	}
}

// duplicated is what a number stands for where a redirection copies it.
func (a *analysis) duplicated(number string, r *redirections, sc *scope, in stream) (descriptor, bool) {
	if d, ok := sc.open.at(number); ok && number != input {
		return d, true
	}
	switch {
	case number == input && r.in.present:
		in = r.in
	case number == input:
		in = sc.inherited(in)
	case number == output && len(r.out) > 0:
		return descriptor{out: r.out}, true
	default:
		return descriptor{in: unknown(value.Taint{})}, false
	}
	return descriptor{in: in}, in.present
}

// closes notes that a descriptor stands for nothing any more.
func (a *analysis) closes(r *redirections, number string, sc *scope) {
	if _, ok := sc.open.at(number); ok {
		r.numbers = append(r.numbers, number)
		sc.open = sc.open.without(number)
	}
}

// file reads a redirection from or to a file.
func (a *analysis) file(r *redirections, d *syntax.Redirect, sc *scope) {
	a.feature(value.FeatureRedirect)
	w := a.single(d.Word, sc)
	reads := d.Op == syntax.RdrIn || d.Op == syntax.RdrInOut
	number := a.numberOf(d, usual(reads), sc)
	if s, ok := a.hands(w, stream{}, sc); ok && reads {
		a.feeds(r, number, s, sc)
		return
	}
	if host, ok := networkPath(w.text); ok {
		a.feature(value.FeatureNetworkRedirect)
		a.hosts = append(a.hosts, host)
		if reads {
			a.feeds(r, number, unknown(value.Taint{Fetched: true}), sc)
		}
		return
	}
	p := a.path(w, sc)
	switch d.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		r.reads = a.addPaths(r.reads, w, sc, true)
		a.opensFile(w, sc)
		a.feeds(r, number, a.stored(w, sc), sc)
		if d.Op == syntax.RdrInOut {
			r.writes = a.addPaths(r.writes, w, sc, true)
			a.writesTo(r, number, p, sc)
		}
	default:
		a.fileOut(r, w, number, d, sc)
	}
}

// writesTo has a descriptor that reads from a file write there as well.
func (a *analysis) writesTo(r *redirections, number, p string, sc *scope) {
	if d, ok := sc.open.at(number); ok && p != "" {
		d.out = []string{p}
		a.opens(r, number, d, sc)
	}
}

func (a *analysis) fileOut(r *redirections, w word, number string, d *syntax.Redirect, sc *scope) {
	p := a.path(w, sc)
	if n, _, ok := descriptorNumber(p); ok {
		a.toDescriptor(r, n, sc)
		return
	}
	paths := a.addNamed(nil, w, sc, true)
	r.writes = addAll(r.writes, paths)
	appends := d.Op == syntax.AppOut || d.Op == syntax.AppAll
	if !appends {
		r.loses = addAll(r.loses, paths)
	}
	if number != output {
		if p != "" && number != "2" {
			a.keep(p, literal(""), appends)
			a.opens(r, number, descriptor{out: []string{p}}, sc)
		}
		return
	}
	r.takesOutput, r.appends = true, appends
	r.out = append(r.out, p)
}

// toDescriptor sends output to what a descriptor writes to.
func (a *analysis) toDescriptor(r *redirections, number string, sc *scope) {
	if opened, _ := sc.open.at(number); len(opened.out) > 0 {
		r.takesOutput, r.appends, r.out = true, true, append(r.out, opened.out...)
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
func (a *analysis) numberOf(d *syntax.Redirect, usual string, sc *scope) string {
	if d.N == nil {
		return usual
	}
	name, named := strings.CutPrefix(d.N.Value, "{")
	if !named {
		return d.N.Value
	}
	free := 10
	number := strconv.Itoa(free)
	for _, taken := sc.open.at(number); taken; _, taken = sc.open.at(number) {
		free++
		number = strconv.Itoa(free)
	}
	a.assign(strings.TrimSuffix(name, "}"), variable{list: []word{known(number)}}, sc)
	return number
}

// usual is the descriptor of a redirection that names none.
func usual(reads bool) string {
	if reads {
		return input
	}
	return output
}

// opens notes what a redirection makes of a descriptor other than input and output.
func (a *analysis) opens(r *redirections, number string, to descriptor, sc *scope) {
	if len(sc.open) >= maxVariables {
		a.hide()
		return
	}
	r.numbers = append(r.numbers, number)
	sc.open = sc.open.with(number, to)
}

// feeds has a descriptor read from a stream.
func (a *analysis) feeds(r *redirections, number string, s stream, sc *scope) {
	if number == input {
		r.in = s
		return
	}
	a.opens(r, number, descriptor{in: s}, sc)
}
