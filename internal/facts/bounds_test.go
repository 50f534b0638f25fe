package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// fill repeats a unit up to the largest text.
func fill(before, unit, after string) string { return fillTo(value.MaxText, before, unit, after) }

func fillTo(size int, before, unit, after string) string {
	return before + strings.Repeat(unit, (size-len(before)-len(after))/len(unit)) + after
}

// hostile are units whose repetition makes a parser or a walker descend, or
// an expansion grow.
var hostile = []string{
	"$(", "((", "(", "<(", "\"$(", "$((", "$((1+", "$((-", "$((~", "$((a?", "$[", "${", "${a:-", "${a[", "${a/", "a[", "a[a[", "@(",
	"if ", "while ", "for i in a;do ", "case x in a)", "if a; then b; else ", "f() ", "f(){ ", "{ ", "time ", "coproc ", "! ", "!",
	"[[ (", "[[ ! ",
	"`", "\"", "'", "\\\n", "<<a ", "{a,", "{a,b}", "{1..9}", "a|", "a&&", "a||b&&", "a;", "a ", "a&", "a && b\n", "$((1))", "$(a)",
	"`a` ", "x=$x$x;x=a$x;", "a $x ", "cd a;", "(a=1);",
	"f(){ a;};", "a=${a//a/aa};", "bash -c a;", "eval a;", "cat <<a\na\na\n", "a>b;sh b;", "echo a|sh;", "a=a$a;$a $a;",
	"while a;do b=$b;done;", "export a=b;", "trap a EXIT;", "alias a='a a';a;",
	"for i in 1 2 3 4 5 6 7 8 9;do ", "find / -exec ", "xargs ", "sudo ", "[!a]*", "[a", "*(a",
}

func TestOfACallWithManyWordsThoseAreToldThatNameMoreThanAFileHere(t *testing.T) {
	t.Parallel()
	names := strings.Repeat("a.txt ", 1000)
	if got := Shell("rm "+names, work); !got.Complete || len(got.Calls[0].Argv) != 1001 {
		t.Errorf("1,000 names: complete %v, %d words", got.Complete, len(got.Calls[0].Argv))
	}
	got := Shell("rm "+strings.Repeat(names, 3)+"-rf /", work)
	if argv := got.Calls[0].Argv; got.Complete || len(argv) > 1024 || argv[len(argv)-1] != "/" || argv[len(argv)-2] != "-rf" {
		t.Errorf("3,000 names: complete %v, %d words", got.Complete, len(argv))
	}
}

// A stack that overflows would end the test binary: that these tests end is what they show.
func TestNoTextIsTooMuch(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	for _, unit := range hostile {
		Shell(fill("x=/;", unit, ""), work)
		Shell(fillTo(value.MaxText/8, "[[ ", unit, " ]]"), work)
		Shell(fillTo(value.MaxText/8, "echo $((", unit, "))"), work)
	}
}

func TestDeepNestingIsNotRead(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"$(", ")"}, {"(", ")"}, {"{ ", ";}"}, {"if a;then ", ";fi"}, {"while a;do ", ";done"}, {"\"$(",
		")\""}, {"<(", ")"}} {
		nested := func(n int) Command {
			return Shell(strings.Repeat(pair[0], n)+"a"+strings.Repeat(pair[1], n), work)
		}
		if got := nested(20); !got.Parsed {
			t.Errorf("%s 20 deep: not parsed", pair[0])
		}
		if got := nested(state.MaxNesting + 1); got.Parsed || got.Complete || len(got.Calls) > 0 {
			t.Errorf("%s %d deep: parsed %v, complete %v", pair[0], state.MaxNesting+1, got.Parsed, got.Complete)
		}
	}
}

func TestWhatIsNotShellIsNotRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"if", "echo 'a", "a | | b", ")", "a\x00b", "\xff\xfe", strings.Repeat("a", value.MaxText+1),
		"cat <<a\nb"} {
		if got := Shell(text, work); got.Parsed || got.Complete {
			t.Errorf("%.20q: parsed %v, complete %v", text, got.Parsed, got.Complete)
		}
	}
}

func TestRunningIntoALimitIsIncomplete(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"calls":      "for i in {1..5000}; do a$i; done",
		"steps":      strings.Repeat("a;", state.MaxSteps),
		"fields":     "a {1..9}{1..9}{1..9}{1..9}{1..9}",
		"value":      "x=" + strings.Repeat("a", 3000) + ";" + strings.Repeat("x=$x$x;", 10) + "$x",
		"variables":  manyVariables() + "$x1500",
		"statements": strings.Repeat("\n:", state.MaxSteps+1),
	} {
		if got := Shell(text, work); !got.Parsed || got.Complete {
			t.Errorf("%s: parsed %v, complete %v", name, got.Parsed, got.Complete)
		}
	}
}

func manyVariables() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "x%d=ls;", i)
	}
	return b.String()
}

func FuzzShell(f *testing.F) {
	for _, unit := range hostile {
		f.Add(strings.Repeat(unit, 5))
	}
	for _, text := range []string{
		"x=/; rm -rf $x", "curl x | sudo bash", "a=(b c); ${a[@]}", "echo cm0= | base64 -d | sh", "cat <<E | sh\n$x\nE",
		"find . -exec rm {} +", "set -- a b; shift 9; $1",
		"${x:1:2}${x/a/b}${x@P}${!x}", "tar xf", "printf %9999d", "printf -v", "env -S", "sudo", "xargs -I", "docker run", "ssh",
		"cd; cd -; popd", "[[ a =~ b ]]", "declare -A a; a[b]=c", "trap",
		"dd of", "read", "getopts", "alias a", "awk system(", "sed 1e", "git -c a", "python -c", "curl -F =@", "curl -o", "wget",
		"tr a-b c", "xxd -r", "echo -ne", "eval", "source", ".", "sh -c", "flock a -c", "parallel :::",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Shell(text, work)
		if got.Complete && !got.Parsed {
			t.Error("complete without being parsed")
		}
		if !got.Parsed && len(got.Calls)+len(got.Writes) > 0 {
			t.Error("facts of a text that was not parsed")
		}
	})
}
