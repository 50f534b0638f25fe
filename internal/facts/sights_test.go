package facts_test

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/facts/programs/index"
)

func TestProgramsAreKnownByEntriesByTheIndexAndByWhereTheyLie(t *testing.T) {
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana", Contents: &facts.Contents{
		"/home/ana/web/judged.sh": {Text: "ls", Known: true, Recent: true}, "/home/ana/web/fresh": {Recent: true},
		"/tmp/judged-tool":        {Text: "\x00", Known: true},
		"/home/ana/web/judged.py": {Text: "#!/usr/bin/env python3\n1", Known: true}, "/home/ana/web/big.py": {},
		"/home/ana/web/tool.rb": {Text: "exit", Known: true},
		"/home/ana/web/machine": {Text: "\x00", Known: true}, "/home/ana/web/other": {Text: "#!/usr/bin/ruby\n1", Known: true}}}
	for text, want := range map[string][]string{
		"ls; git status; helm list; cd x":                       nil,
		"unheard-of a | other-unheard-of":                       {"other-unheard-of", "unheard-of"},
		"/usr/bin/unheard-of":                                   nil,
		"cd /usr/local/bin && ./unheard-of":                     nil,
		"./unheard-of; ~/bin/unheard-of; /tmp/unheard-of":       {"/home/ana/web/unheard-of", "/tmp/unheard-of", "~/bin/unheard-of"},
		"/usr/../tmp/unheard-of":                                {"/usr/../tmp/unheard-of"},
		"node_modules/.bin/unheard-of; .venv/bin/x":             nil,
		"./judged.sh; ./judged.py; ./fresh; ./machine; ./other": {"/home/ana/web/fresh", "/home/ana/web/machine", "/home/ana/web/other"},
		"python3 judged.py; bash judged.sh; python3 missing.py": nil,
		"python3 big.py; ruby tool.rb":                          {"/home/ana/web/big.py", "/home/ana/web/tool.rb"},
		"gcc -o app main.c && ./app":                            nil,
		"installed-here --version; ./declared":                  nil,
		"cd sub && ./declared":                                  {"~/web/sub/declared"},
		"./git status; /tmp/ls; $JAVA_HOME/bin/java x":          {"/home/ana/web/git", "/tmp/ls"},
		"read X < f; $X/git status; $(cat f)/tool; */git x":     {"$(…)/tool", "$X/git", "/home/ana/web/*/git"},
		"PATH=/tmp/x:/usr/bin git status; PATH=/tmp tool":       {"/tmp/tool", "/tmp/x/git", "/tmp/x/git-status", "tool"},
		"PATH=/tmp judged-tool; PATH=.venv/bin:$PATH ls":        {"/tmp/judged-tool"},
		"'./my tool'; './a:b'; ./tést; '~/x'": {"/home/ana/web/a:b", "/home/ana/web/my tool",
			"/home/ana/web/tést", `\~/x`},
		"sudo unheard-of; xargs unheard-of":                     {"unheard-of"},
		"$X; if true; then break; fi; 'two words'; f() { ls; }": nil,
	} {
		found := bailiff.Ground{Sought: true, Known: []string{"installed-here", "/home/ana/web/declared"}}
		s := facts.SightsOf(facts.Shell(text, at), at, found)
		if len(s.Unknown) != len(want) || !slices.Equal(s.Unknown, want) && len(want) > 0 || len(s.Unsought) > 0 {
			t.Errorf("%s: unknown are %q, want %q; unsought are %q, want none", text, s.Unknown, want, s.Unsought)
		}
	}
	s := facts.SightsOf(facts.Shell("yosys x; ls", at), at, bailiff.Ground{})
	if s.Kinds["yosys"] != index.Builds || s.Kinds["ls"] != "" {
		t.Errorf("kinds are %v", s.Kinds)
	}
}

