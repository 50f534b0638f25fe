package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// runsFile notes that the file a word names is run, and returns its path.
func (a *analysis) runsFile(w word, sc *scope) string {
	p := a.path(w, sc)
	a.runs(p, a.fileAt(w, sc))
	if slices.Contains(a.built, "") && !rooted(w.text) && !a.holdsText(p) {
		a.hide()
	}
	if p != "" && !rooted(w.text) && !sc.astray && len(sc.mounts) == 0 {
		for _, folder := range sc.former {
			elsewhere := *sc
			elsewhere.cwd = folder
			a.runsPath(a.fileAt(w, &elsewhere))
		}
	}
	return p
}

// holdsText says that the text wrote a file, so that it is read.
func (fs *overlay) holdsText(p string) bool {
	_, ok := fs.contents[p]
	return ok
}

// runs notes a file that is run, by its path and as it is to be opened.
func (fs *overlay) runs(p, file string) {
	if p == "" {
		return
	}
	fs.runsPath(file)
	if fs.downloaded(p) {
		fs.ran(value.Taint{Fetched: true})
	}
}

// runsPath notes a file that is run. One that a file names in a way which leaves it open
// is only looked for: it may be any.
func (fs *overlay) runsPath(file string) {
	if len(fs.within) > 0 && (strings.Contains(file, "$") || wild(file) || strings.HasPrefix(file, `\`)) {
		fs.sought = append(fs.sought, file)
		return
	}
	fs.files = append(fs.files, file)
	if above := fs.aboveMade(file); above != file {
		fs.files = append(fs.files, above)
	}
}

// fileAt is a word as the system resolves it, see [Command.Files]: what
// "sub/.." is only the file system knows, since sub may be a link.
func (fs *overlay) fileAt(w word, sc *scope) string {
	p := w.text
	if below, here := strings.CutPrefix(p, "/proc/self/cwd/"); here { // the folder of the program that opens it
		p = below
	}
	switch {
	case p == "" || w.source != nil:
		return ""
	case len(sc.mounts) > 0:
		return fs.path(w, sc)
	case strings.HasPrefix(p, "~") && !w.home:
		return `\` + p
	case rooted(p) || strings.HasPrefix(p, "$"):
		return value.Tidy(p)
	case sc.astray:
		return value.Tidy("$PWD/" + path.Join(sc.cwd, ".") + "/" + p)
	case sc.cwd == "":
		return value.Tidy(p)
	}
	return value.Tidy(sc.cwd + "/" + p)
}

// aboveMade is a path without the folders that the text writes and a ".." behind them: such a folder may not be there yet
// when the file is looked at. It is the path itself where there are none.
func (fs *overlay) aboveMade(p string) string {
	parts := strings.Split(p, "/")
	for i := 1; i < len(parts); i++ {
		if folder := strings.Join(parts[:i], "/"); parts[i] == ".." && i > 1 && parts[i-1] != ".." && fs.writesIn(folder) {
			parts, i = slices.Delete(parts, i-1, i+1), max(0, i-2)
		}
	}
	return strings.Join(parts, "/")
}

// writesIn says that the text writes a folder, or something in it.
func (fs *overlay) writesIn(folder string) bool {
	folder = fs.at.Path(folder, "")
	return slices.ContainsFunc(fs.writes, func(w string) bool { return w == folder || strings.HasPrefix(w, folder+"/") })
}

// rooted says that a path does not depend on the working directory.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || p == "~" || strings.HasPrefix(p, "~/")
}

// standing is a scope that a program starts in a folder: only the file system
// knows what ".." is there.
func (fs *overlay) standing(folder word, sc *scope) *scope {
	in := sc.fork()
	in.astray = sc.astray && !rooted(folder.text)
	if in.cwd = fs.fileAt(folder, sc); in.astray {
		in.cwd = fs.path(folder, sc)
	}
	return in
}

// runsOptions notes the files that options name.
func (a *analysis) runsOptions(name string, inv *invocation, args *arguments) {
	if len(args.options) == 0 {
		return
	}
	options := a.about(name).Own.Runs
	if options == nil {
		options = programs.Of(programs.Family(name)).Runs
	}
	for _, o := range args.options {
		if !slices.Contains(options, o.name) || a.isInput(o.value, inv.sc) {
			continue
		}
		a.runsNamed(name, o.value, inv)
		if strings.Contains(o.value.text, ":") { // a path of several
			for file := range strings.SplitSeq(o.value.text, ":") {
				a.runsNamed(name, part(o.value, file), inv)
			}
		}
	}
}

// runsProject notes the files that programs look for in the folder of a project.
func (a *analysis) runsProject(name string, inv *invocation, args *arguments) {
	if p := a.about(name).Own; p.Project != "" {
		there := *inv
		sc, given := a.projectOf(p, inv, args)
		there.sc = sc
		switch first(given.operands).text {
		case "run", "run-script", "test", "t", "start", "build", "install", "i", "ci", "update", "dump-autoload":
			a.runsAny(sc, p.Project)
		}
		a.projectScripts(name, p.Project, &there, given)
	}
	if files := grammarOf(a.about(name).Own.Grammar).files; files != nil {
		files(a, name, inv, args)
	}
}

// runsAny notes files of which the first that is there is run, as part of a project
// like any other.
func (fs *overlay) runsAny(sc *scope, names ...string) {
	for _, name := range names {
		fs.files = append(fs.files, fs.fileAt(known(name), sc))
	}
}

// programFile is the word that names the file which an interpreter runs.
func (a *analysis) programFile(name string, inv *invocation, args *arguments) word {
	words := args.operands
	project := a.about(name).Own.Project
	if project == "" || first(words).text != "run" {
		return first(words)
	}
	for words = words[1:]; strings.HasPrefix(first(words).text, "-"); words = words[1:] {
		if first(words).text == "-" {
			break
		}
	}
	a.runsAny(inv.sc, project)
	return first(words)
}

// transfer is content that goes from files to a path.
type transfer struct {
	from []string
	kind transferKind
}

type transferKind int

const (
	// written: the path itself gets the content.
	written transferKind = iota
	// copied: files below the path get that of the files below from.
	copied
	// unpackedInto: files below the path are made of from.
	unpackedInto
	// compiledFrom: the path itself is machine code, made of from.
	compiledFrom
)

// transfer notes what a call puts into the files that it writes.
func (a *analysis) transfer(inv *invocation, name string, args *arguments, c *value.Call) {
	if len(c.Writes) == 0 && len(args.operands) == 0 {
		return
	}
	fills, args := a.fillsOf(name, args)
	switch {
	case fills == programs.Copied && len(c.Writes) > 0:
		words, to, _ := args.destination()
		var from []string
		for _, w := range words {
			from = append(from, a.fileAt(w, inv.sc))
		}
		a.transferTo(a.path(to, inv.sc), transfer{from, copied})
	case fills == programs.Copied:
	case fills == programs.Parts || fills == programs.Expanded:
		a.spread(fills, inv, args)
	default:
		if fills == programs.Compiled {
			a.builds(inv, args, c)
		}
		a.writtenBy(name, fills, c)
	}
}

// builds notes the programs that a compiler makes of sources that the text wrote, which no reader here understands.
func (fs *overlay) builds(inv *invocation, args *arguments, c *value.Call) {
	isWritten := func(file string) bool { return compiledSources[path.Ext(file)] && fs.holdsText(file) }
	sources := fs.pathsOf(args.operands, inv.sc)
	switch {
	case slices.ContainsFunc(sources, isWritten):
		fs.built = union(fs.built, slices.Concat(c.Writes, fs.pathsOf(compilerOutputs(args), inv.sc)))
	case first(args.operands).text == "build" && slices.ContainsFunc(sortedKeys(fs.contents), isWritten):
		fs.built = union(fs.built, append(slices.Clone(c.Writes), ""))
	}
}

// compilerOutputs are the files that a compiler may write: those that an option has in one word with itself, as in "-oNAME" and "-of=NAME",
// and those that it names after its sources, beside them or in the current folder.
func compilerOutputs(args *arguments) []word {
	all := []word{known("a.out")}
	for _, w := range args.operands {
		stem := part(w, strings.TrimSuffix(w.text, path.Ext(w.text)))
		all = append(all, stem, part(stem, path.Base(stem.text)))
	}
	for _, w := range args.all {
		attached, _ := strings.CutPrefix(w.text, "-o")
		for _, before := range []string{"", "f", "=", "f=", "ut:"} {
			if file, ok := strings.CutPrefix(attached, before); ok && attached != w.text && file != "" {
				all = append(all, part(w, file))
			}
		}
	}
	return all
}

func (fs *overlay) pathsOf(words []word, sc *scope) []string {
	var all []string
	for _, w := range words {
		all = append(all, fs.path(w, sc))
	}
	return all
}

// writtenBy notes what the files that a call writes may be made of: those that it reads, and
// those that the pipe before it reads.
func (a *analysis) writtenBy(name string, fills programs.Fills, c *value.Call) {
	if len(c.Writes) == 0 {
		return
	}
	kind := written
	switch fills {
	case programs.Unpacked:
		kind = unpackedInto
	case programs.Compiled:
		kind = compiledFrom
	}
	from := slices.Clone(c.Reads)
	for i := a.piped; i < len(a.calls)-1 && a.aside > 0 && a.spend(1); i++ {
		from = append(from, a.calls[i].Reads...)
	}
	if len(from) == 0 && !a.editsUnseen(name) {
		return
	}
	for _, to := range c.Writes {
		a.transferTo(to, transfer{from, kind})
	}
}

// transferTo notes a transfer. One from no file counts only where files were found.
func (fs *overlay) transferTo(to string, t transfer) {
	if to == "" || len(t.from) == 0 && fs.at.Contents == nil {
		return
	}
	if fs.transfers == nil {
		fs.transfers = map[string][]transfer{}
	}
	fs.transfers[to] = append(fs.transfers[to], t)
}

// runsSources adds the files whose content the text puts into those that it runs, and notes that one of them is from the network.
func (fs *overlay) runsSources() {
	if len(fs.transfers)+len(fs.contents) == 0 {
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(fs.files); i++ {
		if seen[fs.files[i]] {
			continue
		}
		seen[fs.files[i]] = true
		at := fs.at.Path(fs.files[i], "")
		fs.ran(value.Taint{Fetched: fs.contents[at].Fetched})
		if slices.Contains(fs.built, at) {
			fs.hide()
		}
		upwards(at, func(to, below string) bool {
			fs.filled(to, below)
			return fs.spend(1)
		})
	}
}

// reaches says that a transfer may fill what lies below its path.
func (t transfer) reaches(below string) bool {
	return below == "" || t.kind == copied || t.kind == unpackedInto
}

// filled adds what the file below a path, or the path itself, is made of.
func (fs *overlay) filled(to, below string) {
	for _, t := range fs.transfers[to] {
		if !t.reaches(below) {
			continue
		}
		for _, from := range t.from {
			if t.kind == copied {
				from = sourceOf(from, below)
			}
			if !fs.spend(1) || len(fs.files) > maxFields {
				fs.complete = false
				return
			}
			fs.files = append(fs.files, from)
		}
	}
}

// sourceOf is the file that becomes the one below a folder, when from is copied there.
func sourceOf(from, below string) string {
	switch rest, ok := strings.CutPrefix(below, path.Base(from)); {
	case below == "" || ok && rest == "":
		return from
	case ok && rest[0] == '/':
		return from + rest
	}
	return from + "/" + below
}
