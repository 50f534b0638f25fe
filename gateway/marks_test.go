package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// found are reasons, each "rule=match".
func found(pairs ...string) (reasons []bailiff.Reason) {
	for _, pair := range pairs {
		rule, match, _ := strings.Cut(pair, "=")
		reasons = append(reasons, bailiff.Reason{Rule: rule, Match: match})
	}
	return reasons
}

func TestMarksStandWhereAMatchDoes(t *testing.T) {
	long := strings.Repeat("y", longMatch)
	for _, test := range []struct {
		name, text string
		reasons    []bailiff.Reason
		want       string // each part in brackets, and its rules
	}{
		{"nothing was found", "rm x", nil, ""},
		{"a reason without match", "rm x", found("a="), ""},
		{"a word", "rm -rf ./build", found("a=rm"), "0-2 a"},
		{"a path", "rm -rf ./build", found("a=./build"), "7-14 a"},
		{"every place of it", "rm x; rm y", found("a=rm"), "0-2 a, 6-8 a"},
		{"not in the middle of a word", "form; rm; rmdir; x_rm", found("a=rm"), "6-8 a"},
		{"inside quotes and expansions", `"$TOKEN" '${TOKEN}'`, found("a=TOKEN"), "2-7 a, 12-17 a"},
		{"a host in an address", "curl https://x.test/i.sh", found("a=x.test"), "13-19 a"},
		{"resolved, not literally there", `r\m "$dir"/x`, found("a=rm", "b=/tmp/x"), ""},
		{"two that overlap are one", "git push --force", found("a=git push", "b=push --force"), "0-16 a b"},
		{"one inside another", "git push --force", found("a=push", "b=git push"), "0-8 b a"},
		{"two that touch stay two", "a;b", found("a=a;", "b=b"), "0-2 a, 2-3 b"},
		{"one rule is named once", "git push", found("a=git push", "a=push"), "0-8 a"},
		{"bytes, not characters", "echo ééé; rm x", found("a=rm"), "13-15 a"},
		{"letters of any script make words", "删除rm删除 rm", found("a=rm"), "15-17 a"},
		{"right-to-left marks are not letters", "\u202erm\u202c x", found("a=rm"), "3-5 a"},
		{"terminal escapes", "\x1b[2K rm \x1b[0m", found("a=rm", "b=\x1b[2K"), "0-4 b, 5-7 a"},
		{"line breaks", "true\nrm x\n", found("a=rm x\n"), "5-10 a"},
		{"bytes that are no UTF-8", "rm \xff\xfe rm", found("a=rm", "b=\xff"), "0-2 a, 3-4 b, 6-8 a"},
		{"itself within itself", "aaa a-a-a", found("a=a-a"), "4-7 a"},
		{"a long part even within a word", "x" + long + "x", found("a=" + long), fmt.Sprintf("1-%d a", 1+longMatch)},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := api.Entry{Reasons: test.reasons}
			e.Request.Args.Command = test.text
			marks, more := MarksOf(e)
			said := make([]string, len(marks))
			for i, m := range marks {
				said[i] = fmt.Sprintf("%d-%d %s", m.Start, m.End, strings.Join(m.Rules, " "))
			}
			if got := strings.Join(said, ", "); got != test.want || more {
				t.Errorf("the marks of %q are %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestEveryTextOfARequestIsMarked(t *testing.T) {
	e := api.Entry{Reasons: found("a=rm")}
	e.Request.Args = bailiff.Args{Command: "sh; rm", Code: "run('rm')", Stdin: "rm x", Data: "x rm", Arguments: `{"a": "rm"}`}
	marks, _ := MarksOf(e)
	want := []api.Mark{{Text: "command", Start: 4, End: 6, Rules: []string{"a"}}, {Text: "code", Start: 5, End: 7, Rules: []string{"a"}},
		{Text: "stdin", Start: 0, End: 2, Rules: []string{"a"}}, {Text: "data", Start: 2, End: 4, Rules: []string{"a"}},
		{Text: "arguments", Start: 7, End: 9, Rules: []string{"a"}}}
	if !slices.EqualFunc(marks, want, func(a, b api.Mark) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("the marks are %v", marks)
	}
}

// Whoever writes the text would like whoever approves it to wait, or to see
// something else.
func TestHostileTextsCostLittleAndAreSaidToBeCut(t *testing.T) {
	for name, e := range map[string]api.Entry{
		"a million marks":            {Reasons: found("a=a")},
		"a million words that start": {Reasons: found("a=aa")},
		"thousands of reasons":       {Reasons: slices.Repeat(found("a=nowhere"), 10_000)},
	} {
		text := strings.Repeat("a ", 1<<19)
		if name == "a million words that start" {
			text = strings.Repeat("a", 1<<20)
			e.Reasons = slices.Repeat(e.Reasons, 100)
		}
		e.Request.Args.Command = text
		marks, more := MarksOf(e)
		s := search{budget: searchAtMost, room: marksAtMost}
		if s.marks("command", text, e.Reasons); s.budget < -len(text)-findCost {
			t.Errorf("%s: %d bytes were searched, want no more than %d and a text", name, searchAtMost-s.budget, searchAtMost)
		}
		if !more || len(marks) > marksAtMost {
			t.Errorf("%s: %d marks, cut is %v", name, len(marks), more)
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add("rm -rf ./build; rm x", "rm", "./build")
	f.Add("\x1b[2K\u202eaaa\xff", "a", "\xff")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		e := api.Entry{Reasons: []bailiff.Reason{{Rule: "one", Match: one}, {Rule: "two", Match: two}}}
		e.Request.Args.Command = text
		marks, _ := MarksOf(e)
		for i, m := range marks {
			switch {
			case m.Start >= m.End || m.End > len(text) || len(m.Rules) == 0:
				t.Fatalf("%+v marks nothing of %q", m, text)
			case i > 0 && m.Start < marks[i-1].End:
				t.Fatalf("%+v overlaps %+v", m, marks[i-1])
			case utf8.ValidString(text) && utf8.ValidString(one) && utf8.ValidString(two) && !utf8.ValidString(text[m.Start:m.End]):
				t.Fatalf("%+v cuts a character of %q", m, text)
			}
		}
	})
}
