// Package output is what a call writes to its standard output, as far as the text tells: echo, printf, cat, decoders, filters, and
// the programs that write names of files.
//
// Not here: programs whose output depends on what they start (package grammars).
package output

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/overlay"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Printer tells what a program writes, as far as the text tells.
type Printer struct {
	*overlay.FS
	Entry *programs.Entry
	// Escapes says that "echo" takes backslashes for escapes.
	Escapes bool
}

// Output is what a call writes.
func (pr *Printer) Output(name string, inv *call.Invocation, args *call.Arguments) word.Stream {
	in := inv.In
	switch name {
	case "echo":
		return pr.echoText(inv)
	case "printf":
		return PrintfText(args.Operands)
	case "pwd":
		return word.Stream{Present: true, Text: inv.Scope.Folder, Known: inv.Scope.Folder != ""}
	case "cat", "tee":
		return pr.catText(name, inv, args)
	case "basename", "dirname":
		return pathPart(name, args)
	}
	if s, ok := pr.lists(inv, args); ok {
		return s
	}
	switch pr.Entry.Own.Output {
	case programs.FromNetwork:
		return pr.downloadText()
	case programs.Decoded:
		return decoderText(name, pr.inputOf(inv, args), args)
	}
	return word.Unknown(in.Taint.With(pr.inputTaint(inv, args)))
}

