package facts

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Values and what stands in an expansion of them, in any order.
var (
	heldValues = []string{
		"foo", "probe", "a.b.c", "aXbX", "abc/def", "xprobex", "PROBE", "p r", "", "a&b", "~", "*", "-n", "#a", "%a", "a\\b", "äöp",
	}
	names     = []string{"x", "x", "x", "y", "1", "2", "0", "a", "a[1]", "a[-1]", "m[k]", "*", "@", "a[*]", "r", "none", "i", "j"}
	operators = []string{
		"", ":-probe", "-probe", ":+probe", "+probe", ":=probe", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,",
		":0:1", ":1", ": -1", ":1:2", ":(-2)", ":1:-1", "@U", "@L", "@u", "@Q", "@E", "@A", "@a", "@K",
	}
	patterns = []string{
		"", "*", "?", "f", "o", "a*", "*b", "[a-z]", "[!a]", "\\*", "'o'", "\"o\"", "$y", "X", "#", "%", "??", "*.", ".*", "/*", "*/",
		"@(a|f)", "[[:upper:]]", "\\#", "x*", "~",
	}
	replacements = []string{
		"", "/", "/probe", "/r", "/&", "/p&", "/\\&", "/'&'", "/\"&\"", "/$y", "/a/b", "/\\/", "/~", "/}", "/$(echo z)",
	}
)

func TestAnExpansionIsReadAsBashReadsIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same texts each time
	one := func(of []string) string { return of[random.IntN(len(of))] }
	var begins, words []string
	for range 4000 {
		operator := one(operators)
		inner := operator
		switch operator {
		case "#", "##", "%", "%%", "^", "^^", ",", ",,":
			inner += one(patterns)
		case "/", "//", "/#", "/%":
			inner += one(patterns) + one(replacements)
		}
		lead := one([]string{"", "", "", "", "", "#", "!"})
		begin := "i='a[@]'; j='a[*]'; r=x; declare -A m=([k]='" + one(heldValues) + "')\n"
		for _, format := range []string{"x='%s'; ", "y='%s'; ", "a=('%s'", " '%s'); ", "set -- '%s'", " '%s'\n"} {
			begin += fmt.Sprintf(format, one(heldValues))
		}
		word := lead + one(names) + inner
		word = one([]string{"\"q${" + word + "}\"", "\"q${" + word + "}z\"", "q${" + word + "}", "\"${" + word + "}\"", "${" + word + "}"})
		begins, words = append(begins, begin), append(words, word)
	}
	told := 0
	for i, want := range bashWords(t, begins, words) {
		if want == nil {
			continue
		}
		c := Shell(begins[i]+words[i], work)
		if !c.Parsed || !c.Complete {
			continue
		}
		told++
		if got := c.Calls[len(c.Calls)-1].Argv; !alike(got, want) {
			t.Errorf("%s%s is %q in bash and was read as %q", begins[i], words[i], want, got)
		}
	}
	if told < 1000 {
		t.Errorf("%d words were read, so that they prove little", told)
	}
}

// bashWords are the arguments that bash makes of each word after its beginning; nil where it refuses it, or makes none of it.
func bashWords(t *testing.T, begins, words []string) (all [][]string) {
	t.Helper()
	var texts []string
	for i, begin := range begins {
		texts = append(texts, begin+"printf '%s"+end+"' "+words[i])
	}
	for _, said := range bashSays(t, "bash", "2>/dev/null", t.TempDir(), []string{"PATH=/usr/bin:/bin", "HOME=/home/ana"}, texts) {
		arguments := strings.Split(strings.TrimSuffix(said.text, end), end)
		if said.failed || len(arguments) == 1 && arguments[0] == "" {
			arguments = nil
		}
		all = append(all, arguments)
	}
	return all
}

// end stands after each word, and in none.
const end = "\x1e"

// alike says that what was read of a call is known to be the same, or not known.
func alike(got, want []string) bool {
	for i, g := range got {
		if strings.ContainsAny(g, "$…") {
			return true
		}
		if i >= len(want) || strings.ReplaceAll(want[i], "/home/ana", "~") != strings.ReplaceAll(g, "/home/ana", "~") {
			return false
		}
	}
	return len(got) == len(want)
}

