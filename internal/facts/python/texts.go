package python

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// doTexts is a call that makes texts and lists from others.
func (w *pyWalk) doTexts(d pyDeed, c *pyCall) pyValues {
	for _, vs := range c.args {
		if !isEnviron(vs) || d.kind != pyPureText {
			w.escape(vs)
		}
	}
	switch d.kind {
	case pyDecode:
		return w.decode(d, c)
	case pyCharacter:
		return character(c.first())
	case pyMakeText:
		return makeText(c.first())
	case pyMakeList:
		return makeList(c.first())
	case pyMap:
		return w.mapped(c)
	case pyReversed:
		return backwards(c.first())
	case pyJoinWords:
		return joinWords(c.first())
	case pyQuote:
		return quotedWords(c.first())
	case pySplitWords:
		return splitWords(c.first())
	}
	return c.first()
}

func character(vs pyValues) pyValues {
	var out pyValues
	for _, v := range vs {
		if v.shape == pyInt && v.number >= 0 && v.number <= 0x10ffff {
			out = out.with(pyTexts(unmarked(string(rune(v.number)))))
			continue
		}
		out = out.with(pyHidden("character", v.Taint))
	}
	return out
}

// makeText is str(x) and bytes(x); the latter of a list of numbers, too.
func makeText(vs pyValues) pyValues {
	var out pyValues
	for _, v := range vs {
		if v.shape != pyList {
			out = out.with(pyValues{v}.strs())
			continue
		}
		text, ok := numbersText(v)
		if !ok {
			out = out.with(pyHidden("text", v.allTaint()))
			continue
		}
		out = out.with(pyTexts(unmarked(text)))
	}
	return out
}

func numbersText(v pyValue) (string, bool) {
	var b strings.Builder
	for _, item := range v.items {
		if v.open || len(item) != 1 || item[0].shape != pyInt || item[0].number < 0 || item[0].number > 255 {
			return "", false
		}
		b.WriteByte(byte(item[0].number))
	}
	return b.String(), true
}

func makeList(vs pyValues) pyValues {
	var out pyValues
	for _, v := range vs {
		switch {
		case v.shape == pyList:
			out = out.with(pyValues{v})
		case v.shape == pyString && pyLiteral(v.text) && len(v.text) <= maxPyRounds:
			out = out.with(lettersOf(v))
		default:
			out = out.with(pyHidden("value", v.allTaint()))
		}
	}
	return out
}

func lettersOf(v pyValue) pyValues {
	list := pyValue{shape: pyList, Taint: v.Taint}
	for _, c := range v.text {
		list.items = append(list.items, pyTexts(string(c)))
	}
	return pyValues{list}
}

func backwards(vs pyValues) pyValues {
	var out pyValues
	for _, v := range makeList(vs) {
		if v.shape == pyList && !v.open {
			v.items = cutOut(v.items, [3]int64{0, 0, -1}, true)
		}
		out = out.with(pyValues{v})
	}
	return out
}

// mapped is map(f, list).
func (w *pyWalk) mapped(c *pyCall) pyValues {
	if len(c.args) != 2 {
		return pyHidden("value", c.tainted())
	}
	list := pyValue{shape: pyList}
	for _, v := range makeList(c.args[1]) {
		if v.shape != pyList || v.open || len(v.items) > maxPyRounds {
			list.items, list.open = append(list.items, w.mapOne(c.args[0], elements(pyValues{v}, "value"))), true
			continue
		}
		for _, item := range v.items {
			list.items = append(list.items, w.mapOne(c.args[0], item))
		}
	}
	return pyValues{list}
}

func (w *pyWalk) mapOne(functions, arg pyValues) pyValues {
	var out pyValues
	for _, f := range functions {
		out = out.with(w.callValue(f, &pyCall{args: []pyValues{arg}, keywords: map[string]pyValues{}}))
	}
	return out
}

// decode is a text from an encoding, as far as it is known.
func (w *pyWalk) decode(d pyDeed, c *pyCall) pyValues {
	encoding := d.name
	if encoding == "" {
		second, _ := c.arg(1, "encoding")
		encoding, _ = second.only()
		encoding = strings.ReplaceAll(strings.ToLower(encoding), "-", "_")
	}
	input, _ := c.arg(0, "s")
	var out pyValues
	for _, v := range input {
		t := v.Taint.With(value.Taint{Decoded: encoding != "percent"})
		if text, ok := decodedText(v, encoding); ok {
			out = out.with(pyValues{{shape: pyString, text: unmarked(text), Taint: t}})
			continue
		}
		out = out.with(pyHidden("decoded", t))
	}
	w.noteTexts(out)
	return out
}

