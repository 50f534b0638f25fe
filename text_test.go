package bailiff

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestASentenceHasACapitalAndOneFullStop(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"x":                        "X.",
		"the disk is full":         "The disk is full.",
		"The disk is full.":        "The disk is full.",
		"so it goes...":            "So it goes.",
		"ärger mit der Festplatte": "Ärger mit der Festplatte.",
		"\"rm\" is denied":         "\"rm\" is denied.",
	} {
		if got := Sentence(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestABeginningEndsWithAWholeCharacter(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"aé", 2, "a"},
		{"aé!", 3, "aé"},
		{"€", 2, ""},
		{"\x80\x80\x80", 2, ""},
	} {
		if got := Beginning(c.text, c.most); got != c.want {
			t.Errorf("%d bytes of %q are %q, want %q", c.most, c.text, got, c.want)
		}
	}
}

func TestAVariablesNameIsLettersDigitsAndUnderscores(t *testing.T) {
	for name, want := range map[string]bool{
		"PATH": true, "_": true, "a1_b": true, "": false, "1a": false, "A-B": false, "A=B": false, "A B": false, "A\n": false, "Ä": false,
		"@": false, "[": false, "{": false,
	} {
		if IsVariable(name) != want {
			t.Errorf("%q is a name: %v, want %v", name, !want, want)
		}
	}
}

func TestForeignWordsAreOneHarmlessLine(t *testing.T) {
	key := NewSecret("dtn_1")
	for words, want := range map[string]string{
		"no such image":                          "no such image",
		"a\x1b]0;owned\a\nlevel=INFO msg=forged": "a]0;owned level=INFO msg=forged",
		"Invalid header: Bearer dtn_1":           "Invalid header: Bearer [secret]",
		"\xff\u202e right":                       "right",
		strings.Repeat("é", 400):                 strings.Repeat("é", 256),
	} {
		if got := Foreign(words, key, Secret{}); got != want {
			t.Errorf("Foreign(%q) is %q, want %q", words, got, want)
		}
	}
}

func TestAForeignErrorIsWordedAnewAndStaysWhatItIs(t *testing.T) {
	err := ForeignError(fmt.Errorf("no\nsuch dtn_1: %w", io.ErrUnexpectedEOF), NewSecret("dtn_1"))
	if err.Error() != "no such [secret]: unexpected EOF" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the error is %q", err)
	}
}
