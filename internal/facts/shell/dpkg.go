package shell

// dpkg writes the files of a package into the folder that comes second.
func dpkgEffects(e *effect, _ string) {
	if !e.args.has("-x", "--extract", "-X", "--vextract", "-e", "--control") {
		return
	}
	switch ops := e.args.operands; {
	case len(ops) > 1:
		e.write(ops[1:]...)
	default:
		e.write(known("."))
	}
	e.read(first(e.args.operands))
}
