package facts

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Texts in whose place C another one stands, which bash runs, expands or evaluates, or does not.
var contexts = []string{
	"C", "C", "\"C\"", "'C'", "\"'C'\"", "'\"C\"'", "$'C'", "$\"C\"", "$(C)", "`C`", "\"$(C)\"", "\"`C`\"", "$((C))", "$((1+C))", "$[C]",
	"${x:-C}", "\"${x:-C}\"", "${y:+C}", "\"${y:+C}\"", "${x:=C}", "${y#C}", "\"${y#C}\"", "${y/C/b}", "${y/k/C}", "\"${y/k/C}\"",
	"${y:C}", "${y:0:C}", "${a[C]}", "\"${a[C]}\"", "${#a[C]}", "${!x:-C}", "a[C]=1", "a=([C]=1)", "a=(C)", "x=C", "x=C true", "x+=C",
	"declare x=C", "declare \"x=C\"", "declare 'a[C]=1'", "declare -i x=C", "export x=C", "local x=C", "eval C", "eval 'C'", "eval \"C\"",
	"echo C", "echo \"C\"", "echo {a,C}", "echo ~C", "echo @(a|C)", "echo C | cat", "cat <<< C", "cat <<E\nC\nE\n", "cat <<'E'\nC\nE\n",
	"sh <<E\nC\nE\n", "sh <<'E'\nC\nE\n", "sh <<-E\n\tC\n\tE\n", "cat <<E | sh\nC\nE\n", "sh -c 'C'", "sh -c \"C\"", "bash -c C",
	"(C)", "{ C; }",
	"((C))", "((x=C))", "let x=C", "let 'x=C'", "[[ C ]]", "[[ C -eq 1 ]]", "[[ 'C' -eq 1 ]]", "[[ -v C ]]", "[[ -v a[C] ]]",
	"[[ a == C ]]",
	"[[ a =~ C ]]", "[ -v 'a[C]' ]", "[ C = a ]", "test 'C' -eq 1", "test -v 'a[C]'", "if C; then :; fi", "if :; then C; fi",
	"while C; do break; done", "for i in C; do :; done", "for ((i=C;0;)); do :; done", "for ((;C;)); do break; done",
	"case C in *) ;; esac", "case a in C) ;; esac", "case a in *) C;; esac", "case a in a) ;& b) C;; esac", "f() { C; }; f", "f() { C; }",
	"f() (C); f", "function f { C; }; f", "x='C'; $x", "x='C'; eval \"$x\"", "x='C'; (($x))", "x='C'; ((x))", "x='a[C]'; ((x))",
	"x='a[C]'; z=x; echo $((z))", "x='a[C]'; [[ x -gt 0 ]]", "x='a[C]'; declare -i z; z=x", "x='a[C]'; echo ${!x}",
	"x='C'; echo \"${x@P}\"",
	"x='a[C]'; unset \"$x\"", "x='a[C]'; read \"$x\" <<< 1", "x='a[C]'; printf -v \"$x\" 1", "x='a[C]'; echo ${y:x}",
	"x='a[C]'; echo ${a[x]}",
	"x='a[C]'; a[x]=1", "set -- C; $1", "set -- 'C'; eval \"$*\"", "a=(C); ${a[@]}", "a=('C'); eval \"${a[0]}\"", "trap 'C' EXIT",
	"trap \"C\" EXIT", "alias z='C'\nz", "shopt -s expand_aliases\nalias z='C'\nz", "C &", "C && true", "true && C", "false || C", "! C",
	"time C", "coproc C", "exec > >(C)", "cat <(C)", "echo a > >(C)", "echo > C", "> C", "<x C", "2>&1 C", "C > x", "{ C; } > x", "x=1 C",
	"command C", "builtin eval 'C'", "exec C", "env C", "mapfile -C 'C #' -c1 a <<< b", "compgen -C 'C'", "compgen -W 'C'", "printf C",
	"printf -v x C", "read x <<< C; $x", "while read l; do $l; done <<< 'C'", "until C; do break; done",
	"select i in C; do break; done <<< 1",
	"$(echo C)", "`echo C`", "eval $(echo 'C')", "eval \"$(cat <<'E'\nC\nE\n)\"", "source /dev/stdin <<< 'C'", ". <(echo 'C')",
	"# C", "a # C",
	"echo \\\nC", "C \\\n", "\\C", "C;", "C\n", "\nC", "C; C", "true; C", ":; C", "PS4='C'; set -x; :",
}

func TestEveryProbeInAContextIsRead(t *testing.T) {
	t.Parallel()
	folder, empty := probing(t, "sh", "bash", "cat", "env"), t.TempDir()
	random := rand.New(rand.NewPCG(11, 12)) //nolint:gosec // the same texts each time
	var texts []string
	for range 2500 {
		text := []string{"probe", "$(probe)", "`probe`"}[random.IntN(3)]
		for range 1 + random.IntN(3) {
			text = strings.ReplaceAll(contexts[random.IntN(len(contexts))], "C", text)
		}
		if text = "y=k; a=(1 2)\n" + text; len(text) <= 2000 {
			texts = append(texts, text)
		}
	}
	ran := 0
	for i, said := range bashSays(t, filepath.Join(folder, "bash"), "2>&1", empty, []string{"PATH=" + folder}, texts) {
		if !said.ranProbe() {
			continue
		}
		ran++
		c := Shell(texts[i], work)
		if c.Parsed && c.Complete && !slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "probe" }) {
			t.Errorf("bash runs a probe in %q, which is none of the calls", texts[i])
		}
	}
	if ran < 500 {
		t.Errorf("bash ran %d probes, so that the texts prove little", ran)
	}
}
