package object

import "testing"

func words(all ...string) Objects {
	list := Object{Shape: IsList}
	for _, word := range all {
		list.Items = append(list.Items, TextOf(word))
	}
	return Objects{list}
}

func shown(vs Objects) string {
	text := ""
	for i, v := range vs {
		if i > 0 {
			text += " | "
		}
		for j, item := range v.Items {
			if j > 0 {
				text += " "
			}
			for k, one := range item {
				if k > 0 {
					text += "/"
				}
				text += one.Text
			}
		}
		if v.Open {
			text += " …"
		}
	}
	return text
}

func TestAChangeIsSeenInItsOrderAndAtAnyTime(t *testing.T) {
	t.Parallel()
	at := Change{Known: true, Index: 1, Values: TextOf("x")}
	for name, c := range map[string]struct {
		change    func(Change) Change
		now, ever string
	}{
		"an item at the end":     {func(c Change) Change { c.Kind = Add; return c }, "a b x", "a b x …"},
		"an item in between":     {func(c Change) Change { c.Kind = Insert; return c }, "a x b", "a x/b …"},
		"an item in its place":   {func(c Change) Change { c.Kind = Set; return c }, "a x", "a x/b …"},
		"an item less":           {func(c Change) Change { c.Kind, c.Values = Delete, nil; return c }, "a", "a b …"},
		"a place that is hidden": {func(c Change) Change { c.Kind, c.Known = Set, false; return c }, "x/a/b …", "x/a/b …"},
		"another order":          {func(c Change) Change { c.Kind = Shuffle; return c }, "a/b …", "a/b …"},
		"all":                    {func(c Change) Change { c.Kind, c.Values = Replace, words("c"); return c }, "c", "a b | c"},
		"nothing":                {func(c Change) Change { c.Kind = Nothing; return c }, "a b", "a b"},
	} {
		m := NewMade(&Scope{})
		m.Begin(words("a", "b"))
		m.Change(c.change(at), true, true)
		if got := shown(m.Holds(true)); got != c.now {
			t.Errorf("%s: it holds %q, want %q", name, got, c.now)
		}
		if got := shown(m.Holds(false)); got != c.ever {
			t.Errorf("%s: it may hold %q at any time, want %q", name, got, c.ever)
		}
	}
}

func TestWhatMayNotHaveChangedIsKept(t *testing.T) {
	t.Parallel()
	m := NewMade(&Scope{})
	m.Begin(words("a"))
	m.Change(Change{Kind: Replace, Values: words("b")}, true, false)
	if got := shown(m.Holds(true)); got != "a | b" {
		t.Errorf("it holds %q, want the old and the new", got)
	}
	if m.Change(Change{Kind: Unknown}, false, false); !m.Lost {
		t.Error("a change that is not followed leaves it known")
	}
}

func TestTheSameChangeAgainIsNoNews(t *testing.T) {
	t.Parallel()
	m := NewMade(&Scope{})
	m.Begin(words("a"))
	c := Change{Kind: Add, Values: TextOf("x")}
	if first, second := m.Change(c, false, false), m.Change(c, false, false); !first || second {
		t.Errorf("news: %v and then %v, want it once", first, second)
	}
}
