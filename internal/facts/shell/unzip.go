package shell

// unzip follows "unzip FILE -d DIR".
func (rd *reader) unzip(_ string, inv *invocation, args *arguments) (result, bool) {
	dir, given := args.value("-d")
	if len(args.operands) > 0 {
		rd.extracts(inv, rd.stored(args.operands[0], inv.sc), dir, given)
	}
	return result{out: unknown(inv.in.Taint)}, true
}

// unzip writes below the current folder, where no option names another.
func unzipEffects(e *effect, _ string) {
	if _, given := e.args.value("-d"); !given && !e.args.has("-l", "-t", "-v", "-Z", "-p") {
		e.write(known("."))
	}
}