// Statements after which a variable is another, with VALUE and NAME in them, and such values.
var (
	statements = []string{
		"NAME=VALUE", "NAME+=VALUE", "read NAME <<< VALUE", "read -r NAME <<< VALUE", "read -rn2 NAME <<< VALUE",
		"read -N 2 NAME <<< VALUE", "read -d: NAME <<< VALUE", "read -ra NAME <<< VALUE", "IFS=: read x y <<< VALUE",
		"IFS=: read -r x y <<< VALUE", "printf -v NAME '%s' VALUE", "printf -v NAME %s VALUE", "printf -v NAME '%b' VALUE",
		"printf -v NAME '%x' VALUE", "printf -v NAME '%5s' VALUE", "printf -v NAME '%.2s' VALUE", "printf -v NAME '%c' VALUE",
		"printf -v NAME '%s-%s' VALUE", "NAME=$(echo VALUE)", "NAME=$(echo -e VALUE)", "NAME=$(echo -ne VALUE)", "NAME=$(echo -E VALUE)",
		"set -- VALUE VALUE", "shift", "for NAME in VALUE VALUE; do :; done", "f() { local NAME=VALUE; x=$x$y; }; f",
		"f() { x=$1$2; }; f VALUE VALUE", "(x=VALUE)", "{ x=VALUE; }", "x=VALUE | true",
		"if [ \"$x\" = VALUE ]; then NAME=1; else NAME=2; fi", "case $x in a*) NAME=VALUE;; foo|rm) NAME=VALUE;; *) y=q;; esac",
		"while read l; do x=$l; done <<< VALUE", "mapfile -t a <<< VALUE; x=${a[0]}", "x=${x:1}", "x=${x#f}", "x=${x/o/0}", "x=${x^}",
		"x=${x:-z}", "x=${x:+z}", "x=${x%%:*}", "unset NAME", "export NAME=VALUE", "declare NAME=VALUE", "declare -x NAME=VALUE",
		"eval NAME=VALUE", "eval \"NAME=\\$y\"", "eval \"NAME='$y'\"", "a=(VALUE VALUE); x=${a[1]}", "a=(VALUE VALUE); x=${a[-1]}",
		"a=(VALUE VALUE); x=${a[*]}", "a=(VALUE); a+=(VALUE); x=${#a[@]}", "((z=2*3)); x=$z", "((z=010)); x=$z", "x=$((1?2:3))",
		"x=$((0x1f))", "x=$((2**3))", "x=$((z))", "x=$(cat <<E\n$y\\$y`echo b`'$y'\nE\n)", "x=$(cat <<'E'\n$y\\$y`echo b`'$y'\nE\n)",
		"x=$(cat <<-E\n\t\t$y\n\tE\n)", "x=`echo \\$y`", "x=`echo \"$y\"`", "x=`echo \\`echo b\\``", "x=$(printf 'a%sb' VALUE)",
		"x=$(tr a-z A-Z <<< VALUE)", "x=$(tr -d o <<< VALUE)", "x=$(echo VALUE | rev)", "x=$(basename a/b/)", "x=$(basename b.c .c)",
		"x=$(dirname /a/b.c)", "x=$(dirname a/b/)", "x=$(dirname /)", "IFS=:", "IFS=' '", "IFS=''", "IFS=,", "x=\"${z:-'d'}\"",
		"x=\"${y:-\"d e\"}\"", "x=\"`echo z`\\$y\"", "x=$'\\x41\\101'", "x=$'\\cA'", "x=a'b'\"c\"", "x='a'\\''b'", "x=a{b,c}",
		"x={1..3}", "x=a#b", "true && x=VALUE || x=n", "false && x=VALUE || x=n", "! x=VALUE", "x=a y=VALUE true",
		"until x=VALUE; do :; done", "readonly NAME=VALUE", "declare -i NAME=VALUE", "declare -l NAME=VALUE", "echo VALUE | read x",
		"NAME=VALUE NAME=VALUE",
	}
	assigned = []string{
		"foo", "rm", "a:b", "'p r'", "\"p  r\"", "a\\b", "'a\\nb'", "'\\x41'", "$y", "\"$y\"", "$(echo o)", "\"$(echo 'a  b')\"",
		"{a,b}", "~",
		"$'a\\tb'", "A", "1", "07", "'  s  '", "$1", "\"$@\"", "${y:-d}", "''", "$((1+2))", "-n", "x", "'*'", "~/m", "':a:'",
	}
)

func TestStatementsLeaveWhatBashLeaves(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 9)) //nolint:gosec // the same texts each time
	one := func(of []string) string { return of[random.IntN(len(of))] }
	var begins, words []string
	for range 2500 {
		begin := "y=k; x=foo; set -- one two\n"
		for range 1 + random.IntN(3) {
			statement := strings.ReplaceAll(one(statements), "NAME", one([]string{"x", "x", "y", "z"}))
			for strings.Contains(statement, "VALUE") {
				statement = strings.Replace(statement, "VALUE", one(assigned), 1)
			}
			begin += statement + one([]string{"\n", "; "})
		}
		word := one([]string{"\"q$x\"", "q$x", "q${x}", "\"q${x}z$y\"", "\"q$1\"", "q$*"})
		begins, words = append(begins, begin), append(words, word)
	}
	told := 0
	for i, want := range bashWords(t, begins, words) {
		c := Shell(begins[i]+words[i], work)
		if want == nil || !c.Parsed || !c.Complete || len(c.Calls) == 0 {
			continue
		}
		told++
		if got := c.Calls[len(c.Calls)-1].Argv; !alike(got, want) {
			t.Errorf("%s%s is %q in bash and was read as %q", begins[i], words[i], want, got)
		}
	}
	if told < 1000 {
		t.Errorf("%d words were read, so that they prove little", told)
	}
}
