package facts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestPlacesInWhichProgramsFindWhatTheyRunAreTold(t *testing.T) {
	for text, want := range map[string][]bailiff.Implied{
		"git status":                          {{Kind: "git", Folder: "/w"}},
		"cd a && git push":                    {{Kind: "git", Folder: "/w/a"}},
		"git -C b log":                        {{Kind: "git", Folder: "/w/b"}},
		"git --git-dir=/x/y log":              {{Kind: "git", Folder: "$"}},
		"HOME=/x git log":                     {{Kind: "git", Folder: "$"}},
		"export XDG_CONFIG_HOME=/x; git log":  {{Kind: "git", Folder: "$"}},
		"git -c core.hooksPath=hk commit":     {{Kind: "git", Folder: "$"}},
		"GIT_PAGER=cat git log":               {{Kind: "git", Folder: "/w"}},
		"GIT_DIR=/x git log":                  {{Kind: "git", Folder: "$"}},
		"python3 s/p.py":                      {{Kind: "python", Folder: "/w/s"}},
		"python3 lnk/../p.py":                 {{Kind: "python", Folder: "/w/lnk/.."}},
		"python3 /p.py":                       {{Kind: "python", Folder: "/"}},
		"python3 < s/p.py":                    {{Kind: "python", Folder: "/w"}},
		"python3 -m p":                        {{Kind: "python", Folder: "/w"}},
		"python3 -c 'import json'":            {{Kind: "python", Folder: "/w"}},
		"PYTHONPATH=/l python3 p.py":          {{Kind: "python", Folder: "/l"}, {Kind: "python", Folder: "/w"}},
		"perl -I lib -e 1":                    {{Kind: "files", Folder: "/w/lib"}},
		"LD_LIBRARY_PATH=. ls":                {{Kind: "files", Folder: "/w"}},
		"./ve/bin/python -c 'import json'":    {{Kind: "packages", Folder: "/w/ve"}, {Kind: "python", Folder: "/w"}},
		"node -e 'require(\"leftp\")'":        {{Kind: "packages", Folder: "/w/node_modules"}},
		"node -e 'require(\"fs\").x'":         nil,
		"ls; cat x; /usr/bin/perl -e 'print'": nil,
	} {
		ground := &Ground{}
		Shell(text, Place{Workdir: "/w", Ground: ground})
		got := ground.Implied()
		slices.SortFunc(got, func(a, b bailiff.Implied) int {
			return slices.Compare([]string{string(a.Kind), a.Folder}, []string{string(b.Kind), b.Folder})
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestAFileThatShadowsAModuleOfTheLibraryIsRead(t *testing.T) {
	const harm = "import os\nos.system('rm -rf ~')"
	program := Content{Text: "import json\n", Known: true, Recent: true}
	for name, c := range map[string]struct {
		text, file string
		reads      bool
	}{
		"which another one imports":     {"python3 -c 'import json; print(1)'", "/w/re.py", true},
		"beside the script":             {"python3 s/p.py", "/w/s/re.py", true},
		"as a folder":                   {"python3 -m json.tool", "/w/argparse/__init__.py", true},
		"as a compiled folder":          {"python3 -m json.tool", "/w/argparse/__init__.pyc", true},
		"as a folder of machine code":   {"python3 -m json.tool", "/w/argparse/__init__.cpython-311-x86_64-linux-gnu.so", true},
		"another file of such a folder": {"python3 -c 'import json; print(1)'", "/w/re/x.py", false},
		"for a script's own Python":     {"sh s/r.sh", "/w/re.py", true},
		"beside that script":            {"sh s/r.sh", "/w/s/re.py", false},
		"for a started script":          {"s/t", "/w/s/re.py", true},
		"where a started script runs":   {"s/t", "/w/re.py", false},
		"for a program by a pipe":       {"python3 < s/q", "/w/re.py", true},
		"beside such a program":         {"python3 < s/q", "/w/s/re.py", false},
		"for a folder":                  {"python3 k", "/w/k/re.py", true},
		"around such a folder":          {"python3 k", "/w/re.py", false},
		"behind a link and up":          {"python3 l/../p.py", "/w/l/../re.py", true},
		"above a link":                  {"python3 l/../p.py", "/w/re.py", false},
		"where a link leads to":         {"python3 n.py", "/real/re.py", true},
		"an inner one":                  {"python3 -c 'import datetime'", "/w/_strptime.py", true},
		"the start-up module":           {"PYTHONPATH=/l python3 -c 'import json'", "/l/sitecustomize.py", true},
		"of a folder not searched":      {"python3 -c 'import json; print(1)'", "/w/s/re.py", false},
		"of another name":               {"python3 -c 'import json; print(1)'", "/w/helpers.py", false},
		"one that is loaded before":     {"python3 -c 'import json; print(1)'", "/w/os.py", false},
		"a file of another language":    {"python3 -c 'import json; print(1)'", "/w/re.pyi", false},
		"where no Python program runs":  {"cat re.py", "/w/re.py", false},
	} {
		contents := Contents{c.file: {Text: harm, Known: true, Recent: true},
			"/w/k":             {Folder: true},
			"/w/k/__main__.py": program, "/w/s/p.py": program, "/w/s/q": program, "/w/l/../p.py": program, "/w/n.py": program,
			"/w/s/r.sh": {Text: "python3 -c 'import json; print(1)'\n", Known: true, Recent: true},
			"/w/s/t":    {Text: "#!/usr/bin/python3\nimport json\n", Known: true, Recent: true}}
		ground := &Ground{Links: map[string][]string{"/w/n.py": {"/real/n.py"}}}
		read := Shell(c.text, Place{Workdir: "/w", Contents: &contents, Ground: ground})
		runs := slices.ContainsFunc(read.Calls, func(call Call) bool { return call.Program == "rm" })
		if runs != c.reads {
			t.Errorf("%s: what is in it is seen: %v, want %v", name, runs, c.reads)
		}
	}
}

func TestAFileThatIsCodeForAnotherToolBelongsToTheText(t *testing.T) {
	for text, want := range map[string]string{
		"docker build -f Df .":               "/w/Df",
		"docker buildx build -t x --file Df": "/w/Df",
		"podman build app":                   "/w/app/Dockerfile",
		"git apply x.patch":                  "/w/x.patch",
		"git am x.patch":                     "/w/x.patch",
		"git -C top apply x.patch":           "/w/top/x.patch",
		"patch -d top -i x.patch":            "/w/top/x.patch",
		"patch -p1 < x.patch":                "/w/x.patch",
		"patch -i x.patch":                   "/w/x.patch",
	} {
		if c := Shell(text, Place{Workdir: "/w"}); !slices.Contains(c.Opens, want) {
			t.Errorf("%s: opens %q, want %q", text, c.Opens, want)
		}
	}
	for text, runs := range map[string]bool{"docker compose down": false, "docker compose -f stop up": true,
		"docker-compose -f a.yml stop": false,
		"docker compose restart":       true, "docker compose --workdir stop up": true, "docker compose --profile stop up": true} {
		if c := Shell(text, Place{Workdir: "/w"}); (len(c.Files) > 0) != runs {
			t.Errorf("%s: runs files %q, want some: %v", text, c.Files, runs)
		}
	}
}

func TestHooksOfARepositoryToWhichIsPushedAreRead(t *testing.T) {
	contents := Contents{"/w/rr/hooks/pre-receive": {Text: "#!/bin/sh\nrm -rf ~\n", Known: true, Recent: true}}
	for text, reads := range map[string]bool{"git push ./rr m": true, "git push /w/rr m": true, "git push origin m": false,
		"git push https://x.example/rr m": false, "git push git@x.example:a/rr m": false, "git fetch ./rr": false} {
		c := Shell(text, Place{Workdir: "/w", Contents: &contents})
		if runs := slices.ContainsFunc(c.Calls, func(call Call) bool { return call.Program == "rm" }); runs != reads {
			t.Errorf("%s: the hook is read: %v, want %v", text, runs, reads)
		}
	}
}

func TestMorePlacesThanAreToldLeaveTheTextOpen(t *testing.T) {
	for count, want := range map[int]bool{10: true, 100: false} {
		ground := &Ground{}
		for i := range count {
			ground.Imply(bailiff.ImpliedModules, fmt.Sprint(i))
		}
		if _, all := ground.Paths(); all != want {
			t.Errorf("of %d places all are told: %v, want %v", count, all, want)
		}
	}
}
