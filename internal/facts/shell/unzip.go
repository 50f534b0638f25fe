package shell

// unzip follows "unzip FILE -d DIR".
func (fs *overlay) unzip(_ string, inv *invocation, args *arguments) (result, bool) {
	dir, given := args.value("-d")
	if len(args.operands) > 0 {
		fs.extracts(inv, fs.stored(args.operands[0], inv.sc), dir, given)
	}
	return result{out: unknown(inv.in.Taint)}, true
}

// unzip writes below the current folder, where no option names another.
func (e *effect) unzip(string) {
	if _, given := e.args.value("-d"); !given && !e.args.has("-l", "-t", "-v", "-Z", "-p") {
		e.write(known("."))
	}
}
