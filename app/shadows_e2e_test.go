package app

import (
	"fmt"
	"testing"
)

// A module of Python's library may be a file of the project wherever a program of Python's comes to run.
func TestWhatShadowsAModuleOfTheLibraryIsJudgedWhereverAProgramRuns(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), onePerson(t, "backends: {local: {}}"))
	const harm = "import os\nif 0: os.system('rm -rf ./precious')\n"
	const deletes, hides = "command.deletes_recursively", "command.hides_meaning"
	const line, program = "python3 -c 'import json; print(1)'", "import json\nprint(1)\n"
	type files = map[string]string
	siblings := files{}
	for i := range 130 {
		siblings[fmt.Sprintf("m%d.py", i)] = "A = 1\n"
	}
	judgesHeld(t, o, map[string]heldFile{
		"out of a script": {name: "re.py", content: harm, run: "sh r.sh", beside: files{"r.sh": line}, rule: deletes},
		"where something else is asked about": {name: "re.py", content: "import sys\nexec(sys.argv[1])\n",
			run: "false && rm -r x; sh r.sh", beside: files{"r.sh": "false && " + line}, rule: hides},
		"out of a makefile": {name: "re.py", content: harm, run: "make",
			beside: files{"Makefile": "all:\n\t" + line + "\n"}, rule: deletes},
		"out of a package": {name: "re.py", content: harm, run: "false && npm run a",
			beside: files{"package.json": `{"scripts": {"a": "python3 -c 'import json'"}}`}, rule: deletes},
		"out of a program by a pipe": {name: "re.py", content: harm, run: "python3 < p.txt",
			beside: files{"p.txt": program}, rule: deletes},
		"beside a started program": {name: "s/re.py", content: harm, run: "chmod +x s/t && s/t",
			beside: files{"s/t": "#!/usr/bin/python3\n" + program}, rule: deletes},
		"in a folder that runs": {name: "k/re.py", content: harm, run: "python3 k", beside: files{"k/__main__.py": program}, rule: deletes},
		"behind a link and up": {name: "o/re.py", content: harm, run: "python3 l/../p.py", beside: files{"o/p.py": program, "o/s/x": ""},
			links: files{"l": "o/s"}, rule: deletes},
		"where a program that is a link lies": {name: "o/re.py", content: harm, run: "python3 p.py", beside: files{"o/p.py": program},
			links: files{"p.py": "o/p.py"}, rule: deletes},
		"by a link to a folder":          {name: "o/__init__.py", content: harm, run: line, links: files{"re": "o"}, rule: deletes},
		"as a compiled folder":           {name: "re/__init__.pyc", content: "\x00\x01", run: "false && " + line, rule: hides},
		"in a folder that is not read":   {name: "a[b]/m.py", content: "A = 1\n", run: "cd 'a[b]' && " + line, rule: hides},
		"among more files than are told": {name: "re.py", content: harm, run: line, beside: siblings, rule: deletes},
		"nowhere among more files":       {name: "retro.py", content: harm, run: line, beside: siblings},
		"beside a script that is read":   {name: "s/re.py", content: harm, run: "sh s/r.sh", beside: files{"s/r.sh": line}},
		"a harmless one out of a script": {name: "re.py", content: "A = 1\n", run: "sh r.sh", beside: files{"r.sh": "false && " + line}},
	})
}
