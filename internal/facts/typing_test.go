package facts

import "testing"

func TestOnlyAShellThatReadsItsInputUnderstandsWhatIsTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"bash": true, "sh": true, "/bin/sh -e": true, "bash --norc -u": true, "sh -i": false, "bash --norc -i": false, "bash -l": false,
		"bash --login": false, "zsh": false, "ksh": false, "exec bash": false, "sh -s": true, "/usr/bin/dash -eux": true,
		"": false, "fish": false, "python3 -i": false, "/tmp/bash": false, "./sh": false, "bash x.sh": false, "bash -c 'read x'": false,
		"sh -c": false, "sh -ic 'cat'": false, "bash --rcfile evil": false, "bash -O extglob": false, "bash -o vi": false,
		"bash < commands": false,
		"PATH=/tmp bash":  false, "BASH_ENV=x bash": false, "sudo bash": false, "bash; python3 -i": false, "python3 -i; bash": false,
		"cat | bash": false, "bash | tee log": false, "bash(": false, "$SHELL": false, "ssh host": false, "sh() { python3 -i; }; sh": false,
		"alias sh=python3; sh": false, "env sh": false, "nohup sh": false, "bash <<< x": false, "bash <<E\nx\nE": false,
		"{ bash; }": true, "bash # c": true,
		"trap 'x' 0; bash": false, "read x; bash": false, "cd /; bash": false, "while true; do bash; done": false,
	} {
		if got := opensShell(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestTypedTextIsCompleteOnlyIfItLeavesItsShellAsItWas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "ls -l x": true, "ls -l\n": true, "echo a\nls b\n": true, "echo a; pwd": true, "test -d x && ls x": true, "/bin/ls": true,
		"perl": false, "bash": false, "cat": false, "head -c 5": false, "npm test": false, "rm x": false, "read x": false, "exit": false,
		"perl\nls": false,
		"cd x":     false, "x=1": false, "f() { ls; }": false, "alias ls=rm": false, "set -- rm": false, "printf -v PATH x": false,
		"echo rm -r build > /dev/stdin": false, "echo rm -r build > x": false, "echo rm | tee x": false, "cp x /dev/stdin": false,
		"mv a b":    false,
		"ls | sort": false, "ls &": false, "(ls)": false, "ls *": false, "ls $x": false, "./ls": false, "cat <<E": false, "x=$(": false,
		"if true; then": false,
	} {
		if got := TypedText(text, "bash", work).Complete; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
		for _, reader := range []string{"perl", "python3 -i", "node", "psql", "sqlite3 x.db", "ed", "vim -es", "redis-cli", "irb",
			"bash -i", "zsh", ""} {
			if TypedText(text, reader, work).Complete {
				t.Errorf("%q is complete to %q", text, reader)
			}
		}
	}
}
