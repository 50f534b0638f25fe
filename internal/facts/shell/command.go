package shell

// named is "command": it starts a program by its name, unless it is only asked where that lies.
func (a *analysis) named(name string, inv *invocation, args *arguments) (result, bool) {
	if !args.has("-v", "-V") {
		return a.inner(name, inv, args.rest), true
	}
	return a.which(name, inv, args)
}

// which writes where a program lies; its name stands for that.
func (a *analysis) which(_ string, _ *invocation, args *arguments) (result, bool) {
	return result{out: stream{present: true, text: first(args.operands).text + "\n", known: len(args.operands) == 1, orNothing: true}}, true
}

// typeOf is "type": by -p and -P it writes where a program lies.
func (a *analysis) typeOf(name string, inv *invocation, args *arguments) (result, bool) {
	if !args.has("-p", "-P") {
		return result{}, false
	}
	return a.which(name, inv, args)
}

// exec puts a program in the place of the shell.
func (a *analysis) exec(name string, inv *invocation, args *arguments) (result, bool) {
	if len(args.rest) == 0 {
		inv.sc.stays(inv.files)
		for _, p := range inv.files.out {
			a.keep(p, literal(""), inv.files.appends)
		}
		return result{out: literal(""), opens: true}, true
	}
	r := a.inner(name, inv, args.rest)
	r.ends = true
	return r, true
}

// source reads the file that it runs.
func (e *effect) source(string) {
	if ops := e.args.operands; len(ops) > 0 {
		e.read(ops[0])
	}
}
