package linesdiff

import (
	"strings"
	"testing"
)

func TestLinesThatWentAndCameStandInTheirOrder(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", "a\nb", "a\nb", ""},
		{"all went", "a\nb", "", "- a\n- b\n"},
		{"all came", "", "a\nb", "+ a\n+ b\n"},
		{"a line in the middle", "a\nb\nc", "a\nx\nc", "- b\n+ x\n"},
		{"two lines swapped", "a\nb\nc\nd", "a\nc\nb\nd", "- b\n+ b\n"},
		{"two lines swapped, and another", "a\nb\nc\nd\ne", "a\nc\nb\nd\nx", "- b\n+ b\n- e\n+ x\n"},
		{"a line once less", "a\na\nb", "a\nb", "- a\n"},
		{"too many lines", strings.Repeat("x\n", 3000) + "a", strings.Repeat("y\n", 3000) + "a",
			strings.Repeat("- x\n", 3000) + strings.Repeat("+ y\n", 3000)},
	} {
		if got := Text(c.before, c.after, ""); got != c.want {
			t.Errorf("%s: %.200q, want %.200q", c.name, got, c.want)
		}
	}
}
