package python

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
)

// Texts that a library evaluates are code: expressions over columns, templates, annotations, examples in docstrings, and settings that
// name what is called. Their names may be the library's own, so that a name which nothing binds hides nothing here.

// doEvaluated is a call that evaluates texts.
func (w *walk) doEvaluated(d library.Behaviour, c *object.Call) object.Objects {
	for _, vs := range c.Args {
		w.escapeSome(vs)
	}
	switch d.Kind {
	case library.DoesEvaluate:
		text, _ := c.Arg(d.Skip, d.Name)
		w.readTexts(text)
	case library.DoesTemplate:
		text, _ := c.Arg(d.Skip, d.Name)
		w.templates(text)
	case library.DoesAnnotations:
		if yes, sure := object.Truth(c.Keywords[d.When]); d.When == "" || yes || !sure {
			w.evaluateFromNowOn(&w.annotated)
		}
	case library.DoesDoctests:
		w.evaluateFromNowOn(&w.doctested)
	case library.DoesConfigure:
		w.configure(c.First(), 0)
	case library.DoesGetLater:
		for _, vs := range c.Args {
			for _, v := range vs {
				if strings.Contains(v.Text, "__") {
					w.dynamic()
				}
			}
		}
	}
	made := object.Object{Shape: object.IsInstance, Text: c.Name, Taint: c.Tainted()}
	made.Library = libraryOf(c.Name)
	return object.Objects{made}
}

// evaluateFromNowOn has texts of the program read as code that are otherwise none, those before the call too.
func (w *walk) evaluateFromNowOn(texts *bool) {
	if !*texts {
		*texts, w.grew = true, true
	}
}

var (
	dunder  = regexp.MustCompile(`__[a-z]+__`)
	columns = regexp.MustCompile("`[^`]*`")
	pieces  = regexp.MustCompile(`(?s)\{[{%][-+]?\s*(.*?)\s*[-+]?[%}]\}`)
	ini     = regexp.MustCompile(`(?m)^\s*(class|args|kwargs)\s*[=:]\s*(.*)$`)
	example = regexp.MustCompile(`(?m)^[ \t]*(?:>>>|\.\.\.) ?(.*)$`)
)

func (w *walk) readTexts(vs object.Objects) {
	w.runsTainted(vs.Tainted())
	for _, v := range vs {
		if v.Shape == object.IsString {
			w.readText(strings.ReplaceAll(columns.ReplaceAllString(v.Text, "column"), "@", ""))
		}
	}
}

// readText reads a text as code of a library's own dialect: one that is not Python is data, unless it names what Python keeps for itself.
func (w *walk) readText(text string) object.Objects {
	if !strings.Contains(text, "(") && !dunder.MatchString(text) { // calls nothing
		return nil
	}
	p := w.textProgram(text)
	if dunder.MatchString(text) {
		w.dynamic()
	}
	if p == nil || p.err != nil || !object.Literal(text) {
		return nil
	}
	w.lenient++
	defer func() { w.lenient-- }()
	return w.nestedProgram(text)
}

func (w *walk) templates(vs object.Objects) {
	w.runsTainted(vs.Tainted())
	for _, v := range vs {
		if v.Shape != object.IsString {
			continue
		}
		for _, m := range pieces.FindAllStringSubmatch(v.Text, maxPrograms/2) {
			if dunder.MatchString(m[1]) || strings.Contains(m[1], "|attr") || strings.Contains(m[1], "| attr") {
				w.dynamic()
			}
			word, _, _ := strings.Cut(m[1], " ")
			if word != "for" && word != "if" && word != "elif" {
				w.readText(m[1] + "\n#()")
			}
		}
	}
}

// textStatement is a statement that is a text alone: it does nothing, unless a library looks for it.
func (w *walk) textStatement(text string) {
	if w.annotated {
		w.readText(text)
	}
	if !w.doctested || !strings.Contains(text, ">>>") {
		return
	}
	var lines []string
	for _, m := range example.FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	w.lenient++
	w.nestedProgram(strings.Join(lines, "\n") + "\n")
	w.lenient--
}

// configure reads settings that name what is called, and what it is given.
func (w *walk) configure(vs object.Objects, depth int) {
	if depth > maxWithin || !w.spend() {
		return
	}
	for _, v := range vs {
		switch v.Shape {
		case object.IsString:
			w.configureText(v.Text)
		case object.IsList:
			for _, item := range v.Items {
				w.configure(item, depth+1)
			}
		case object.IsDict:
			w.configureOne(v, depth)
		}
	}
}

func (w *walk) configureOne(v object.Object, depth int) {
	c := &object.Call{Keywords: map[string]object.Objects{}}
	var called string
	for i := 0; i+1 < len(v.Items); i += 2 {
		key, _ := v.Items[i].Only()
		switch key {
		case "()", "class", "factory":
			called, _ = v.Items[i+1].Only()
		default:
			c.Keywords[key] = v.Items[i+1]
			if len(v.Items[i+1]) > 0 && v.Items[i+1][0].Shape != object.IsString {
				w.configure(v.Items[i+1], depth+1)
			}
		}
	}
	w.callNamed(called, c)
}

// callNamed calls what a text names.
func (w *walk) callNamed(name string, c *object.Call) {
	if name = strings.TrimPrefix(name, "ext://"); strings.Contains(name, ".") {
		w.imported(name[:strings.LastIndexByte(name, '.')])
		w.callSymbol(library.Canonical(name), c)
	}
}

// configureText reads such settings as lines of a file.
func (w *walk) configureText(text string) {
	name, c := "", &object.Call{Keywords: map[string]object.Objects{}}
	for _, m := range ini.FindAllStringSubmatch(text, maxPrograms/2) {
		if m[1] == "class" {
			w.callNamed(name, c)
			name, c = strings.TrimSpace(m[2]), &object.Call{Keywords: map[string]object.Objects{}}
			continue
		}
		given := w.readText(m[2])
		if p := w.textProgram(m[2]); p != nil && p.err == nil && len(p.body) == 1 && given == nil {
			w.lenient++
			given = w.nestedProgram(m[2])
			w.lenient--
		}
		if m[1] == "args" {
			c.Spread(given)
		} else {
			w.spreadNamed(c, given)
		}
	}
	w.callNamed(name, c)
}

// textProgram is a text as a program, nil where there are too many.
func (w *walk) textProgram(text string) *program {
	p := w.nestedPrograms[text]
	if p == nil && len(w.nestedPrograms) < maxPrograms {
		p = newProgram(text)
		w.nestedPrograms[text] = p
	}
	return p
}
