package python

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// do notes what a call does and returns what it gives.
func (w *walk) do(d behaviour, c *call) objects {
	switch d.kind {
	case doesShellText, doesRun, doesRunEither, doesRunRest, doesRunPath, doesRunPathRest, doesRunFile, doesRunNamed:
		w.runs(d, c)
		return objects{{shape: isInstance, text: c.name}}
	case doesExecCode, doesCompileCode, doesHidesCode, doesImportNamed, doesHidesImport, doesGetAttribute, doesNamespace:
		return w.doCode(d, c)
	case doesOpenFile, doesReads, doesWrites, doesReadsWrites, doesLooks, doesListing, doesEntries, doesMatching, doesSendsFile,
		doesDatabase,
		doesTree, doesUnpacks, doesCopies, doesMoves:
		return w.doFiles(d, c)
	case doesResolve:
		return w.resolve(c)
	case doesMakeDict:
		w.handOn(c)
		return w.makeDict(c)
	case doesSetAttribute:
		w.setAttributeByName(c)
		return hidden("value", value.Taint{})
	case doesFindModules:
		return w.findModules(d, c)
	case doesGetenv, doesEnviron, doesEnvironAll, doesEnvironSet:
		return w.doEnviron(d, c)
	case doesMakePath, doesJoin, doesExpandUser, doesSamePath, doesWorkdir, doesHome, doesChdir:
		return w.doPaths(d, c)
	case doesModule:
		return symbolOf(c.name + "()")
	case doesNothing:
		c.escapeAll(w)
		w.handOn(c)
		made := object{shape: isInstance, text: c.name, Taint: c.tainted().With(value.Taint{Fetched: reachesNetwork(c.name)})}
		made.Library = library(c.name)
		return objects{made}
	}
	return w.doTexts(d, c)
}

func (w *walk) doCode(d behaviour, c *call) objects {
	switch d.kind {
	case doesExecCode:
		if setup, given := c.arg(1, "setup"); given && d.name == "setup" {
			w.execute(&call{name: c.name, args: []objects{setup}, keywords: map[string]objects{}})
		}
		return w.execute(c)
	case doesCompileCode:
		return c.first()
	case doesImportNamed:
		return w.importNamed(c)
	case doesHidesImport:
		w.feature(value.FeatureDynamicImport)
		w.hide()
	case doesGetAttribute:
		return w.getAttribute(c)
	case doesNamespace:
		return w.namespaceOf(c)
	default:
		w.runsTainted(c.tainted())
		w.dynamic()
	}
	return hidden("value", value.Taint{})
}

// namespaceOf is what globals(), locals() and vars(x) give.
func (w *walk) namespaceOf(c *call) objects {
	if len(c.args) == 0 && c.name == "vars" {
		return symbolOf("locals()")
	}
	if len(c.args) == 0 {
		return symbolOf(c.name + "()")
	}
	out := objects{}
	for _, v := range c.args[0] {
		if v.shape == isSymbol {
			v.text += ".__dict__"
		} else {
			w.attributesChange()
		}
		out = out.with(objects{v})
	}
	return out
}

// maxPrograms and maxNested bound the texts given to exec.
const maxPrograms, maxNested = 64, 6

// execute reads the Python that exec and eval are given.
func (w *walk) execute(c *call) objects {
	code, given := c.arg(0, "source")
	if !given {
		code, _ = c.arg(-1, "stmt")
	}
	for _, vs := range c.args[min(1, len(c.args)):] {
		w.escapeSome(vs)
	}
	w.handOn(c)
	w.runsTainted(code.tainted())
	var out objects
	for _, v := range code {
		if v.shape == isCallable {
			out = out.with(w.callValue(v, &call{keywords: map[string]objects{}}))
			continue
		}
		if path.Ext(v.file) == ".py" && !v.Fetched && !v.Decoded {
			w.wordsPiece([]string{"python3", v.file}, &call{keywords: map[string]objects{}}, w.at)
			continue
		}
		if v.shape != isString || !literal(v.text) {
			w.dynamic()
			continue
		}
		out = out.with(w.nestedProgram(v.text))
	}
	return out.with(hidden("value", value.Taint{}))
}

