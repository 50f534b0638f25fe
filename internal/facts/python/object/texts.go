package object

import (
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Character is the text of a number, as chr gives it.
func Character(vs Objects) Objects {
	var out Objects
	for _, v := range vs {
		if v.Shape == IsInt && v.Number >= 0 && v.Number <= 0x10ffff {
			out = out.With(TextOf(Unmarked(string(rune(v.Number)))))
			continue
		}
		out = out.With(Hidden("character", v.Taint))
	}
	return out
}

// makeText is str(x) and bytes(x); the latter of a list of numbers, too.
func makeText(vs Objects) Objects {
	var out Objects
	for _, v := range vs {
		if v.Shape != IsList {
			out = out.With(Objects{v}.Strs())
			continue
		}
		text, ok := numbersText(v)
		if !ok {
			out = out.With(Hidden("text", v.AllTaint()))
			continue
		}
		out = out.With(TextOf(Unmarked(text)))
	}
	return out
}

func numbersText(v Object) (string, bool) {
	var b strings.Builder
	for _, item := range v.Items {
		if v.Open || len(item) != 1 || item[0].Shape != IsInt || item[0].Number < 0 || item[0].Number > 255 {
			return "", false
		}
		b.WriteByte(byte(item[0].Number))
	}
	return b.String(), true
}

// MadeText is a text; of a bytearray, each one is a thing of its own.
func MadeText(c *Call) Objects {
	if len(c.Args) == 0 {
		return Objects{{Shape: IsString, Buffer: c.Name == "bytearray"}}
	}
	out := makeText(c.First())
	for i := range out {
		out[i].Buffer = c.Name == "bytearray" && out[i].Shape == IsString
		out[i].Made = nil
	}
	return out
}

// MadeList is a new list. Only the order of one that is sorted, or was a set, is not known.
func MadeList(c *Call) Objects {
	out := MakeList(c.First())
	for i, v := range out {
		if v.Shape != IsList {
			continue
		}
		out[i].Made = nil
		if c.Name == "sorted" || c.Name == "set" {
			out[i].Items = inAnyOrder(v.Items)
		}
	}
	return out
}

// inAnyOrder are as many items, each of which may be any of them.
func inAnyOrder(items []Objects) []Objects {
	var each Objects
	for _, item := range items {
		each = each.With(item)
	}
	out := make([]Objects, len(items))
	for i := range out {
		out[i] = each
	}
	return out
}

// MakeList is a list of what values hold.
func MakeList(vs Objects) Objects {
	var out Objects
	for _, v := range vs {
		switch {
		case v.Shape == IsList:
			out = out.With(Objects{v})
		case v.Shape == IsString && Literal(v.Text) && len(v.Text) <= MaxRounds:
			out = out.With(lettersOf(v))
		default:
			out = out.With(Hidden("value", v.AllTaint()))
		}
	}
	return out
}

func lettersOf(v Object) Objects {
	list := Object{Shape: IsList, Taint: v.Taint}
	for _, c := range v.Text {
		list.Items = append(list.Items, TextOf(string(c)))
	}
	return Objects{list}
}

// Backwards are lists and texts from their ends.
func Backwards(vs Objects) Objects {
	var out Objects
	for _, v := range MakeList(vs) {
		v.Made = nil
		if v.Shape == IsList && !v.Open {
			v.Items = CutOut(v.Items, [3]int64{0, 0, -1}, true)
		}
		out = out.With(Objects{v})
	}
	return out
}

// PlainEncoding says whether a codec leaves plain text as it is.
func PlainEncoding(codec string) bool {
	switch strings.ReplaceAll(strings.ToLower(codec), "-", "_") {
	case "utf_8", "utf8", "ascii", "latin_1", "latin1", "utf_16", "iso_8859_1", "cp1252", "utf_8_sig":
		return true
	}
	return false
}

// ChangedText is a text after one of the methods that change letters.
func ChangedText(b Object, name string, c *Call) (Objects, bool) {
	args := make([]string, len(c.Args))
	for i, vs := range c.Args {
		text, ok := vs.Only()
		if !ok && name != "replace" {
			return Hidden("text", b.Taint.With(c.Tainted())), name != "index"
		}
		args[i] = text
	}
	set := " \t\r\n\f\v"
	if len(args) > 0 {
		set = args[0]
	}
	text := b.Text
	switch {
	case name == "strip":
		text = strings.Trim(text, set)
	case name == "lstrip":
		text = strings.TrimLeft(text, set)
	case name == "rstrip":
		text = strings.TrimRight(text, set)
	case name == "lower" && Literal(text), name == "casefold" && Literal(text):
		text = strings.ToLower(text)
	case name == "upper" && Literal(text):
		text = strings.ToUpper(text)
	case name == "replace" && len(args) >= 2 && Literal(text) && args[0] != "":
		to := c.Args[1]
		if len(to) != 1 || strings.Count(text, args[0])*len(to[0].Str()) > value.MaxValue {
			return Hidden("text", b.Taint), true
		}
		text = strings.ReplaceAll(text, args[0], to[0].Str())
	case name == "split" && Literal(text):
		return splitText(b, args), true
	case name == "removeprefix" && len(args) == 1:
		text = strings.TrimPrefix(text, args[0])
	case name == "removesuffix" && len(args) == 1:
		text = strings.TrimSuffix(text, args[0])
	default:
		return nil, false
	}
	return Objects{{Shape: IsString, Text: text, Taint: b.Taint}}, true
}

func splitText(b Object, args []string) Objects {
	pieces := strings.Fields(b.Text)
	if len(args) > 0 && args[0] != "" {
		pieces = strings.SplitN(b.Text, args[0], MaxRounds)
	}
	list := Object{Shape: IsList, Taint: b.Taint}
	for _, p := range pieces[:min(len(pieces), MaxRounds)] {
		list.Items = append(list.Items, TextOf(p))
	}
	list.Open = len(args) > 1 || len(pieces) >= MaxRounds
	return Objects{list}
}

// JoinedText is the text of lists with a separator between their items.
func JoinedText(separator Object, lists Objects) Objects {
	var out Objects
	for _, l := range MakeList(lists) {
		if l.Shape != IsList {
			out = out.With(Hidden("text", l.AllTaint()))
			continue
		}
		all := TextOf("")
		for i, item := range l.Items {
			if i > 0 {
				all = EachPair(all, Objects{separator}, Glue)
			}
			all = EachPair(all, item.Strs(), Glue)
		}
		if l.Open {
			all = EachPair(all, Hidden("value", value.Taint{}).Strs(), Glue)
		}
		for i := range all {
			all[i].Taint = all[i].Taint.With(l.AllTaint())
		}
		out = out.With(all)
	}
	return out
}

// Retainted are values with a taint besides their own.
func Retainted(vs Objects, t value.Taint) Objects {
	for i := range vs {
		vs[i].Taint = vs[i].Taint.With(t)
	}
	return vs
}

// FieldValue is the argument that a field of a format names.
func FieldValue(field string, next *int, c *Call) Objects {
	name := field
	if end := strings.IndexAny(field, "!:.["); end >= 0 {
		name = field[:end]
		if field[end] == '.' || field[end] == '[' {
			return Hidden("value", value.Taint{})
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
	if vs, ok := c.Arg(place, name); ok {
		return vs
	}
	return Hidden("value", value.Taint{})
}

// percent is "…%s…" % values.
func percent(a, b Object) Object {
	args := []Objects{{b}}
	if b.Shape == IsList {
		args = b.Items
	}
	var out strings.Builder
	rest := a.Text
	for out.Len() <= value.MaxValue {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		if !found {
			return Object{Shape: IsString, Text: out.String(), Taint: a.AllTaint().With(b.AllTaint())}
		}
		if strings.HasPrefix(after, "%") {
			out.WriteByte('%')
			rest = after[1:]
			continue
		}
		verb := strings.IndexAny(after, "sdrxfgcie")
		switch {
		case verb == 0 && len(args) > 0 && len(args[0]) == 1:
			out.WriteString(args[0][0].Str())
			args = args[1:]
		default:
			out.WriteString(Hole("value"))
			args = args[min(1, len(args)):]
		}
		rest = after[max(0, verb+1):]
	}
	return Object{Shape: IsUnknown, Text: "text"}
}
