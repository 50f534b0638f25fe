package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// tarArguments reads "tar xzf a.tgz" as "tar -xzf a.tgz".
func tarArguments(words []word, p *programs.Program) *arguments {
	if len(words) > 0 && !strings.HasPrefix(words[0].text, "-") {
		words = append([]word{part(words[0], "-"+words[0].text)}, words[1:]...)
	}
	return parseArguments(words, p)
}

// tar runs what its checkpoint and filter options name.
func (rd *reader) tar(_ string, inv *invocation, args *arguments) (result, bool) {
	for _, o := range args.options {
		code := o.value
		switch o.name {
		case "--checkpoint-action":
			text, ok := strings.CutPrefix(code.text, "exec=")
			if !ok {
				continue
			}
			code.text = text
		case "--to-command", "--use-compress-program", "-I", "--rsh-command", "-F", "--info-script", "--new-volume-script":
		default:
			continue
		}
		rd.text("tar", inv, code, inv.sc.fork())
	}
	if extracting(args) {
		rd.untar(inv, args)
	}
	return result{out: unknown(inv.in.Taint)}, true
}

// untar follows "tar x" of a file or of its input.
func (rd *reader) untar(inv *invocation, args *arguments) {
	dir, given := args.value("-C", "--directory")
	archive := inv.in
	if file, ok := args.value("-f", "--file"); ok && file.text != "-" {
		archive = rd.stored(file, inv.sc)
	}
	rd.extracts(inv, archive, dir, given)
}

// tar writes what it creates, and the folder that it extracts to.
func tarEffects(e *effect, _ string) {
	ops := e.args.operands
	file, ok := e.args.value("-f", "--file")
	dir, inDir := e.args.value("-C", "--directory")
	if extracting(e.args) || e.args.has("--list", "-t") {
		if ok {
			e.read(file)
		}
		if inDir {
			e.write(dir)
		} else if extracting(e.args) {
			e.write(known("."))
		}
		return
	}
	if ok {
		e.write(file)
	}
	if inDir {
		e.read(dir)
	}
	e.read(ops...)
}

// extracting says whether tar unpacks an archive.
func extracting(args *arguments) bool {
	return args.has("-x", "--extract", "--get") && !args.has("-c", "--create")
}

// extracts follows an archive from the network into the folder that gets its files.
func (rd *reader) extracts(inv *invocation, archive stream, folder word, given bool) {
	if !archive.Fetched {
		return
	}
	if !given {
		folder = known(".")
	}
	rd.unpack(rd.path(folder, inv.sc), !given)
}
