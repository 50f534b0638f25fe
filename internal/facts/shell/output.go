package shell

import (
	"bytes"
	"compress/gzip"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// printer tells what a program writes, as far as the text tells.
type printer struct {
	*overlay
	entry *programs.Entry
	// escapes says that "echo" takes backslashes for escapes.
	escapes bool
}

// output is what a call writes.
func (pr *printer) output(name string, inv *invocation, args *arguments) stream {
	in := inv.in
	switch name {
	case "echo":
		return pr.echoed(inv)
	case "printf":
		return printed(args.operands)
	case "pwd":
		return stream{present: true, text: inv.sc.cwd, known: inv.sc.cwd != ""}
	case "cat", "tee":
		return pr.copied(name, inv, args)
	case "basename", "dirname":
		return pathPart(name, args)
	}
	if s, ok := pr.lists(inv, args); ok {
		return s
	}
	switch pr.entry.Own.Output {
	case programs.FromNetwork:
		return pr.fetched()
	case programs.Decoded:
		return decoded(name, pr.inputOf(inv, args), args)
	}
	return unknown(in.Taint.With(pr.inputTaint(inv, args)))
}

func (pr *printer) echoed(inv *invocation) stream {
	words := inv.argv[1:]
	newline, escapes := "\n", false
	for len(words) > 0 && len(words[0].text) > 1 && words[0].text[0] == '-' && strings.Trim(words[0].text[1:], "neE") == "" {
		if strings.Contains(words[0].text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(words[0].text, "e")
		words = words[1:]
	}
	w := join(words, " ")
	if escapes && w.known {
		if text, _, err := expand.Format(new(expand.Config), w.text, nil); err == nil {
			w.text = text
		}
	} else if strings.Contains(w.text, `\`) && (pr.escapes || slices.ContainsFunc(inv.wrappers, readsEscapes)) {
		w.known = false
	}
	return stream{present: true, text: w.text + newline, known: w.known, Taint: w.Taint}
}

// readsEscapes says that a program is a shell whose "echo" may take backslashes for escapes without an option.
func readsEscapes(name string) bool {
	return name != "bash" && programs.Of(name).Language == "shell"
}

func printed(words []word) stream {
	all := join(words, " ")
	s := stream{present: true, Taint: all.Taint}
	if !all.known || len(words) == 0 {
		return s
	}
	if slices.ContainsFunc(words, func(w word) bool { return w.home }) && shortened.MatchString(words[0].text) {
		return s
	}
	if wide(words[0].text) {
		s.over = true
		return s
	}
	format, args := words[0].text, texts(words[1:])
	for {
		// Without a configuration of its own, calls would share one text under way.
		text, used, err := expand.Format(new(expand.Config), format, args)
		if err != nil || len(s.text)+len(text) > maxValue {
			s.text, s.over = "", err == nil
			return s
		}
		s.text += text
		if args = args[used:]; used == 0 || len(args) == 0 {
			break
		}
	}
	s.known = true
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

// copied is what cat and tee hand on.
func (pr *printer) copied(name string, inv *invocation, args *arguments) stream {
	if name == "tee" {
		for _, w := range args.operands {
			pr.keep(pr.path(w, inv.sc), inv.in, args.has("-a", "--append"))
		}
		return inv.in
	}
	if len(args.operands) == 0 {
		if !inv.in.present {
			return unknown(value.Taint{})
		}
		return inv.in
	}
	if len(args.operands) == 1 {
		return pr.fileStream(args.operands[0], inv.in, inv.sc)
	}
	var all stream
	for _, w := range args.operands {
		all = all.then(pr.fileStream(w, inv.in, inv.sc))
	}
	return all
}

// inputOf is what a filter reads: its first file, or its standard input.
func (pr *printer) inputOf(inv *invocation, args *arguments) stream {
	if in, ok := args.value("-in", "-i"); ok {
		return pr.fileStream(in, inv.in, inv.sc)
	}
	for _, w := range args.operands {
		if s, ok := pr.holds(w, inv.in, inv.sc, inv.sc); ok {
			return s
		}
	}
	return inv.in
}

func (pr *printer) inputTaint(inv *invocation, args *arguments) value.Taint {
	var t value.Taint
	for _, w := range args.operands {
		if w.source != nil {
			t = t.With(w.source.Taint)
		} else if pr.hasWrites() {
			t = t.With(pr.writtenText(pr.path(w, inv.sc)).Taint)
		}
	}
	return t
}

// fetched is what comes from the network; the file it goes to is remembered.
func (pr *printer) fetched() stream {
	s := unknown(value.Taint{Fetched: true})
	if len(pr.calls) > 0 && pr.entry.Own.Saves {
		for _, p := range pr.calls[len(pr.calls)-1].Writes {
			pr.keep(p, s, false)
		}
	}
	return s
}

// decoded undoes what a decoder undoes, where its input is known.
func decoded(name string, in stream, args *arguments) stream {
	decodes, undo := decoder(name, args)
	out := stream{present: true, over: in.over, Taint: in.Taint}
	if !decodes {
		if undo == nil || !in.known {
			return out
		}
	} else {
		out.Decoded = true
	}
	if in.known && undo != nil && !strings.Contains(in.text, "~") { // which may be the home folder's
		if text, err := undo(in.text); err == nil && len(text) <= maxValue && !strings.Contains(text, "\x00") {
			out.text, out.known = text, true
		}
	}
	return out
}

// decoder says whether the call decodes, and how; nil if that is not known here.
func decoder(name string, args *arguments) (decodes bool, undo func(string) (string, error)) {
	d := args.has("-d", "-D", "--decode", "--decompress", "-dc")
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
		if args.has("-r") {
			return true, fromHex
		}
		return false, nil
	case "rev":
		return true, reversed
	case "tr":
		return true, func(s string) (string, error) { return translated(s, args) }
	case "openssl":
		return d, opensslDecoder(args)
	case "gunzip", "zcat":
		return true, inflated
	case "gzip":
		return d, inflated
	case "bzcat", "xzcat", "bunzip2", "unxz":
		return true, nil
	}
	return d, nil
}

func opensslDecoder(args *arguments) func(string) (string, error) {
	if args.has("-base64", "-a") || first(args.operands).text == "base64" {
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

func reversed(s string) (string, error) {
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

func inflated(s string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(s))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(r, maxValue+1))
	return b.String(), err
}
