package shell

// cpio writes below the folder that it is given, or below the current one.
func cpioEffects(e *effect, _ string) {
	ops := e.args.operands
	if dir, ok := e.args.value("-D", "--directory"); ok {
		ops = []word{dir}
	} else if e.args.has("-i", "--extract") || len(ops) == 0 {
		ops = []word{known(".")}
	}
	if e.args.has("-i", "--extract", "-p", "--pass-through") {
		e.write(ops...)
	}
}
