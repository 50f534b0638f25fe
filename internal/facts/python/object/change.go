package object

import (
	"slices"
	"strings"
)

// Kind is how a thing is changed.
type Kind uint8

// The kinds of changes.
const (
	Unknown Kind = iota
	Add          // Values at the end; Each: of what they hold
	Insert       // Values before Index
	Set          // Values in the place of Index
	Delete       // Index
	Splice       // Values, and what is there, in any order from Index on
	Mingle       // Values somewhere
	Shuffle      // any order, or fewer of them
	Replace      // all, by what Values hold
	Put          // Values under Key; Each: all pairs of Values
	Drop         // Key
	Nothing
)

// Change is one change of a thing.
type Change struct {
	Kind   Kind
	Index  int64
	Known  bool
	Each   bool
	Values Objects
	Key    Objects
}

// items are the values that a change adds to a list.
func (c Change) items() Objects {
	if !c.Each {
		return c.Values
	}
	return Elements(c.Values, "value")
}

// whole is what a thing holds that gets all from values.
func (c Change) whole() Objects {
	var out Objects
	for _, v := range c.Values {
		v.Made, v.Reference = nil, false
		out = out.With(Objects{v})
	}
	return out
}

// pairs are the keys that a change gives values.
func (c Change) pairs() [][2]Objects {
	if !c.Each {
		return [][2]Objects{{c.Key, c.Values}}
	}
	var out [][2]Objects
	for _, v := range c.Values {
		for i := 0; v.Shape == IsDict && i+1 < len(v.Items); i += 2 {
			out = append(out, [2]Objects{v.Items[i], v.Items[i+1]})
		}
		if v.Shape != IsDict || v.Open {
			out = append(out, [2]Objects{Hidden("key", v.AllTaint()), Hidden("value", v.AllTaint())})
		}
	}
	return out
}

// Of is a value after a change.
func (c Change) Of(v Object) Object {
	switch {
	case v.Shape == IsDict:
		return c.ofDict(v)
	case v.Shape == IsList && len(v.Items) < MaxRounds:
		return c.ofList(v)
	}
	return Object{Shape: IsUnknown, Text: "value", Taint: v.AllTaint().With(c.Values.Tainted()), Made: v.Made}
}

func (c Change) ofDict(v Object) Object {
	switch c.Kind {
	case Put:
		for _, p := range c.pairs() {
			v = v.put(p[0], p[1], false)
		}
	case Drop:
		v = v.without(c.Key)
	case Replace:
		v.Items, v.Open = nil, false
		for _, p := range (Change{Values: c.Values, Each: true}).pairs() {
			v = v.put(p[0], p[1], false)
		}
	case Nothing:
	default:
		v.Open = true
	}
	return v
}

// put is a dictionary with values under a key: in the place of others, or beside them where the key is not known.
func (v Object) put(key, values Objects, beside bool) Object {
	name, exact := key.Only()
	v.Items = slices.Clone(v.Items)
	for i := 0; i+1 < len(v.Items); i += 2 {
		old, plain := v.Items[i].Only()
		switch {
		case exact && plain && old == name && beside, !exact && !plain:
			v.Items[i+1] = v.Items[i+1].With(values)
			return v
		case exact && plain && old == name:
			v.Items[i+1] = values
			return v
		}
	}
	v.Items = append(v.Items, key, values)
	return v
}

func (v Object) without(key Objects) Object {
	name, exact := key.Only()
	for i := 0; exact && i+1 < len(v.Items); i += 2 {
		if old, plain := v.Items[i].Only(); plain && old == name {
			v.Items = slices.Delete(slices.Clone(v.Items), i, i+2)
			return v
		}
	}
	return v
}

