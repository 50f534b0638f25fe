package facts

import "testing"

func TestOnlyAShellThatReadsItsInputUnderstandsWhatIsTyped(t *testing.T) {
	for text, want := range map[string]bool{
		"bash": true, "sh": true, "/bin/sh -i": true, "bash --norc -i": true, "exec bash": false, "sh -s": true, "/usr/bin/dash -eux": true,
		"": false, "fish": false, "python3 -i": false, "/tmp/bash": false, "./sh": false, "bash x.sh": false, "bash -c 'read x'": false,
		"sh -c": false, "sh -ic 'cat'": false, "bash --rcfile evil": false, "bash -O extglob": false, "bash -o vi": false, "bash < commands": false,
		"PATH=/tmp bash": false, "BASH_ENV=x bash": false, "sudo bash": false, "bash; python3 -i": false, "python3 -i; bash": false,
		"cat | bash": false, "bash | tee log": false, "bash(": false, "$SHELL": false, "ssh host": false, "sh() { python3 -i; }; sh": false,
		"alias sh=python3; sh": false, "env sh": false, "nohup sh": false, "bash <<< x": false, "bash <<E\nx\nE": false, "{ bash; }": true, "bash # c": true,
		"trap 'x' 0; bash": false, "read x; bash": false, "cd /; bash": false, "while true; do bash; done": false,
	} {
		if got := OpensShell(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
