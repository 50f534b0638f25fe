package shell

// makefiles notes the files that make looks for, where no option names one.
func (a *analysis) makefiles(_ string, inv *invocation, args *arguments) {
	sc := inv.sc
	if dir, ok := args.value("-C", "--directory"); ok {
		sc = a.standing(dir, sc)
	}
	if _, given := args.value("-f", "--file", "--makefile"); !given {
		a.runsAny(sc, "GNUmakefile", "makefile", "Makefile")
	}
}
