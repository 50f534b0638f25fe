package shell

import "strings"

// makefiles notes the files that make looks for, where no option names one.
func (a *analysis) makefiles(_ string, inv *invocation, args *arguments) {
	sc := inv.sc
	if dir, ok := args.value("-C", "--directory"); ok {
		sc = a.standing(dir, sc)
	}
	given := false
	for _, o := range args.options {
		if o.name != "-f" && o.name != "--file" && o.name != "--makefile" {
			continue
		}
		given = true
		if s, ok := a.hands(o.value, inv.in, inv.sc); ok {
			for _, code := range a.ofItsOwn(s) {
				a.recipes(inv, code)
			}
		}
	}
	if !given {
		a.runsAny(sc, "GNUmakefile", "makefile", "Makefile")
	}
}

// recipes reads the commands of a makefile that the text holds. What it expands itself
// is not followed.
func (a *analysis) recipes(inv *invocation, makefile word) {
	for _, line := range strings.Split(makefile.text, "\n") {
		command, ok := strings.CutPrefix(line, "\t")
		if !ok {
			if _, command, ok = strings.Cut(line, ";"); !ok || !strings.Contains(line, ":") {
				continue
			}
		}
		command = strings.ReplaceAll(strings.TrimLeft(command, "@-+ "), "$$", "\x00")
		if strings.Contains(command, "$") {
			a.hide()
		}
		a.text("make", inv, part(makefile, strings.ReplaceAll(command, "\x00", "$")), inv.sc.fork())
	}
}
