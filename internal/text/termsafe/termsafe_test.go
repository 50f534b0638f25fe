package termsafe

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatATerminalWouldObeyIsWrittenOut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"plain text", `rm -rf "./build" # ünï 删除 🚀`, `rm -rf "./build" # ünï 删除 🚀`},
		{"nothing", "", ""},
		{"an escape that clears the screen", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"an escape that sets the title", "\x1b]0;x\x07", `\x1b]0;x\x07`},
		{"the same in one byte of Latin-1", "a\x9b2J", `a\x9b2J`},
		{"the same as a character", "a\u009b2J", `a\u009b2J`},
		{"a line break, a return and a tab", "a\nb\rc\td", `a\nb\rc\td`},
		{"a backspace", "rm\b\bls", `rm\x08\x08ls`},
		{"a delete", "a\x7f", `a\x7f`},
		{"what turns the direction", "\u202eabc\u2066\u200f", `\u202eabc\u2066\u200f`},
		{"what has no width", "r\u200bm\ufeff\u00ad", `r\u200bm\ufeff\u00ad`},
		{"spaces that are none", "a\u00a0b\u2003c\u3000d", `a\u00a0b\u2003c\u3000d`},
		{"a line separator", "a\u2028b", `a\u2028b`},
		{"letters that are not seen", "a\u3164b\u115fc\u2800d\ufe0f", `a\u3164b\u115fc\u2800d\ufe0f`},
		{"a tag beyond the first plane", "a\U000e0041", `a\U000e0041`},
		{"bytes that are no UTF-8", "a\xff\xc3b", `a\xff\xc3b`},
		{"the character for such bytes", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Text(test.text); got != test.want {
				t.Errorf("%q is shown as %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff\u3164")
	f.Fuzz(func(t *testing.T, text string) {
		shown := Text(text)
		for _, r := range shown {
			if !IsVisible(r) {
				t.Fatalf("%q is shown as %q", text, shown)
			}
		}
		if !utf8.ValidString(shown) || Text(shown) != shown {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		var out strings.Builder
		if err := json.NewEncoder(JSON{&out}).Encode(text); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back != string([]rune(text)) {
			t.Fatalf("%q is written as %s", text, out.String())
		}
		if got := Brief(text, 10); utf8.RuneCountInString(got) > 10 || Text(got) != got {
			t.Fatalf("%q in brief is %q", text, got)
		}
	})
}

func TestJSONKeepsItsMeaningAndNamesWhatIsNotSeen(t *testing.T) {
	t.Parallel()
	const text = "a\u202e\u009b\x7f\U000e0041\U0001f680\n"
	var out strings.Builder
	if err := json.NewEncoder(JSON{&out}).Encode(text); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back != text {
		t.Errorf("read back as %q, %v", back, err)
	}
	if want := `"a\u202e\u009b\u007f\udb40\udc41` + "\U0001f680" + `\n"` + "\n"; out.String() != want {
		t.Errorf("written as %s, want %s", out.String(), want)
	}
}

func TestABriefTextSaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"0123456789":                "0123456789",
		"01234567890":               "012345678…",
		"ééééééééééé":               "ééééééééé…",
		"\x1b\x1b\x1b":              `\x1b\x1b\…`,
		strings.Repeat("\u202e", 9): `\u202e\u2…`,
		strings.Repeat("x", 1<<20):  "xxxxxxxxx…",
	} {
		if got := Brief(text, 10); got != want {
			t.Errorf("%.20q in brief is %q, want %q", text, got, want)
		}
	}
}
