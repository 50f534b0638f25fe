package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
)

// doTexts is a call that makes texts and lists from others.
func (w *walk) doTexts(d library.Behaviour, c *object.Call) object.Objects {
	for _, vs := range c.Args {
		if !object.IsEnviron(vs) || d.Kind != library.DoesPureText {
			w.escape(vs)
		}
	}
	w.handOn(c.Name, c)
	switch d.Kind {
	case library.DoesDecode:
		return w.decode(d, c)
	case library.DoesCharacter:
		return object.Character(c.First())
	case library.DoesMakeText:
		return object.MadeText(c)
	case library.DoesMakeList:
		return object.MadeList(c)
	case library.DoesMap:
		return w.mapped(c)
	case library.DoesNext:
		return object.Elements(c.First(), "value").With(w.optional(c, 1))
	case library.DoesReversed:
		return object.Backwards(c.First())
	case library.DoesJoinWords:
		return object.JoinWords(c.First())
	case library.DoesQuote:
		return object.QuotedWords(c.First())
	case library.DoesSplitWords:
		return object.SplitWords(c.First())
	}
	return c.First()
}

// mapped is map(f, list).
func (w *walk) mapped(c *object.Call) object.Objects {
	if len(c.Args) != 2 {
		return object.Hidden("value", c.Tainted())
	}
	list := object.Object{Shape: object.IsList}
	for _, v := range object.MakeList(c.Args[1]) {
		if v.Shape != object.IsList || v.Open || len(v.Items) > object.MaxRounds {
			list.Items, list.Open = append(list.Items, w.mapOne(c.Args[0], object.Elements(object.Objects{v}, "value"))), true
			continue
		}
		for _, item := range v.Items {
			list.Items = append(list.Items, w.mapOne(c.Args[0], item))
		}
	}
	return object.Objects{list}
}

func (w *walk) mapOne(functions, arg object.Objects) object.Objects {
	var out object.Objects
	for _, f := range functions {
		out = out.With(w.callValue(f, &object.Call{Args: []object.Objects{arg}, Keywords: map[string]object.Objects{}}))
	}
	return out
}

// textMethod is a method of a text, if it is one that is followed.
func (w *walk) textMethod(b object.Object, name string, c *object.Call) (object.Objects, bool) {
	var out object.Objects
	switch name {
	case "format":
		out = w.format(b, c)
	case "join":
		out = object.JoinedText(b, c.First())
	case "encode", "decode":
		if codec, ok := c.First().Only(); ok && !object.PlainEncoding(codec) {
			as := library.Behaviour{Name: strings.ReplaceAll(strings.ToLower(codec), "-", "_")}
			return w.decode(as, &object.Call{Args: []object.Objects{{b}}}), true
		}
		return object.Objects{b}, true
	case "hex", "splitlines":
		return nil, false
	default:
		return object.ChangedText(b, name, c)
	}
	w.noteTexts(out)
	return out, true
}

// format is "…{}…".format(…).
func (w *walk) format(b object.Object, c *object.Call) object.Objects {
	for _, vs := range c.Args {
		w.escape(vs)
	}
	all := object.TextOf("")
	rest, next := b.Text, 0
	for range object.MaxRounds {
		before, after, found := strings.Cut(rest, "{")
		all = object.EachPair(all, object.TextOf(strings.ReplaceAll(before, "}}", "}")), object.Glue)
		if !found {
			return object.Retainted(all, b.Taint)
		}
		if strings.HasPrefix(after, "{") {
			all = object.EachPair(all, object.TextOf("{"), object.Glue)
			rest = after[1:]
			continue
		}
		field, tail, _ := strings.Cut(after, "}")
		rest = tail
		all = object.EachPair(all, object.FieldValue(field, &next, c).Strs(), object.Glue)
	}
	return object.Hidden("text", b.Taint)
}
