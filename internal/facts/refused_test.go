package facts

import "testing"

func TestAProgramThatPythonRefusesDoesNothingWhereItIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	const refused = "import os\nos.remove('a')\nprint('x"
	for text, whole := range map[string]bool{
		"python3 - <<'E'\n" + refused + "\nE":             true,
		"python3 -c \"" + refused + "\"":                  true,
		"python3 -u -c \"" + refused + "\"":               true,
		"python3 -i - <<'E'\n" + refused + "\nE":          false, // which runs what it has read so far
		"python3 -Bi - <<'E'\n" + refused + "\nE":         false,
		"python3 -x - <<'E'\n'\nimport os\nE":             false, // which leaves out the first line
		"python3 -m code <<'E'\n" + refused + "\nE":       false,
		"ipython <<'E'\n" + refused + "\nE":               false,
		"python3 - <<'E'\nprint 'x'\nE":                   false, // which an old version runs
		"python3 - <<'E'\n# coding: utf-7\nprint('x\nE\n": false,
	} {
		if c := Shell(text, work); c.Complete != whole {
			t.Errorf("%q: it is read as a whole: %v, want %v", text, c.Complete, whole)
		}
	}
	if c := Python(refused, Place{Workdir: "/w", Fresh: true}); !c.Parsed || !c.Complete || len(c.Writes)+len(c.Calls) > 0 {
		t.Errorf("in an interpreter of its own: %+v, want a program that does nothing", c)
	}
	if c := Python(refused, work); c.Parsed || c.Complete {
		t.Errorf("in an interpreter that lives: %+v, want one that is not read", c)
	}
}