func TestAFileIsMadeByTheTextThatRunsItOnlyWhereItsContentIsTheTexts(t *testing.T) {
	const tool = "/home/ana/web/tool"
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana", Contents: &facts.Contents{
		tool: {}, "~/web/tool": {}, "~/web/x.tar": {}, "~/web/x.pl": {}, "/home/ana/web/young": {Recent: true},
		"/home/ana/web/app": {}, "/home/ana/web/x.pl": {}, "/home/ana/web/x.tar": {},
		"/home/ana/web/judged.sh": {Text: "ls", Known: true}, "/home/ana/web/x.pyc": {Text: "\x00", Known: true},
		"/home/ana/web/env1": {Text: "#!/usr/bin/env -S PATH=bin bash", Known: true},
		"/home/ana/web/own1": {Text: "#!/home/ana/web/bin/bash", Known: true}, "/home/ana/web/own2": {Text: "#!bin/python3", Known: true},
		"/home/ana/web/main.c": {Text: "int main;", Known: true}}}
	for text, want := range map[string][]string{
		"touch /tmp/tool; ./tool": {tool}, "touch tool; ./tool": {tool}, "chmod +x tool && ./tool": {tool}, "mkdir tool; ./tool": {tool},
		"go version; ./tool": {tool}, "make -n all; ./tool": {tool}, "cmake --version && ./tool": {tool}, "> sub/tool; ./tool": {tool},
		"mv tool other; ./other": {tool}, "cp tool other; ./other": {tool}, "cat tool > other; ./other": {"~/web/tool"},
		"ln -s tool o; ./o":         {tool},
		"cp machine other; ./other": {"/home/ana/web/machine"},
		"cp x.pl y.pl; perl y.pl":   {"/home/ana/web/x.pl"}, "tar xf x.tar; ./new": {"~/web/x.tar"},
		"python3 x.pyc":              {"/home/ana/web/x.pyc"},
		"gcc -o app main.c && ./app": nil, "cp /usr/bin/id app && ./app": nil, "cp judged.sh app && ./app": nil,
		"echo 'ls' > app; ./app": nil, "curl -o app https://example.com/; ./app": nil, "go build -o app . && ./app": nil,
		"echo 'print 1' > x.pl; perl x.pl": nil, "python3 -c 'open(\"app\", \"w\").write(\"ls\")'; ./app": nil,
		"rustc -o app main.rs && ./app": nil, "chmod +x app; gcc main.c -o app; ./app": nil,
		"perl < x.pl": {"/home/ana/web/x.pl"}, "cat x.pl | perl": {"/home/ana/web/x.pl"}, "perl -ne 1 < x.pl": nil, "echo | perl -e 1": nil,
		"./env1": {"/home/ana/web/env1"}, "./own1": {"/home/ana/web/bin/bash"}, "./own2": {"bin/python3"}, "./judged.sh": nil,
		"ls bin; $_/git x": {"$_/git"}, "getopts a: X -a bin; $OPTARG/git x": {"$OPTARG/git"}, "$JAVA_HOME/bin/java": nil,
	} {
		s := facts.SightsOf(facts.Shell(text, at), at, bailiff.Ground{Sought: true})
		if len(s.Unknown) != len(want) || !slices.Equal(s.Unknown, want) && len(want) > 0 {
			t.Errorf("%s: unknown are %q, want %q", text, s.Unknown, want)
		}
	}
}

func TestWhereNoHostWasLookedAtTheFactsSaySo(t *testing.T) {
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana"}
	s := facts.SightsOf(facts.Shell("unheard-of; ./tool; sub/tool; ../tool; /tmp/tool; ~/tool", at), at, bailiff.Ground{})
	want := []string{"/home/ana/web/../tool", "/home/ana/web/sub/tool", "/home/ana/web/tool", "/tmp/tool", "unheard-of", "~/tool"}
	if !slices.Equal(s.Unsought, want) || len(s.Unknown) > 0 {
		t.Errorf("unsought are %q, want %q; unknown are %q, want none", s.Unsought, want, s.Unknown)
	}
	if s.Held != nil {
		t.Errorf("held are %v, want none", s.Held)
	}
}

func TestAProgramIsHeldByItsContentUnlessItsWordsMayBeCode(t *testing.T) {
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana"}
	for text, want := range map[string]bool{
		"./tool build --release --name=x":     true,
		"./unread":                            false,
		"./tool -c whoami":                    false,
		"./tool --eval=1":                     false,
		"./tool 'f(1)'":                       false,
		"./tool rm -rf x":                     false,
		"echo x | ./tool build":               false,
		"./tool <<< x":                        false,
		"./tool < x":                          false,
		"ls | xargs ./tool":                   false,
		"./tool build > x":                    true,
		"./tool build | sort":                 true,
		"./nmap x; ./useradd x; ./unread":     false,
		"./tool \"$(cat x)\" && ./tool build": false,
	} {
		found := bailiff.Ground{Sought: true, Unknown: []bailiff.File{{Path: "/home/ana/web/tool", SHA256: "d"},
			{Path: "/home/ana/web/nmap", SHA256: "d"},
			{Path: "/home/ana/web/useradd", SHA256: "d"}, {Path: "/home/ana/web/unread"}}}
		s := facts.SightsOf(facts.Shell(text, at), at, found)
		if s.Held == nil || (s.Held["/home/ana/web/tool"] == "d") != want || len(s.Held) > 1 {
			t.Errorf("%s: held are %v, want the tool: %v", text, s.Held, want)
		}
	}
}