// runsTainted notes where a text that runs came from.
func (w *walk) runsTainted(t value.Taint) {
	if t.Decoded {
		w.feature(value.FeatureDecodeAndRun)
	}
	if t.Fetched {
		w.feature(value.FeatureDownloadAndRun)
	}
}

func newProgram(text string) *program {
	parsed, err := syntax.Parse(strings.TrimLeft(text, " \t"))
	return &program{body: parsed.Body, err: err}
}

func (w *walk) nestedProgram(text string) objects {
	p := w.nestedPrograms[text]
	if p == nil {
		if len(w.nestedPrograms) >= maxPrograms {
			w.dynamic()
			return nil
		}
		p = newProgram(text)
		w.nestedPrograms[text] = p
	}
	if p.err != nil || p.inUse {
		w.dynamic()
		return nil
	}
	p.inUse = true
	defer func() { p.inUse = false }()
	if len(p.body) == 1 && p.body[0].Act == syntax.ActCompute && len(p.body[0].Exprs) == 1 {
		return w.value(p.body[0].Exprs[0])
	}
	if w.nestedDepth++; w.nestedDepth > maxNested {
		w.dynamic()
	} else {
		w.inside(false, func() { w.statements(p.body) })
	}
	w.nestedDepth--
	return nil
}

func (w *walk) importNamed(c *call) objects {
	names, _ := c.arg(0, "name")
	var out objects
	for _, n := range names {
		if n.shape != isString || !literal(n.text) {
			w.feature(value.FeatureDynamicImport)
			w.hide()
			out = out.with(hidden("module", value.Taint{}))
			continue
		}
		w.imported(n.text)
		name := n.text
		if _, from := c.arg(3, "fromlist"); c.name == "__import__" && !from {
			name, _, _ = strings.Cut(name, ".")
		}
		out = out.with(symbolOf(name))
	}
	return out
}

func (w *walk) getAttribute(c *call) objects {
	if len(c.args) < 2 {
		c.escapeAll(w)
		return hidden("value", value.Taint{})
	}
	out := w.optional(c, 2)
	for _, b := range c.args[0] {
		for _, n := range c.args[1] {
			known := n.shape == isString && literal(n.text)
			switch {
			case known && revealing[n.text]:
				w.dynamic()
			case known:
				out = out.with(w.member(b, &syntax.Expression{Form: syntax.AttributeForm, Text: n.text,
					Kids: []*syntax.Expression{{Form: syntax.OtherForm}}}))
				continue
			case b.shape == isSymbol && dangerousModules[b.text]:
				w.dynamic()
			}
			out = out.with(objects{{shape: isInstance, text: "getattr"}})
		}
	}
	return out
}

func (w *walk) doEnviron(d behaviour, c *call) objects {
	switch d.kind {
	case doesGetenv:
		names, _ := c.arg(0, "key")
		vs := w.environment(names)
		if name, ok := names.only(); ok && c.name == "os.environ.setdefault" {
			w.setVariable(name, w.optional(c, 1))
		}
		return vs.with(w.optional(c, 1))
	case doesEnvironAll:
		w.note(&w.notes.variables, "*")
		return hidden("value", value.Taint{Environ: true})
	case doesEnviron:
		return symbolOf("os.environ")
	case doesEnvironSet:
		w.setEnviron(c)
	}
	return hidden("value", value.Taint{})
}

func (w *walk) setEnviron(c *call) {
	for name, vs := range c.keywords {
		w.setVariable(name, vs)
	}
	var second objects
	if len(c.args) > 1 {
		second = c.args[1]
	}
	for _, v := range c.first() {
		if name, ok := (objects{v}).only(); ok {
			w.setVariable(name, second)
		}
		for i := 0; v.shape == isDict && i+1 < len(v.items); i += 2 {
			if name, ok := v.items[i].only(); ok {
				w.setVariable(name, v.items[i+1])
			}
		}
	}
}

// setVariable notes a variable of the environment that is set.
func (w *walk) setVariable(name string, vs objects) {
	w.note(&w.notes.assigns, name)
	for _, text := range vs.strs() {
		w.note(&w.notes.settings, name+"="+value.Cut(text.str(), value.MaxSetting))
	}
}
