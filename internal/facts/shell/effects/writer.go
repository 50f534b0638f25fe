package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Writer keeps the files of the overlay as calls change them: what they copy, link, unpack and compile.
type Writer struct {
	*overlay.FS
	*call.Directory
}

// NewWriter keeps the files of an overlay.
func NewWriter(fs *overlay.FS, d *call.Directory) Writer { return Writer{FS: fs, Directory: d} }

// NoteSources notes what a call puts into the files that it writes.
func (wr *Writer) NoteSources(inv *call.Invocation, name string, args *call.Arguments, c *value.Call) {
	if len(c.Writes) == 0 && len(args.Operands) == 0 {
		return
	}
	fills, args := wr.fillsOf(name, args)
	switch {
	case fills == programs.Copied && len(c.Writes) > 0:
		words, to, _ := args.Destination()
		var from []string
		for _, w := range words {
			from = append(from, wr.FileAt(w, inv.Scope))
		}
		wr.Transfer(wr.Path(to, inv.Scope), from, overlay.Copied)
	case fills == programs.Copied:
	case fills == programs.Parts || fills == programs.Expanded:
		wr.noteParts(fills, inv, args)
	default:
		if fills == programs.Compiled {
			wr.noteBuilds(inv, args, c)
		}
		wr.noteInputs(inv, name, fills, c)
	}
}

// noteBuilds notes the programs that a compiler makes of sources that the text wrote, which no reader here understands.
func (wr *Writer) noteBuilds(inv *call.Invocation, args *call.Arguments, c *value.Call) {
	isWritten := func(file string) bool { return languages.IsCompiled(file) && wr.IsWritten(file) }
	sources := wr.Paths(args.Operands, inv.Scope)
	switch {
	case slices.ContainsFunc(sources, isWritten):
		wr.Build(slices.Concat(c.Writes, wr.Paths(compilerOutputs(args), inv.Scope))...)
	case word.First(args.Operands).Text == "build" && slices.ContainsFunc(wr.WrittenPaths(), isWritten):
		wr.Build(append(slices.Clone(c.Writes), "")...)
	}
}

// compilerOutputs are the files that a compiler may write: those that an option has in one word with itself, as in "-oNAME" and "-of=NAME",
// and those that it names after its sources, beside them or in the current folder.
func compilerOutputs(args *call.Arguments) []word.Word {
	all := []word.Word{word.Of("a.out")}
	for _, w := range args.Operands {
		stem := word.Part(w, strings.TrimSuffix(w.Text, path.Ext(w.Text)))
		all = append(all, stem, word.Part(stem, path.Base(stem.Text)))
	}
	for _, w := range args.All {
		attached, _ := strings.CutPrefix(w.Text, "-o")
		for _, before := range []string{"", "f", "=", "f=", "ut:"} {
			if file, ok := strings.CutPrefix(attached, before); ok && attached != w.Text && file != "" {
				all = append(all, word.Part(w, file))
			}
		}
	}
	return all
}

// noteInputs notes what the files that a call writes may be made of: those that it reads, and
// those that the pipe before it reads.
func (wr *Writer) noteInputs(inv *call.Invocation, name string, fills programs.Fills, c *value.Call) {
	if len(c.Writes) == 0 {
		return
	}
	kind := overlay.Written
	switch fills {
	case programs.Unpacked:
		kind = overlay.UnpackedInto
	case programs.Compiled:
		kind = overlay.CompiledFrom
	}
	from := slices.Clone(c.Reads)
	for i := wr.Piped; i < len(wr.Calls)-1 && wr.Aside > 0 && wr.Spend(1); i++ {
		from = append(from, wr.Calls[i].Reads...)
	}
	if len(from) == 0 && !wr.hasHiddenEdits(name) {
		return
	}
	here := wr.Path(word.Of("."), inv.Scope)
	for _, to := range c.Writes {
		if kind == overlay.UnpackedInto && to == here {
			wr.Transfer(to, from, overlay.UnpackedBeside)
			continue
		}
		wr.Transfer(to, from, kind)
	}
}

// fillsOf says how a call fills the files that it writes, and the words that name them.
func (wr *Writer) fillsOf(name string, args *call.Arguments) (programs.Fills, *call.Arguments) {
	fills := wr.About(name).Own.Fills
	if args.Verb == nil {
		return fills, args
	}
	if fills = args.Verb.Own.Fills; fills == "" {
		return "", args
	}
	verb := *args
	verb.Operands = args.Operands[1:]
	return fills, &verb
}

