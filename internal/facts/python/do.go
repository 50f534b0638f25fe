package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// do notes what a call does and returns what it gives.
func (w *pyWalk) do(d pyDeed, c *pyCall) pyValues {
	switch d.kind {
	case pyShellText, pyRun, pyRunRest, pyRunPath, pyRunPathRest:
		w.runs(d, c)
		return pyValues{{shape: pyObject, text: c.name}}
	case pyExecCode, pyCompileCode, pyHidesCode, pyImportNamed, pyHidesImport, pyGetAttribute, pyNamespace:
		return w.doCode(d, c)
	case pyOpenFile, pyReads, pyWrites, pyCopies, pyMoves:
		return w.doFiles(d, c)
	case pyGetenv, pyEnviron, pyEnvironAll, pyEnvironSet:
		return w.doEnviron(d, c)
	case pyMakePath, pyJoin, pyExpandUser, pySamePath, pyWorkdir, pyHome, pyChdir:
		return w.doPaths(d, c)
	case pyNothing:
		c.escapeAll(w)
		return pyValues{{shape: pyObject, text: c.name, Taint: c.tainted().With(value.Taint{Fetched: reachesNetwork(c.name)})}}
	}
	return w.doTexts(d, c)
}

func (w *pyWalk) doCode(d pyDeed, c *pyCall) pyValues {
	switch d.kind {
	case pyExecCode:
		return w.execute(c)
	case pyCompileCode:
		return c.first()
	case pyImportNamed:
		return w.importNamed(c)
	case pyHidesImport:
		w.feature(value.FeatureDynamicImport)
		w.hide()
	case pyGetAttribute:
		return w.getAttribute(c)
	case pyNamespace:
		if len(c.args) == 0 {
			return pySymbols(c.name + "()")
		}
		return c.args[0]
	default:
		w.runsTainted(c.tainted())
		w.dynamic()
	}
	return pyHidden("value", value.Taint{})
}

// maxPyPrograms and maxPyNested bound the texts given to exec.
const maxPyPrograms, maxPyNested = 64, 6

// execute reads the Python that exec and eval are given.
func (w *pyWalk) execute(c *pyCall) pyValues {
	code, given := c.arg(0, "source")
	if !given {
		code, _ = c.arg(-1, "stmt")
	}
	for _, vs := range c.args[min(1, len(c.args)):] {
		w.escapeSome(vs)
	}
	w.runsTainted(code.tainted())
	var out pyValues
	for _, v := range code {
		if v.shape != pyString || !pyLiteral(v.text) {
			w.dynamic()
			continue
		}
		out = out.with(w.nestedProgram(v.text))
	}
	return out.with(pyHidden("value", value.Taint{}))
}

// runsTainted notes where a text that runs came from.
func (w *pyWalk) runsTainted(t value.Taint) {
	if t.Decoded {
		w.feature(value.FeatureDecodeAndRun)
	}
	if t.Fetched {
		w.feature(value.FeatureDownloadAndRun)
	}
}

func newPyProgram(text string) *pyProgram {
	tokens, err := pyTokens(strings.TrimLeft(text, " \t"))
	if err != nil {
		return &pyProgram{err: err}
	}
	body, err := parsePython(tokens)
	return &pyProgram{body: body, err: err}
}

func (w *pyWalk) nestedProgram(text string) pyValues {
	p := w.nestedPrograms[text]
	if p == nil {
		if len(w.nestedPrograms) >= maxPyPrograms {
			w.dynamic()
			return nil
		}
		p = newPyProgram(text)
		w.nestedPrograms[text] = p
	}
	if p.err != nil || p.inUse {
		w.dynamic()
		return nil
	}
	p.inUse = true
	defer func() { p.inUse = false }()
	if len(p.body) == 1 && p.body[0].act == pyCompute && len(p.body[0].exprs) == 1 {
		return w.value(p.body[0].exprs[0])
	}
	if w.nestedDepth++; w.nestedDepth > maxPyNested {
		w.dynamic()
	} else {
		w.inside(false, func() { w.statements(p.body) })
	}
	w.nestedDepth--
	return nil
}

func (w *pyWalk) importNamed(c *pyCall) pyValues {
	names, _ := c.arg(0, "name")
	var out pyValues
	for _, n := range names {
		if n.shape != pyString || !pyLiteral(n.text) {
			w.feature(value.FeatureDynamicImport)
			w.hide()
			out = out.with(pyHidden("module", value.Taint{}))
			continue
		}
		w.imported(n.text)
		name := n.text
		if _, from := c.arg(3, "fromlist"); c.name == "__import__" && !from {
			name, _, _ = strings.Cut(name, ".")
		}
		out = out.with(pySymbols(name))
	}
	return out
}

func (w *pyWalk) getAttribute(c *pyCall) pyValues {
	if len(c.args) < 2 {
		c.escapeAll(w)
		return pyHidden("value", value.Taint{})
	}
	out := w.optional(c, 2)
	for _, b := range c.args[0] {
		for _, n := range c.args[1] {
			known := n.shape == pyString && pyLiteral(n.text)
			switch {
			case known && revealing[n.text]:
				w.dynamic()
			case known:
				out = out.with(w.member(b, &pyExpr{form: pyAttributeForm, text: n.text, kids: []*pyExpr{other()}}))
				continue
			case b.shape == pySymbol && dangerousModules[b.text]:
				w.dynamic()
			}
			out = out.with(pyValues{{shape: pyObject, text: "getattr"}})
		}
	}
	return out
}

func (w *pyWalk) doEnviron(d pyDeed, c *pyCall) pyValues {
	switch d.kind {
	case pyGetenv:
		names, _ := c.arg(0, "key")
		vs := w.environment(names)
		return vs.with(w.optional(c, 1))
	case pyEnvironAll:
		w.note(&w.notes.variables, "*")
		return pyHidden("value", value.Taint{Environ: true})
	case pyEnviron:
		return pySymbols("os.environ")
	case pyEnvironSet:
		w.setEnviron(c)
	}
	return pyHidden("value", value.Taint{})
}

func (w *pyWalk) setEnviron(c *pyCall) {
	for name, vs := range c.keywords {
		w.setVariable(name, vs)
	}
	var second pyValues
	if len(c.args) > 1 {
		second = c.args[1]
	}
	for _, v := range c.first() {
		if name, ok := (pyValues{v}).only(); ok {
			w.setVariable(name, second)
		}
		for i := 0; v.shape == pyDict && i+1 < len(v.items); i += 2 {
			if name, ok := v.items[i].only(); ok {
				w.setVariable(name, v.items[i+1])
			}
		}
	}
}

// setVariable notes a variable of the environment that is set.
func (w *pyWalk) setVariable(name string, vs pyValues) {
	w.note(&w.notes.assigns, name)
	for _, text := range vs.strs() {
		w.note(&w.notes.settings, name+"="+value.Cut(text.str(), value.MaxSetting))
	}
}
