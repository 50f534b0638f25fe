package shell

// named is "command": it starts a program by its name, unless it is only asked where that lies.
func (rd *reader) named(name string, inv *invocation, args *arguments) (result, bool) {
	if !args.has("-v", "-V") {
		return rd.inner(name, inv, args.rest), true
	}
	return rd.which(name, inv, args)
}

// which writes where a program lies; its name stands for that.
func (rd *reader) which(_ string, _ *invocation, args *arguments) (result, bool) {
	return result{out: stream{present: true, text: first(args.operands).text + "\n", known: len(args.operands) == 1, orNothing: true}}, true
}

// typeOf is "type": by -p and -P it writes where a program lies.
func (rd *reader) typeOf(name string, inv *invocation, args *arguments) (result, bool) {
	if !args.has("-p", "-P") {
		return result{}, false
	}
	return rd.which(name, inv, args)
}

// exec puts a program in the place of the shell.
func (rd *reader) exec(name string, inv *invocation, args *arguments) (result, bool) {
	if len(args.rest) == 0 {
		inv.files.stay(inv.sc)
		for _, p := range inv.files.out {
			rd.keep(p, literal(""), inv.files.appends)
		}
		return result{out: literal(""), opens: true}, true
	}
	r := rd.inner(name, inv, args.rest)
	r.ends = true
	return r, true
}

// source reads the file that it runs.
func sourceEffects(e *effect, _ string) {
	if ops := e.args.operands; len(ops) > 0 {
		e.read(ops[0])
	}
}
