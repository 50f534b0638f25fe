package facts_test

import (
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// handed are programs in files, by languages of which some are read and the others are not.
var handed = map[string]string{
	"s.sed": "1e rm -rf x\n", "a.awk": "BEGIN{system(\"rm -rf x\")}\n", "m.mk": "all:\n\trm -rf x\n", "l.txt": "rm -rf x\n",
	"t.sh": "rm -rf x\n", "d/a": "#!/bin/sh\nrm -rf x\n", "q.sql": ".shell rm -rf x\n", "g.gdb": "shell rm -rf x\n",
	"v.vim": ":!rm -rf x\n", "d.m4": "syscmd(`rm -rf x')\n", "j.just": "a:\n\trm -rf x\n",
	"t.yml": "tasks:\n  a:\n    - rm -rf x\n", "x.js": "load('y')", "x.gradle": "x", "x.R": "unlink('x')", "x.scm": "(f x)",
	"x.php": "<?php f();", "x.exp": "spawn x",
}

func TestProgramsInFilesOfTheSessionAreReadOrHidden(t *testing.T) {
	contents := facts.Contents{}
	for file, text := range handed {
		contents["/home/ana/web/"+file] = facts.Content{Text: text, Known: true, Recent: true}
	}
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana", Contents: &contents}
	for _, text := range []string{
		"run-parts d", "sed -nf s.sed x", "sed --file=s.sed x", "find . -exec sed -f s.sed {} +", "awk -f a.awk x",
		"gawk -i ./a.awk 'BEGIN{}'", "gawk --include=a 'BEGIN{}'", "gawk -E a.awk", "gawk --exec a.awk", "make -f m.mk",
		"gmake --file=m.mk", "xargs -a l.txt -I{} sh -c '{}'", "parallel -a l.txt", "parallel --arg-file l.txt", "parallel :::: l.txt",
		"find . -name t.sh -exec sh {} +", "sqlite3 -init q.sql app.db", "gdb -x g.gdb", "vim -s v.vim x", "vim -S v.vim", "m4 d.m4",
		"just --justfile=j.just a", "task -t t.yml a", "gradle -b x.gradle", "mongosh x.js", "R -f x.R", "guile -s x.scm",
		"sbcl --script x.scm", "php -f x.php", "expect -f x.exp", "echo x | R --file=x.R",
	} {
		c := facts.Shell(text, at)
		if c.Complete && !slices.Contains(c.Programs, "rm") {
			t.Errorf("%s: neither read nor hidden; files are %q", text, c.Files)
		}
	}
}

func TestScriptsThatOptionsNameAreFirstSights(t *testing.T) {
	contents := facts.Contents{}
	for file, text := range handed {
		contents["/home/ana/web/"+file] = facts.Content{Text: text, Known: true}
	}
	at := facts.Place{Workdir: "/home/ana/web", Home: "/home/ana", Contents: &contents}
	for text, want := range map[string]string{
		"R -f x.R": "x.R", "R --file=x.R": "x.R", "guile -s x.scm": "x.scm", "sbcl --load x.scm": "x.scm", "php -f x.php": "x.php",
		"expect -f x.exp": "x.exp", "just -f j.just a": "j.just", "just --justfile=j.just a": "j.just", "task -t t.yml a": "t.yml",
		"gradle -b x.gradle": "x.gradle", "just a": "", "R --version": "", "make -f m.mk": "", "php -f declared.php": "",
	} {
		s := facts.SightsOf(facts.Shell(text, at), at, bailiff.Ground{Sought: true, Known: []string{"/home/ana/web/declared.php"}})
		if want == "" && len(s.Unknown) > 0 || want != "" && !slices.Equal(s.Unknown, []string{"/home/ana/web/" + want}) {
			t.Errorf("%s: unknown are %q, want %q", text, s.Unknown, want)
		}
	}
}
