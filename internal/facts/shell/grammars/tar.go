package grammars

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// tarArguments reads "tar xzf a.tgz" as "tar -xzf a.tgz".
func tarArguments(words []word.Word, p *programs.Program) *call.Arguments {
	if len(words) > 0 && !strings.HasPrefix(words[0].Text, "-") {
		words = append([]word.Word{word.Part(words[0], "-"+words[0].Text)}, words[1:]...)
	}
	return call.ParseArguments(words, p)
}

// tar runs what its checkpoint and filter options name.
func (rd *Reader) tar(_ string, inv *call.Invocation, args *call.Arguments) (call.Result, bool) {
	for _, o := range args.Options {
		code := o.Value
		switch o.Name {
		case "--checkpoint-action":
			text, ok := strings.CutPrefix(code.Text, "exec=")
			if !ok {
				continue
			}
			code.Text = text
		case "--to-command", "--use-compress-program", "-I", "--rsh-command", "-F", "--info-script", "--new-volume-script":
		default:
			continue
		}
		rd.Text("tar", inv, code, inv.Scope.Fork())
	}
	if isExtraction(args) {
		rd.untar(inv, args)
	}
	return call.Result{Out: word.Unknown(inv.In.Taint)}, true
}

// untar follows "tar x" of a file or of its input.
func (rd *Reader) untar(inv *call.Invocation, args *call.Arguments) {
	dir, given := args.Value("-C", "--directory")
	archive := inv.In
	if file, ok := args.Value("-f", "--file"); ok && file.Text != "-" {
		archive = rd.Stream(file, inv.Scope)
	}
	rd.extracts(inv, archive, dir, given)
}

// tarEffects: tar writes what it creates, and the folder that it extracts to.
func tarEffects(e *effects.Collector, _ string) {
	ops := e.Args.Operands
	file, ok := e.Args.Value("-f", "--file")
	dir, inDir := e.Args.Value("-C", "--directory")
	if isExtraction(e.Args) || e.Args.Has("--list", "-t") {
		if ok {
			e.Read(file)
		}
		if inDir {
			e.Write(dir)
		} else if isExtraction(e.Args) {
			e.Write(word.Of("."))
		}
		return
	}
	if ok {
		e.Write(file)
	}
	if inDir {
		e.Read(dir)
	}
	e.Read(ops...)
}

// isExtraction says whether tar unpacks an archive.
func isExtraction(args *call.Arguments) bool {
	return args.Has("-x", "--extract", "--get") && !args.Has("-c", "--create")
}

// extracts follows an archive from the network into the folder that gets its files.
func (rd *Reader) extracts(inv *call.Invocation, archive word.Stream, folder word.Word, given bool) {
	if !archive.Fetched {
		return
	}
	if !given {
		folder = word.Of(".")
	}
	rd.Unpack(rd.Path(folder, inv.Scope), !given)
}