// noteParts notes what a program makes of the files that it is given, beside those that it names
// as written: unpacked files, parts of a file, files that lose their ending.
func (wr *Writer) noteParts(fills programs.Fills, inv *call.Invocation, args *call.Arguments) {
	if fills == programs.Parts {
		prefix := word.Of("x")
		if len(args.Operands) > 1 {
			prefix = args.Operands[1]
		}
		if w, ok := args.Value("-f", "--prefix"); ok {
			prefix = w
		}
		from := overlay.SourcesOf(wr.FileAt(word.First(args.Operands), inv.Scope))
		parts := wr.Path(prefix, inv.Scope)
		wr.Transfer(path.Dir(parts), from, overlay.Divided)
		wr.Transfer(parts+"*", from, overlay.Written)
		return
	}
	for _, w := range args.Operands {
		if p := wr.Path(w, inv.Scope); p != "" {
			wr.Rewrite(strings.TrimSuffix(p, path.Ext(p)), wr.FileAt(w, inv.Scope))
		}
	}
}

// hasHiddenEdits says that a program writes into files what no description tells.
func (wr *Writer) hasHiddenEdits(name string) bool {
	p := wr.About(name)
	kind := p.Described.Operands
	return wr.At.Contents != nil && (!p.Explained || kind == programs.First || kind == programs.Script || p.Language != "")
}

// NoteLinks notes the links that a call makes, at the name that it gives and below it, since that may
// be a folder.
func (wr *Writer) NoteLinks(inv *call.Invocation, name string, args *call.Arguments) {
	made := wr.About(name).Own.Links
	if len(made) == 0 || !slices.Contains(made, "always") && !args.Has(made...) {
		return
	}
	words, to, _ := args.Destination()
	for _, w := range words {
		target := w
		if args.Has("-s", "--symbolic", "--symbolic-link") && !word.IsRooted(w.Text) && to.Text != "" {
			target = word.Part(w, path.Join(path.Dir(to.Text), w.Text))
		}
		link := wr.Path(to, inv.Scope)
		if to.Text == "" {
			link = wr.At.Path(path.Base(w.Text), inv.Scope.Folder)
		} else {
			wr.Link(path.Join(link, path.Base(w.Text)), wr.Path(target, inv.Scope))
		}
		wr.Link(link, wr.Path(target, inv.Scope))
	}
}

// NoteContents remembers the content of the files that a call writes: copies of files that the text wrote,
// or its input. A file that gets the input in another form is not known.
func (wr *Writer) NoteContents(name string, inv *call.Invocation, args *call.Arguments) {
	if inv.Number == 0 || inv.Number > len(wr.Calls) {
		return
	}
	p := wr.About(name).Own
	fills, args := wr.fillsOf(name, args)
	switch {
	case fills == programs.Copied:
		wr.copyFiles(inv, args)
	case fills == programs.FromInput:
		for _, w := range args.Operands {
			wr.Write(wr.Path(w, inv.Scope), inv.In, args.Has("-a", "--append"))
		}
	case p.Grammar == "dd":
		wr.copyBlocks(inv, args)
	case p.Language == "" && (p.Input == "" || !call.TakesInput(p, args)) && name != "tee" &&
		inv.In.Present && inv.In.Path == "" && inv.In.File == "":
		for _, written := range wr.Calls[inv.Number-1].Writes {
			if !slices.Contains(inv.Redirections.Writes, written) {
				wr.Write(written, word.Unknown(inv.In.Taint), false)
			}
		}
	}
}

// copyFiles follows the files that the text wrote and "cp" or its like copies.
func (wr *Writer) copyFiles(inv *call.Invocation, args *call.Arguments) {
	words, to, into := args.Destination()
	for _, w := range words {
		s, ok := wr.Content(w, inv.In, inv.Scope, inv.Scope)
		if !ok || to.Text == "" {
			continue
		}
		target := wr.Path(to, inv.Scope)
		if !into {
			wr.Write(target, s, false)
		}
		wr.Write(path.Join(target, path.Base(w.Text)), s, false)
	}
}

// copyBlocks follows the file that "dd" copies. With options that leave parts out it is unknown.
func (wr *Writer) copyBlocks(inv *call.Invocation, args *call.Arguments) {
	from, to := inv.In, ""
	for _, w := range args.Operands {
		name, rest, _ := strings.Cut(w.Text, "=")
		switch name {
		case "if":
			from = wr.Source(word.Part(w, rest), inv.In, inv.Scope)
		case "of":
			to = wr.Path(word.Part(w, rest), inv.Scope)
		case "conv", "skip", "seek", "count", "iseek", "oseek":
			from = word.Unknown(from.Taint)
		}
	}
	if from.Present && (from.Path == "" || from.OnDisk) {
		wr.Write(to, from, false)
	}
}
