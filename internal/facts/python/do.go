package python

import (
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// do notes what a call does and returns what it gives.
func (w *walk) do(d library.Behaviour, c *object.Call) object.Objects {
	switch d.Kind {
	case library.DoesShellText, library.DoesRun, library.DoesRunEither, library.DoesRunRest, library.DoesRunPath,
		library.DoesRunPathRest, library.DoesRunFile, library.DoesRunNamed:
		w.runs(d, c)
		return object.Objects{{Shape: object.IsInstance, Text: c.Name}}
	case library.DoesExecCode, library.DoesCompileCode, library.DoesHidesCode, library.DoesImportNamed,
		library.DoesHidesImport, library.DoesGetAttribute, library.DoesNamespace:
		return w.doCode(d, c)
	case library.DoesOpenFile, library.DoesReads, library.DoesWrites, library.DoesReadsWrites, library.DoesLooks,
		library.DoesListing, library.DoesEntries, library.DoesMatching, library.DoesSendsFile,
		library.DoesDatabase,
		library.DoesTree, library.DoesUnpacks, library.DoesCopies, library.DoesMoves:
		return w.doFiles(d, c)
	case library.DoesResolve:
		return w.resolve(c.First())
	case library.DoesCallNamed:
		w.callsNamed(d, c)
		return object.Hidden("value", value.Taint{})
	case library.DoesMakeDict:
		w.handOn(c.Name, c)
		return w.makeDict(c)
	case library.DoesSetAttribute:
		w.setAttributeByName(c)
		return object.Hidden("value", value.Taint{})
	case library.DoesFindModules:
		return w.findModules(d, c)
	case library.DoesEvaluate, library.DoesTemplate, library.DoesAnnotations, library.DoesDoctests, library.DoesConfigure,
		library.DoesGetLater:
		return w.doEvaluated(d, c)
	case library.DoesLoadObjects:
		return w.loadsObjects(d, c)
	case library.DoesLoadYAML:
		return w.loadsYAML(d, c)
	case library.DoesGetenv, library.DoesEnviron, library.DoesEnvironAll, library.DoesEnvironSet:
		return w.doEnviron(d, c)
	case library.DoesMakePath, library.DoesJoin, library.DoesExpandUser, library.DoesSamePath, library.DoesWorkdir, library.DoesHome,
		library.DoesChdir:
		return w.doPaths(d, c)
	case library.DoesModule:
		return object.SymbolOf(c.Name + "()")
	case library.DoesTellMachine:
		return object.Hidden("value", value.Taint{Machine: true})
	case library.DoesNothing:
		w.escapeAll(c)
		w.handOn(c.Name, c)
		made := object.Object{Shape: object.IsInstance, Text: c.Name,
			Taint: c.Tainted().With(value.Taint{Fetched: library.ReachesNetwork(c.Name)})}
		made.Library = libraryOf(c.Name)
		made.Environ = made.Environ && !library.Measures[c.Name]
		return object.Objects{made}
	}
	return w.doTexts(d, c)
}

func (w *walk) doCode(d library.Behaviour, c *object.Call) object.Objects {
	switch d.Kind {
	case library.DoesExecCode:
		if setup, given := c.Arg(1, "setup"); given && d.Name == "setup" {
			w.execute(&object.Call{Name: c.Name, Args: []object.Objects{setup}, Keywords: map[string]object.Objects{}})
		}
		return w.execute(c)
	case library.DoesCompileCode:
		return c.First()
	case library.DoesImportNamed:
		return w.importNamed(c)
	case library.DoesHidesImport:
		w.feature(value.FeatureDynamicImport)
		w.hide()
	case library.DoesGetAttribute:
		return w.getAttribute(c)
	case library.DoesNamespace:
		return w.namespaceOf(c)
	default:
		w.runsTainted(c.Tainted())
		w.dynamic()
	}
	return object.Hidden("value", value.Taint{})
}

// namespaceOf is what globals(), locals() and vars(x) give.
func (w *walk) namespaceOf(c *object.Call) object.Objects {
	if len(c.Args) == 0 && c.Name == "vars" {
		return object.SymbolOf("locals()")
	}
	if len(c.Args) == 0 {
		return object.SymbolOf(c.Name + "()")
	}
	out := object.Objects{}
	for _, v := range c.Args[0] {
		if v.Shape == object.IsSymbol {
			v.Text += ".__dict__"
		} else {
			w.attributesChange()
		}
		out = out.With(object.Objects{v})
	}
	return out
}

// maxPrograms and maxNested bound the texts given to exec.
const maxPrograms, maxNested = 64, 6

// execute reads the Python that exec and eval are given.
func (w *walk) execute(c *object.Call) object.Objects {
	code, given := c.Arg(0, "source")
	if !given {
		code, _ = c.Arg(-1, "stmt")
	}
	for _, vs := range c.Args[min(1, len(c.Args)):] {
		w.escapeSome(vs)
	}
	w.handOn(c.Name, c)
	w.runsTainted(code.Tainted())
	var out object.Objects
	for _, v := range code {
		if v.Shape == object.IsCallable {
			out = out.With(w.callValue(v, &object.Call{Keywords: map[string]object.Objects{}}))
			continue
		}
		if path.Ext(v.File) == ".py" && !v.Fetched && !v.Decoded {
			w.wordsPiece([]string{"python3", v.File}, &object.Call{Keywords: map[string]object.Objects{}}, w.at)
			continue
		}
		if v.Shape != object.IsString || !object.Literal(v.Text) {
			w.dynamic()
			continue
		}
		out = out.With(w.nestedProgram(v.Text))
	}
	return out.With(object.Hidden("value", value.Taint{}))
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

func (w *walk) nestedProgram(text string) object.Objects {
	p := w.textProgram(text)
	if p == nil || p.err != nil || p.inUse {
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

func (w *walk) importNamed(c *object.Call) object.Objects {
	names, _ := c.Arg(0, "name")
	var out object.Objects
	for _, n := range names {
		if n.Shape != object.IsString || !object.Literal(n.Text) {
			w.feature(value.FeatureDynamicImport)
			w.hide()
			out = out.With(object.Hidden("module", value.Taint{}))
			continue
		}
		w.imported(n.Text)
		name := n.Text
		if _, from := c.Arg(3, "fromlist"); c.Name == "__import__" && !from {
			name, _, _ = strings.Cut(name, ".")
		}
		out = out.With(object.SymbolOf(name))
	}
	return out
}

func (w *walk) getAttribute(c *object.Call) object.Objects {
	if len(c.Args) < 2 {
		w.escapeAll(c)
		return object.Hidden("value", value.Taint{})
	}
	out := w.optional(c, 2)
	for _, b := range c.Args[0] {
		for _, n := range c.Args[1] {
			known := n.Shape == object.IsString && object.Literal(n.Text)
			switch {
			case known && library.Revealing[n.Text]:
				w.dynamic()
			case known:
				out = out.With(w.member(b, &syntax.Expression{Form: syntax.AttributeForm, Text: n.Text,
					Kids: []*syntax.Expression{{Form: syntax.OtherForm}}}))
				continue
			case b.Shape == object.IsSymbol && library.DangerousModules[b.Text]:
				w.dynamic()
			}
			out = out.With(object.Objects{{Shape: object.IsInstance, Text: "getattr"}})
		}
	}
	return out
}

func (w *walk) doEnviron(d library.Behaviour, c *object.Call) object.Objects {
	switch d.Kind {
	case library.DoesGetenv:
		names, _ := c.Arg(0, "key")
		vs := w.environment(names)
		if name, ok := names.Only(); ok && c.Name == "os.environ.setdefault" {
			w.setVariable(name, w.optional(c, 1))
		}
		return vs.With(w.optional(c, 1))
	case library.DoesEnvironAll:
		w.note(&w.notes.variables, "*")
		return object.Hidden("value", value.Taint{Environ: true})
	case library.DoesEnviron:
		return object.SymbolOf("os.environ")
	case library.DoesEnvironSet:
		w.setEnviron(c)
	}
	return object.Hidden("value", value.Taint{})
}

func (w *walk) setEnviron(c *object.Call) {
	for name, vs := range c.Named() {
		w.setVariable(name, vs)
	}
	var second object.Objects
	if len(c.Args) > 1 {
		second = c.Args[1]
	}
	for _, v := range c.First() {
		if name, ok := (object.Objects{v}).Only(); ok {
			w.setVariable(name, second)
		}
		for i := 0; v.Shape == object.IsDict && i+1 < len(v.Items); i += 2 {
			if name, ok := v.Items[i].Only(); ok {
				w.setVariable(name, v.Items[i+1])
			}
		}
	}
}

// setVariable notes a variable of the environment that is set.
func (w *walk) setVariable(name string, vs object.Objects) {
	w.note(&w.notes.assigns, name)
	for _, text := range vs.Strs() {
		w.note(&w.notes.settings, name+"="+value.Cut(text.Str(), value.MaxSetting))
	}
}
