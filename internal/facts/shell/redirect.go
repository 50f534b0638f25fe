package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// redirections are what a statement's redirections do.
type redirections struct {
	in                   stream
	reads, writes, loses []string
	// out are the files that get standard output.
	out         []string
	appends     bool
	takesOutput bool
}

func (a *analysis) redirections(list []*syntax.Redirect, sc *scope) redirections {
	var r redirections
	for _, d := range list {
		before := len(a.reads)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			a.feature(value.FeatureHeredoc)
			r.in = a.heredoc(d, sc)
			r.reads = append(r.reads, a.reads[before:]...)
		case syntax.WordHdoc:
			a.feature(value.FeatureHeredoc)
			w := a.single(d.Word, sc)
			r.in = stream{present: true, text: w.text + "\n", known: w.known, Taint: w.Taint}
			r.reads = append(r.reads, a.reads[before:]...) // what the text in it was made of
		case syntax.DplIn, syntax.DplOut:
			a.duplicate(&r, d, sc)
		default:
			a.file(&r, d, sc)
		}
	}
	return r
}

func (a *analysis) heredoc(d *syntax.Redirect, sc *scope) stream {
	w := a.document(d.Hdoc, sc)
	return stream{present: true, text: w.text, known: w.known, Taint: w.Taint}
}

// duplicate reads ">&2", but also ">&file".
func (a *analysis) duplicate(r *redirections, d *syntax.Redirect, sc *scope) {
	target := a.single(d.Word, sc).text
	if strings.Trim(target, "0123456789-") == "" || d.Op == syntax.DplIn {
		input := d.Op == syntax.DplIn && d.N == nil || d.N != nil && d.N.Value == "0"
		switch {
		case input && target != "0" && target != "-":
			r.in = unknown(value.Taint{Fetched: slices.Contains(a.features, value.FeatureNetworkRedirect)})
		case d.Op == syntax.DplOut && target == "2" && !input:
			r.takesOutput = true
		}
		return
	}
	a.file(r, d, sc)
}

// file reads a redirection from or to a file.
func (a *analysis) file(r *redirections, d *syntax.Redirect, sc *scope) {
	a.feature(value.FeatureRedirect)
	w := a.single(d.Word, sc)
	if w.source != nil {
		r.in = *w.source
		return
	}
	if host, ok := networkPath(w.text); ok {
		a.feature(value.FeatureNetworkRedirect)
		a.hosts = append(a.hosts, host)
		if d.Op == syntax.RdrIn || d.Op == syntax.RdrInOut {
			r.in = unknown(value.Taint{Fetched: true})
		}
		return
	}
	p := a.path(w, sc)
	switch d.Op {
	case syntax.RdrIn:
		a.fileIn(r, w, sc, d)
	case syntax.RdrInOut:
		a.fileIn(r, w, sc, d)
		r.writes = add(r.writes, p)
	default:
		a.fileOut(r, p, d)
	}
}

func (a *analysis) fileIn(r *redirections, w word, sc *scope, d *syntax.Redirect) {
	r.reads = add(r.reads, a.path(w, sc))
	if d.N == nil || d.N.Value == "0" {
		r.in = a.stored(w, sc)
	}
}

func (a *analysis) fileOut(r *redirections, p string, d *syntax.Redirect) {
	r.writes = add(r.writes, p)
	appends := d.Op == syntax.AppOut || d.Op == syntax.AppAll
	if !appends {
		r.loses = add(r.loses, p)
	}
	if d.N != nil && d.N.Value != "1" {
		return
	}
	r.takesOutput, r.appends = true, appends
	r.out = append(r.out, p)
}

// stored is what a file holds as far as the text itself wrote it.
func (a *analysis) stored(w word, sc *scope) stream {
	p := a.path(w, sc)
	if s, ok := a.contents[p]; ok {
		return s
	}
	return stream{present: true, path: p, file: a.fileAt(w, sc), Taint: value.Taint{Read: p != ""}}
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

// add appends a path unless it is one of those that hold nothing.
func add(list []string, p string) []string {
	switch p {
	case "", "-", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom",
		"/dev/full":
		return list
	}
	if strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "<(") || strings.HasPrefix(p, ">(") {
		return list
	}
	return append(list, p)
}
