package object

import "slices"

// Made is a thing that a program makes and can change in its place: a list, a set, a dictionary or a bytearray. Names, attributes, items
// and parameters hold it, so that a change by any of them is seen by all.
//
// Where the order of changes is followed, in the statements of the scope that made it, it holds what it holds now. Anywhere else it may
// hold all that it held at any time. What code that is not followed may have changed is not known.
type Made struct {
	// Scope is where it is made; Many says that a loop makes several, Leaked that something outside of its scope holds it.
	Scope        *Scope
	Many, Leaked bool
	// Loose says that its changes are not followed in their order, Lost that they are not known.
	Loose, Lost bool
	// Changed says that there are any.
	Changed bool
	// Busy says that its content is being looked up.
	Busy bool
	// now is what it holds at this place of its scope.
	now Objects
	// base is what it was made with, or emptied and filled with; tail what items it got later, pairs what keys. The first fixed items
	// stay where they are.
	base, tail Objects
	pairs      []Objects
	fixed      int
}

// allFixed is more items than a list has.
const allFixed = 1 << 30

// NewMade is a thing that a scope makes.
func NewMade(scope *Scope) *Made { return &Made{Scope: scope, fixed: allFixed} }

// Changeable says that a value can be changed in its place.
func (v Object) Changeable() bool {
	return v.Shape == IsList && !v.Tuple || v.Shape == IsDict || v.Buffer
}

// HoldsThings says that there are things in a value.
func (v Object) HoldsThings() bool { return v.things }

// Begin is what it holds when it is made; it tells whether that is news.
func (m *Made) Begin(vs Objects) bool {
	m.now = References(vs, 0)
	return join(&m.base, m.now)
}

// References are values in which each thing is told by itself, not by what it holds.
func References(vs Objects, depth int) Objects {
	out := slices.Clone(vs)
	for i, v := range out {
		if depth > 0 && v.Made != nil {
			out[i] = Object{Shape: v.Shape, Made: v.Made, Buffer: v.Buffer, Reference: true, Taint: v.AllTaint()}
			continue
		}
		out[i].Items = slices.Clone(v.Items)
		for j, item := range v.Items {
			if depth < maxReferred {
				out[i].Items[j] = References(item, depth+1)
			}
		}
	}
	return out
}

const maxReferred = 16

// join adds values; it tells whether one of them is new.
func join(known *Objects, more Objects) bool {
	before := *known
	*known = before.With(more)
	return len(*known) != len(before) || len(before) == MaxValues && !slices.EqualFunc(before, *known, Object.Same)
}

// Holds is what it may hold, as seen from a place where its changes are followed or not.
func (m *Made) Holds(followed bool) Objects {
	if followed {
		return m.now
	}
	if len(m.tail) == 0 && m.fixed == allFixed && len(m.pairs) == 0 {
		return m.base
	}
	var out, lists Objects
	for _, b := range m.base {
		switch b.Shape {
		case IsDict:
			for i := 0; i+1 < len(m.pairs); i += 2 {
				b = b.put(m.pairs[i], m.pairs[i+1], true)
			}
			out = out.With(Objects{b})
		case IsList:
			lists = lists.With(Objects{b.inLooseOrder(m.fixed, m.tail)})
		default:
			out = out.With(Objects{b})
		}
	}
	return out.With(lists)
}

// inLooseOrder is a list of which the first items stay, and the others are in any order and number.
func (v Object) inLooseOrder(fixed int, tail Objects) Object {
	fixed = min(fixed, len(v.Items))
	rest := tail
	for _, item := range v.Items[fixed:] {
		rest = rest.With(item)
	}
	v.Items = v.Items[:fixed:fixed]
	if len(rest) > 0 {
		v.Items = append(v.Items, rest)
	}
	v.Several, v.Open = v.Several || !v.Open, true
	return v
}

// Change makes a change. Followed says that it is the next one in the scope that made the thing, certain that nothing else may be
// changed in its place. It tells whether something new may be held.
func (m *Made) Change(c Change, followed, certain bool) bool {
	m.Changed = true
	depth := 1
	if c.Each || c.Kind == Replace { // what they hold is taken over
		depth = 0
	}
	c.Values, c.Key = References(c.Values, depth), References(c.Key, 1)
	if followed {
		var after Objects
		for _, v := range m.now {
			after = after.With(Objects{c.Of(v)})
		}
		if !certain {
			after = m.now.With(after)
		}
		m.now = after
	}
	return m.loosen(c)
}

// loosen makes a change whose order is not followed.
func (m *Made) loosen(c Change) bool {
	fixed := m.fixed
	news := false
	switch c.Kind {
	case Unknown:
		news, m.Lost = !m.Lost, true
	case Add, Mingle:
		news = join(&m.tail, c.items())
		if c.Kind == Mingle {
			m.fixed = 0
		}
	case Insert, Set, Splice, Delete:
		news = join(&m.tail, c.items())
		m.fixed = min(m.fixed, max(0, int(min(c.Index, allFixed))))
		if !c.Known {
			m.fixed = 0
		}
	case Replace:
		news = join(&m.base, c.whole())
	case Shuffle:
		m.fixed = 0
	case Put:
		news = m.loosenPairs(c)
	}
	return news || fixed != m.fixed
}

func (m *Made) loosenPairs(c Change) bool {
	news := false
	each := func(key, values Objects) {
		for i := 0; i+1 < len(m.pairs); i += 2 {
			if sameKey(m.pairs[i], key) {
				news = join(&m.pairs[i+1], values) || news
				return
			}
		}
		if len(m.pairs) < 2*MaxRounds {
			m.pairs, news = append(m.pairs, key, values), true
		} else {
			m.Lost = true
		}
	}
	for _, p := range c.pairs() {
		each(p[0], p[1])
	}
	return news
}

// sameKey says that two keys are the same text, or that neither is known.
func sameKey(a, b Objects) bool {
	x, known := a.Only()
	y, also := b.Only()
	return known == also && x == y
}

// UnknownThing is a thing of which it is not known what it holds.
func UnknownThing(v Object) Object {
	if v.Shape == IsDict {
		return Object{Shape: IsDict, Open: true, Made: v.Made, Taint: v.AllTaint()}
	}
	return Object{Shape: IsUnknown, Text: "value", Taint: v.AllTaint(), Made: v.Made}
}
