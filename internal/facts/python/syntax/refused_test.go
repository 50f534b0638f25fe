package syntax

import (
	"errors"
	"testing"
)

func TestWhatEveryPythonRefusesIsTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"print('a\nb')", "x = (1,\n", "x = [1)", "x = 1)", `x = """a`, `f"{}"`, `f"{x} }"`, "f'{x}\n'", `f"{d[\"k\"]}"`, "x = 1 \\ 2",
		`f"{x:>10} {}"`,
	} {
		if _, err := Parse(text); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: the error is %v, want that of a text which every Python refuses", text, err)
		}
	}
}

func TestOfOtherFaultsVersionsMayDiffer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"print 'a'", "x = $y", "x = `1`", "print('a\r\nb'", `t"{x["a"]}" + "b`, `f"{x["a"]}" + "b`, `f"{x=}" + "b`, `f"{x:{y}}" + "b`,
		"def f:\n pass", "x = 1 +",
	} {
		if _, err := Parse(text); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("%q: the error is %v, want one of a text that some Python may take", text, err)
		}
	}
}
