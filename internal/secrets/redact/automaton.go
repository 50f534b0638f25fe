package redact

// automaton finds all forms in one pass over a text (Aho and Corasick, 1975).
// Most states have one successor, so successors are lists; only the root's are
// a table.
type automaton struct {
	states  []state
	root    [256]int32
	filter  filter
	markers []string
	longest int
}

type state struct {
	child, sibling int32 // of the tree; 0 is none
	fallback       int32 // the state of the longest proper suffix that is a state
	depth          int32
	open           int32 // how many of the last bytes a longer form may have begun with
	found          int32 // length of the longest form that ends here; 0 is none
	marker         int32
	char           byte
}

func newAutomaton() *automaton { return &automaton{states: make([]state, 1), filter: newFilter()} }

func (a *automaton) addAll(forms []string, marker string) {
	a.markers = append(a.markers, marker)
	for _, form := range forms {
		a.add(form, int32(len(a.markers)-1))
	}
}

func (a *automaton) add(form string, marker int32) {
	at := int32(0)
	for i := range len(form) {
		at = a.successor(at, form[i])
	}
	if s := &a.states[at]; s.found == 0 || a.markers[marker] < a.markers[s.marker] {
		s.found, s.marker = s.depth, marker
	}
	a.filter.add(form)
	a.longest = max(a.longest, len(form))
}

// successor finds or makes a state's successor in the tree.
func (a *automaton) successor(at int32, c byte) int32 {
	if next := a.child(at, c); next != 0 {
		return next
	}
	next := int32(len(a.states))
	a.states = append(a.states, state{char: c, depth: a.states[at].depth + 1, sibling: a.states[at].child})
	a.states[at].child = next
	if at == 0 {
		a.root[c] = next
	}
	return next
}

func (a *automaton) child(at int32, c byte) int32 {
	if at == 0 {
		return a.root[c]
	}
	next := a.states[at].child
	for next != 0 && a.states[next].char != c {
		next = a.states[next].sibling
	}
	return next
}

// link gives every state its fallback, from the root outwards.
func (a *automaton) link() {
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for next := a.states[at].child; next != 0; next = a.states[next].sibling {
			a.linkOne(at, next)
			queue = append(queue, next)
		}
	}
}

func (a *automaton) linkOne(parent, at int32) {
	s := &a.states[at]
	if parent != 0 {
		s.fallback = a.step(a.states[parent].fallback, s.char)
	}
	suffix := a.states[s.fallback]
	if s.found == 0 {
		s.found, s.marker = suffix.found, suffix.marker
	}
	if s.open = s.depth; s.child == 0 {
		s.open = suffix.open
	}
}

// step is the state after one more byte.
func (a *automaton) step(at int32, c byte) int32 {
	for {
		if next := a.child(at, c); next != 0 || at == 0 {
			return next
		}
		at = a.states[at].fallback
	}
}