func decodedText(v pyValue, encoding string) (string, bool) {
	if v.shape != pyString || !pyLiteral(v.text) {
		return "", false
	}
	switch encoding {
	case "base64", "base_64":
		return unbase64(v.text)
	case "base32":
		b, err := base32.StdEncoding.DecodeString(strings.TrimSpace(v.text))
		return string(b), err == nil
	case "hex", "hex_codec":
		return unhex(v.text)
	case "rot13", "rot_13":
		return strings.Map(rot13, v.text), true
	case "percent":
		text, err := url.QueryUnescape(v.text)
		return text, err == nil
	case "utf_8", "utf8", "ascii", "latin_1", "latin1":
		return v.text, true
	case "zlib", "zip", "zlib_codec", "gzip", "bz2":
		return inflate(encoding, v.text)
	case "unicode_escape", "string_escape":
		return pyLiteralForm{}.unescape(v.text), true
	}
	return "", false
}

func unbase64(s string) (string, bool) {
	s = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "", "=", "").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}

func rot13(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a' + (c-'a'+13)%26
	case c >= 'A' && c <= 'Z':
		return 'A' + (c-'A'+13)%26
	}
	return c
}

// inflate decompresses a text that stays small.
func inflate(format, s string) (string, bool) {
	var from io.Reader
	var err error
	switch format {
	case "gzip":
		from, err = gzip.NewReader(strings.NewReader(s))
	case "bz2":
		from = bzip2.NewReader(strings.NewReader(s))
	default:
		from, err = zlib.NewReader(strings.NewReader(s))
	}
	if err != nil {
		return "", false
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(from, value.MaxValue+1))
	return b.String(), err == nil && n <= value.MaxValue
}

// textMethod is a method of a text, if it is one that is followed.
func (w *pyWalk) textMethod(b pyValue, name string, c *pyCall) (pyValues, bool) {
	var out pyValues
	switch name {
	case "format":
		out = w.format(b, c)
	case "join":
		out = joinedText(b, c.first())
	case "encode", "decode":
		if codec, ok := c.first().only(); ok && !plainEncoding(codec) {
			return w.decode(pyDeed{name: strings.ReplaceAll(strings.ToLower(codec), "-", "_")}, &pyCall{args: []pyValues{{b}}}), true
		}
		return pyValues{b}, true
	case "hex", "splitlines":
		return nil, false
	default:
		return changedText(b, name, c)
	}
	w.noteTexts(out)
	return out, true
}

func plainEncoding(codec string) bool {
	switch strings.ReplaceAll(strings.ToLower(codec), "-", "_") {
	case "utf_8", "utf8", "ascii", "latin_1", "latin1", "utf_16", "iso_8859_1", "cp1252", "utf_8_sig":
		return true
	}
	return false
}

// changed is a text after one of the methods that change letters.
func changedText(b pyValue, name string, c *pyCall) (pyValues, bool) {
	args := make([]string, len(c.args))
	for i, vs := range c.args {
		text, ok := vs.only()
		if !ok && name != "replace" {
			return pyHidden("text", b.Taint.With(c.tainted())), name != "index"
		}
		args[i] = text
	}
	set := " \t\r\n\f\v"
	if len(args) > 0 {
		set = args[0]
	}
	text := b.text
	switch {
	case name == "strip":
		text = strings.Trim(text, set)
	case name == "lstrip":
		text = strings.TrimLeft(text, set)
	case name == "rstrip":
		text = strings.TrimRight(text, set)
	case name == "lower" && pyLiteral(text), name == "casefold" && pyLiteral(text):
		text = strings.ToLower(text)
	case name == "upper" && pyLiteral(text):
		text = strings.ToUpper(text)
	case name == "replace" && len(args) >= 2 && pyLiteral(text) && args[0] != "":
		to := c.args[1]
		if len(to) != 1 || strings.Count(text, args[0])*len(to[0].str()) > value.MaxValue {
			return pyHidden("text", b.Taint), true
		}
		text = strings.ReplaceAll(text, args[0], to[0].str())
	case name == "split" && pyLiteral(text):
		return splitText(b, args), true
	case name == "removeprefix" && len(args) == 1:
		text = strings.TrimPrefix(text, args[0])
	case name == "removesuffix" && len(args) == 1:
		text = strings.TrimSuffix(text, args[0])
	default:
		return nil, false
	}
	return pyValues{{shape: pyString, text: text, Taint: b.Taint}}, true
}