func (c Change) ofList(v Object) Object {
	at := int(min(c.Index, allFixed))
	if at < 0 {
		at += len(v.Items)
	}
	exact := c.Known && !v.Open && at >= 0
	switch {
	case c.Kind == Nothing:
		return v
	case c.Kind == Add && c.Each:
		return v.Extended(c.Values)
	case c.Kind == Add:
		v.Items = append(v.Items[:len(v.Items):len(v.Items)], c.Values)
		return v
	case c.Kind == Insert && exact:
		v.Items = slices.Insert(slices.Clone(v.Items), min(at, len(v.Items)), c.Values)
		return v
	case c.Kind == Set && exact && at < len(v.Items):
		v.Items = slices.Clone(v.Items)
		v.Items[at] = c.Values
		return v
	case c.Kind == Delete && exact && at < len(v.Items):
		v.Items = slices.Delete(slices.Clone(v.Items), at, at+1)
		return v
	case c.Kind == Replace:
		v.Items, v.Open, v.Several = nil, false, false
		return v.Extended(c.Values)
	case c.Kind == Shuffle:
		return v.inLooseOrder(0, nil)
	case c.Kind == Unknown || c.Kind == Put || c.Kind == Drop:
		return Object{Shape: IsUnknown, Text: "value", Taint: v.AllTaint(), Made: v.Made}
	case c.Known && c.Kind != Mingle && c.Index >= 0:
		return v.inLooseOrder(int(min(c.Index, allFixed)), c.items())
	}
	return v.inLooseOrder(0, c.items())
}

// ByMethod is what a method changes in a value of a shape, with what it is given.
func ByMethod(shape Shape, name string, args []Objects) Change {
	arg := func(i int) Objects {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	if shape == IsDict {
		return dictMethod(name, arg)
	}
	if shape != IsList {
		return Change{}
	}
	index, known := number(arg(0))
	switch name {
	case "append", "__lshift__":
		return Change{Kind: Add, Values: arg(0)}
	case "extend", "__iadd__":
		return Change{Kind: Add, Values: arg(0), Each: true}
	case "insert":
		return Change{Kind: Insert, Index: index, Known: known, Values: arg(1)}
	case "appendleft":
		return Change{Kind: Insert, Known: true, Values: arg(0)}
	case "__setitem__":
		return Change{Kind: Set, Index: index, Known: known, Values: arg(1)}
	case "pop", "__delitem__":
		if len(args) == 0 {
			return Change{Kind: Delete, Index: -1, Known: true}
		}
		return Change{Kind: Delete, Index: index, Known: known}
	case "popleft":
		return Change{Kind: Delete, Known: true}
	case "clear":
		return Change{Kind: Replace, Values: Objects{{Shape: IsList}}}
	case "__init__":
		return Change{Kind: Replace, Values: arg(0)}
	case "add":
		return Change{Kind: Mingle, Values: arg(0)}
	case "update", "extendleft", "__ior__", "symmetric_difference_update":
		return Change{Kind: Mingle, Values: arg(0), Each: true}
	case "remove", "discard", "sort", "reverse", "rotate", "difference_update", "intersection_update", "shuffle":
		return Change{Kind: Shuffle}
	}
	return Change{}
}

func dictMethod(name string, arg func(int) Objects) Change {
	switch name {
	case "__setitem__":
		return Change{Kind: Put, Key: arg(0), Values: arg(1)}
	case "setdefault":
		return Change{Kind: Put, Key: Hidden("key", arg(1).Tainted()), Values: arg(1)}
	case "update", "__ior__":
		return Change{Kind: Put, Values: arg(0), Each: true}
	case "pop", "__delitem__":
		return Change{Kind: Drop, Key: arg(0)}
	case "clear":
		return Change{Kind: Replace, Values: Objects{{Shape: IsDict}}}
	case "popitem", "move_to_end":
		return Change{Kind: Nothing}
	}
	return Change{}
}

func number(vs Objects) (int64, bool) {
	if len(vs) == 1 && vs[0].Shape == IsInt {
		return vs[0].Number, true
	}
	return 0, false
}

// Changers are the functions that change what they are given first, with the methods that do the same.
func Changers(name string, args []Objects) (method string, rest []Objects, ok bool) {
	if len(args) == 0 {
		return "", nil, false
	}
	for _, class := range []string{"list.", "dict.", "set.", "collections.deque.", "bytearray."} {
		if method, ok := strings.CutPrefix(name, class); ok {
			return method, args[1:], true
		}
	}
	method, ok = changers[name]
	return method, args[1:], ok
}

var changers = map[string]string{
	"operator.setitem": "__setitem__", "operator.delitem": "__delitem__", "operator.iadd": "extend", "operator.iconcat": "extend",
	"operator.__setitem__": "__setitem__", "operator.ior": "__ior__",
	"random.shuffle": "shuffle", "heapq.heapify": "shuffle", "heapq.heappop": "shuffle", "heapq.heappush": "add",
	"heapq.heappushpop": "add", "heapq.heapreplace": "add", "bisect.insort": "add", "bisect.insort_left": "add",
	"bisect.insort_right": "add",
}