func (pr *Printer) echoText(inv *call.Invocation) word.Stream {
	words := inv.Argv[1:]
	newline, escapes := "\n", false
	for len(words) > 0 && len(words[0].Text) > 1 && words[0].Text[0] == '-' && strings.Trim(words[0].Text[1:], "neE") == "" {
		if strings.Contains(words[0].Text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(words[0].Text, "e")
		words = words[1:]
	}
	w := word.Join(words, " ")
	if escapes && w.Known {
		if text, _, err := expand.Format(new(expand.Config), w.Text, nil); err == nil {
			w.Text = text
		}
	} else if strings.Contains(w.Text, `\`) && (pr.Escapes || slices.ContainsFunc(inv.Wrappers, readsEscapes)) {
		w.Known = false
	}
	return word.Stream{Present: true, Text: w.Text + newline, Known: w.Known, Taint: w.Taint}
}

// readsEscapes says that a program is a shell whose "echo" may take backslashes for escapes without an option.
func readsEscapes(name string) bool {
	return name != "bash" && programs.Of(name).Language == "shell"
}

// PrintfText is what printf prints of its words.
func PrintfText(words []word.Word) word.Stream {
	all := word.Join(words, " ")
	s := word.Stream{Present: true, Taint: all.Taint}
	if !all.Known || len(words) == 0 {
		return s
	}
	if slices.ContainsFunc(words, func(w word.Word) bool { return w.Home }) && shortened.MatchString(words[0].Text) {
		return s
	}
	if wide(words[0].Text) {
		s.Truncated = true
		return s
	}
	format, args := words[0].Text, word.Texts(words[1:])
	for {
		// Without a configuration of its own, calls would share one text under way.
		text, used, err := expand.Format(new(expand.Config), format, args)
		if err != nil || len(s.Text)+len(text) > word.MaxValue {
			s.Text, s.Truncated = "", err == nil
			return s
		}
		s.Text += text
		if args = args[used:]; used == 0 || len(args) == 0 {
			break
		}
	}
	s.Known = true
	return s
}

// shortened are formats that keep a part of a text, or measure it.
var shortened = regexp.MustCompile(`%[^%sb]`)

// wide says whether a format asks for more columns than a text needs.
func wide(format string) bool {
	digits := 0
	for i := 0; i < len(format); i++ {
		if format[i] < '0' || format[i] > '9' {
			digits = 0
			continue
		}
		if digits++; digits > 3 {
			return true
		}
	}
	return false
}

// catText is what cat and tee hand on.
func (pr *Printer) catText(name string, inv *call.Invocation, args *call.Arguments) word.Stream {
	if name == "tee" {
		for _, w := range args.Operands {
			pr.Write(pr.Path(w, inv.Scope), inv.In, args.Has("-a", "--append"))
		}
		return inv.In
	}
	if len(args.Operands) == 0 {
		if !inv.In.Present {
			return word.Unknown(value.Taint{})
		}
		return inv.In
	}
	if len(args.Operands) == 1 {
		return pr.Source(args.Operands[0], inv.In, inv.Scope)
	}
	var all word.Stream
	for _, w := range args.Operands {
		all = all.Then(pr.Source(w, inv.In, inv.Scope))
	}
	return all
}

// inputOf is what a filter reads: its first file, or its standard input.
func (pr *Printer) inputOf(inv *call.Invocation, args *call.Arguments) word.Stream {
	if in, ok := args.Value("-in", "-i"); ok {
		return pr.Source(in, inv.In, inv.Scope)
	}
	for _, w := range args.Operands {
		if s, ok := pr.Content(w, inv.In, inv.Scope, inv.Scope); ok {
			return s
		}
	}
	return inv.In
}

func (pr *Printer) inputTaint(inv *call.Invocation, args *call.Arguments) value.Taint {
	var t value.Taint
	for _, w := range args.Operands {
		if w.Source != nil {
			t = t.With(w.Source.Taint)
		} else if pr.HasWrites() {
			t = t.With(pr.WrittenText(pr.Path(w, inv.Scope)).Taint)
		}
	}
	return t
}

// downloadText is what comes from the network; the file it goes to is remembered.
func (pr *Printer) downloadText() word.Stream {
	s := word.Unknown(value.Taint{Fetched: true})
	if len(pr.Calls) > 0 && pr.Entry.Own.Saves {
		last := pr.Calls[len(pr.Calls)-1]
		for _, p := range last.Writes {
			pr.Write(p, s, false)
			for _, from := range last.Operands {
				pr.writeInto(p, from, s)
			}
		}
	}
	return s
}

// writeInto remembers what comes of another host's file, if a path turns out to be that of a folder.
func (pr *Printer) writeInto(folder, from string, s word.Stream) {
	_, file, _ := strings.Cut(from, ":")
	if _, isElsewhere := value.RemotePath(from); isElsewhere && pr.Entry.Own.Operands == programs.Remote && path.Base(file) != "." {
		pr.Write(path.Join(folder, path.Base(file)), s, false)
	}
}

// decoderText undoes what a decoder undoes, where its input is known.
func decoderText(name string, in word.Stream, args *call.Arguments) word.Stream {
	decodes, undo := decoder(name, args)
	out := word.Stream{Present: true, Truncated: in.Truncated, Taint: in.Taint}
	if !decodes {
		if undo == nil || !in.Known {
			return out
		}
	} else {
		out.Decoded = true
	}
	if in.Known && undo != nil && !strings.Contains(in.Text, "~") { // which may be the home folder's
		if text, err := undo(in.Text); err == nil && len(text) <= word.MaxValue && !strings.Contains(text, "\x00") {
			out.Text, out.Known = text, true
		}
	}
	return out
}

// decoder says whether the call decodes, and how; nil if that is not known here.
func decoder(name string, args *call.Arguments) (decodes bool, undo func(string) (string, error)) {
	d := args.Has("-d", "-D", "--decode", "--decompress", "-dc")
	switch name {
	case "base64":
		if !d {
			return false, func(s string) (string, error) { return base64.StdEncoding.EncodeToString([]byte(s)) + "\n", nil }
		}
		return true, fromBase64
	case "base32":
		return d, fromBase32
	case "basenc", "uudecode":
		return true, nil
	case "xxd":
		if args.Has("-r") {
			return true, fromHex
		}
		return false, nil
	case "rev":
		return true, revText
	case "tr":
		return true, func(s string) (string, error) { return trText(s, args) }
	case "openssl":
		return d, opensslDecoder(args)
	case "gunzip", "zcat":
		return true, gunzipText
	case "gzip":
		return d, gunzipText
	case "bzcat", "xzcat", "bunzip2", "unxz":
		return true, nil
	}
	return d, nil
}

func opensslDecoder(args *call.Arguments) func(string) (string, error) {
	if args.Has("-base64", "-a") || word.First(args.Operands).Text == "base64" {
		return fromBase64
	}
	return nil
}

func fromBase64(s string) (string, error) {
	s = strings.Join(strings.Fields(s), "")
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return string(b), err
}

func fromBase32(s string) (string, error) {
	s = strings.Join(strings.Fields(s), "")
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(s, "="))
	return string(b), err
}

func fromHex(s string) (string, error) {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	return string(b), err
}

func revText(s string) (string, error) {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		r := []rune(l)
		for x, y := 0, len(r)-1; x < y; x, y = x+1, y-1 {
			r[x], r[y] = r[y], r[x]
		}
		lines[i] = string(r)
	}
	return strings.Join(lines, "\n"), nil
}

func gunzipText(s string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(s))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(r, word.MaxValue+1))
	return b.String(), err
}