func splitText(b pyValue, args []string) pyValues {
	pieces := strings.Fields(b.text)
	if len(args) > 0 && args[0] != "" {
		pieces = strings.SplitN(b.text, args[0], maxPyRounds)
	}
	list := pyValue{shape: pyList, Taint: b.Taint}
	for _, p := range pieces[:min(len(pieces), maxPyRounds)] {
		list.items = append(list.items, pyTexts(p))
	}
	list.open = len(args) > 1 || len(pieces) >= maxPyRounds
	return pyValues{list}
}

func joinedText(separator pyValue, lists pyValues) pyValues {
	var out pyValues
	for _, l := range makeList(lists) {
		if l.shape != pyList {
			out = out.with(pyHidden("text", l.allTaint()))
			continue
		}
		all := pyTexts("")
		for i, item := range l.items {
			if i > 0 {
				all = pyEach(all, pyValues{separator}, glue)
			}
			all = pyEach(all, item.strs(), glue)
		}
		if l.open {
			all = pyEach(all, pyHidden("value", value.Taint{}).strs(), glue)
		}
		for i := range all {
			all[i].Taint = all[i].Taint.With(l.allTaint())
		}
		out = out.with(all)
	}
	return out
}

// format is "…{}…".format(…).
func (w *pyWalk) format(b pyValue, c *pyCall) pyValues {
	for _, vs := range c.args {
		w.escape(vs)
	}
	all := pyTexts("")
	rest, next := b.text, 0
	for range maxPyRounds {
		before, after, found := strings.Cut(rest, "{")
		all = pyEach(all, pyTexts(strings.ReplaceAll(before, "}}", "}")), glue)
		if !found {
			return retainted(all, b.Taint)
		}
		if strings.HasPrefix(after, "{") {
			all = pyEach(all, pyTexts("{"), glue)
			rest = after[1:]
			continue
		}
		field, tail, _ := strings.Cut(after, "}")
		rest = tail
		all = pyEach(all, fieldValue(field, &next, c).strs(), glue)
	}
	return pyHidden("text", b.Taint)
}

func retainted(vs pyValues, t value.Taint) pyValues {
	for i := range vs {
		vs[i].Taint = vs[i].Taint.With(t)
	}
	return vs
}

func fieldValue(field string, next *int, c *pyCall) pyValues {
	name := field
	if end := strings.IndexAny(field, "!:.["); end >= 0 {
		name = field[:end]
		if field[end] == '.' || field[end] == '[' {
			return pyHidden("value", value.Taint{})
		}
	}
	place, err := strconv.Atoi(name)
	if name == "" {
		place, err = *next, nil
		*next++
	}
	if err != nil {
		place = -1
	}
	if vs, ok := c.arg(place, name); ok {
		return vs
	}
	return pyHidden("value", value.Taint{})
}

// percent is "…%s…" % values.
func percent(a, b pyValue) pyValue {
	args := []pyValues{{b}}
	if b.shape == pyList {
		args = b.items
	}
	var out strings.Builder
	rest := a.text
	for out.Len() <= value.MaxValue {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			return pyValue{shape: pyString, text: out.String(), Taint: a.allTaint().With(b.allTaint())}
		}
		if strings.HasPrefix(after, "%") {
			out.WriteByte('%')
			rest = after[1:]
			continue
		}
		verb := strings.IndexAny(after, "sdrxfgcie")
		switch {
		case verb == 0 && len(args) > 0 && len(args[0]) == 1:
			out.WriteString(args[0][0].str())
			args = args[1:]
		default:
			out.WriteString(hole("value"))
			args = args[min(1, len(args)):]
		}
		rest = after[max(0, verb+1):]
	}
	return pyValue{shape: pyUnknown, text: "text"}
}
