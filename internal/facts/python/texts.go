package python

import (
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// doTexts is a call that makes texts and lists from others.
func (w *walk) doTexts(d behaviour, c *call) objects {
	for _, vs := range c.args {
		if !isEnviron(vs) || d.kind != doesPureText {
			w.escape(vs)
		}
	}
	w.handOn(c)
	switch d.kind {
	case doesDecode:
		return w.decode(d, c)
	case doesCharacter:
		return character(c.first())
	case doesMakeText:
		return madeText(c)
	case doesMakeList:
		return madeList(c)
	case doesMap:
		return w.mapped(c)
	case doesReversed:
		return backwards(c.first())
	case doesJoinWords:
		return joinWords(c.first())
	case doesQuote:
		return quotedWords(c.first())
	case doesSplitWords:
		return splitWords(c.first())
	}
	return c.first()
}

func character(vs objects) objects {
	var out objects
	for _, v := range vs {
		if v.shape == isInt && v.number >= 0 && v.number <= 0x10ffff {
			out = out.with(textOf(unmarked(string(rune(v.number)))))
			continue
		}
		out = out.with(hidden("character", v.Taint))
	}
	return out
}

// makeText is str(x) and bytes(x); the latter of a list of numbers, too.
func makeText(vs objects) objects {
	var out objects
	for _, v := range vs {
		if v.shape != isList {
			out = out.with(objects{v}.strs())
			continue
		}
		text, ok := numbersText(v)
		if !ok {
			out = out.with(hidden("text", v.allTaint()))
			continue
		}
		out = out.with(textOf(unmarked(text)))
	}
	return out
}

func numbersText(v object) (string, bool) {
	var b strings.Builder
	for _, item := range v.items {
		if v.open || len(item) != 1 || item[0].shape != isInt || item[0].number < 0 || item[0].number > 255 {
			return "", false
		}
		b.WriteByte(byte(item[0].number))
	}
	return b.String(), true
}

// madeText is a text; of a bytearray, each one is a thing of its own.
func madeText(c *call) objects {
	if len(c.args) == 0 {
		return objects{{shape: isString, buffer: c.name == "bytearray"}}
	}
	out := makeText(c.first())
	for i := range out {
		out[i].buffer = c.name == "bytearray" && out[i].shape == isString
		out[i].made = nil
	}
	return out
}

// madeList is a new list. Only the order of one that is sorted, or was a set, is not known.
func madeList(c *call) objects {
	out := makeList(c.first())
	for i, v := range out {
		if v.shape != isList {
			continue
		}
		out[i].made = nil
		if c.name == "sorted" || c.name == "set" {
			out[i].items = inAnyOrder(v.items)
		}
	}
	return out
}

// inAnyOrder are as many items, each of which may be any of them.
func inAnyOrder(items []objects) []objects {
	var each objects
	for _, item := range items {
		each = each.with(item)
	}
	out := make([]objects, len(items))
	for i := range out {
		out[i] = each
	}
	return out
}

func makeList(vs objects) objects {
	var out objects
	for _, v := range vs {
		switch {
		case v.shape == isList:
			out = out.with(objects{v})
		case v.shape == isString && literal(v.text) && len(v.text) <= maxRounds:
			out = out.with(lettersOf(v))
		default:
			out = out.with(hidden("value", v.allTaint()))
		}
	}
	return out
}

func lettersOf(v object) objects {
	list := object{shape: isList, Taint: v.Taint}
	for _, c := range v.text {
		list.items = append(list.items, textOf(string(c)))
	}
	return objects{list}
}

func backwards(vs objects) objects {
	var out objects
	for _, v := range makeList(vs) {
		v.made = nil
		if v.shape == isList && !v.open {
			v.items = cutOut(v.items, [3]int64{0, 0, -1}, true)
		}
		out = out.with(objects{v})
	}
	return out
}

// mapped is map(f, list).
func (w *walk) mapped(c *call) objects {
	if len(c.args) != 2 {
		return hidden("value", c.tainted())
	}
	list := object{shape: isList}
	for _, v := range makeList(c.args[1]) {
		if v.shape != isList || v.open || len(v.items) > maxRounds {
			list.items, list.open = append(list.items, w.mapOne(c.args[0], elements(objects{v}, "value"))), true
			continue
		}
		for _, item := range v.items {
			list.items = append(list.items, w.mapOne(c.args[0], item))
		}
	}
	return objects{list}
}

func (w *walk) mapOne(functions, arg objects) objects {
	var out objects
	for _, f := range functions {
		out = out.with(w.callValue(f, &call{args: []objects{arg}, keywords: map[string]objects{}}))
	}
	return out
}

// textMethod is a method of a text, if it is one that is followed.
func (w *walk) textMethod(b object, name string, c *call) (objects, bool) {
	var out objects
	switch name {
	case "format":
		out = w.format(b, c)
	case "join":
		out = joinedText(b, c.first())
	case "encode", "decode":
		if codec, ok := c.first().only(); ok && !plainEncoding(codec) {
			return w.decode(behaviour{name: strings.ReplaceAll(strings.ToLower(codec), "-", "_")}, &call{args: []objects{{b}}}), true
		}
		return objects{b}, true
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

// changedText is a text after one of the methods that change letters.
func changedText(b object, name string, c *call) (objects, bool) {
	args := make([]string, len(c.args))
	for i, vs := range c.args {
		text, ok := vs.only()
		if !ok && name != "replace" {
			return hidden("text", b.Taint.With(c.tainted())), name != "index"
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
	case name == "lower" && literal(text), name == "casefold" && literal(text):
		text = strings.ToLower(text)
	case name == "upper" && literal(text):
		text = strings.ToUpper(text)
	case name == "replace" && len(args) >= 2 && literal(text) && args[0] != "":
		to := c.args[1]
		if len(to) != 1 || strings.Count(text, args[0])*len(to[0].str()) > value.MaxValue {
			return hidden("text", b.Taint), true
		}
		text = strings.ReplaceAll(text, args[0], to[0].str())
	case name == "split" && literal(text):
		return splitText(b, args), true
	case name == "removeprefix" && len(args) == 1:
		text = strings.TrimPrefix(text, args[0])
	case name == "removesuffix" && len(args) == 1:
		text = strings.TrimSuffix(text, args[0])
	default:
		return nil, false
	}
	return objects{{shape: isString, text: text, Taint: b.Taint}}, true
}

func splitText(b object, args []string) objects {
	pieces := strings.Fields(b.text)
	if len(args) > 0 && args[0] != "" {
		pieces = strings.SplitN(b.text, args[0], maxRounds)
	}
	list := object{shape: isList, Taint: b.Taint}
	for _, p := range pieces[:min(len(pieces), maxRounds)] {
		list.items = append(list.items, textOf(p))
	}
	list.open = len(args) > 1 || len(pieces) >= maxRounds
	return objects{list}
}

func joinedText(separator object, lists objects) objects {
	var out objects
	for _, l := range makeList(lists) {
		if l.shape != isList {
			out = out.with(hidden("text", l.allTaint()))
			continue
		}
		all := textOf("")
		for i, item := range l.items {
			if i > 0 {
				all = eachPair(all, objects{separator}, glue)
			}
			all = eachPair(all, item.strs(), glue)
		}
		if l.open {
			all = eachPair(all, hidden("value", value.Taint{}).strs(), glue)
		}
		for i := range all {
			all[i].Taint = all[i].Taint.With(l.allTaint())
		}
		out = out.with(all)
	}
	return out
}

// format is "…{}…".format(…).
func (w *walk) format(b object, c *call) objects {
	for _, vs := range c.args {
		w.escape(vs)
	}
	all := textOf("")
	rest, next := b.text, 0
	for range maxRounds {
		before, after, found := strings.Cut(rest, "{")
		all = eachPair(all, textOf(strings.ReplaceAll(before, "}}", "}")), glue)
		if !found {
			return retainted(all, b.Taint)
		}
		if strings.HasPrefix(after, "{") {
			all = eachPair(all, textOf("{"), glue)
			rest = after[1:]
			continue
		}
		field, tail, _ := strings.Cut(after, "}")
		rest = tail
		all = eachPair(all, fieldValue(field, &next, c).strs(), glue)
	}
	return hidden("text", b.Taint)
}

func retainted(vs objects, t value.Taint) objects {
	for i := range vs {
		vs[i].Taint = vs[i].Taint.With(t)
	}
	return vs
}

func fieldValue(field string, next *int, c *call) objects {
	name := field
	if end := strings.IndexAny(field, "!:.["); end >= 0 {
		name = field[:end]
		if field[end] == '.' || field[end] == '[' {
			return hidden("value", value.Taint{})
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
	return hidden("value", value.Taint{})
}

// percent is "…%s…" % values.
func percent(a, b object) object {
	args := []objects{{b}}
	if b.shape == isList {
		args = b.items
	}
	var out strings.Builder
	rest := a.text
	for out.Len() <= value.MaxValue {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			return object{shape: isString, text: out.String(), Taint: a.allTaint().With(b.allTaint())}
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
	return object{shape: isUnknown, text: "text"}
}
