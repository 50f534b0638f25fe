package shell

// perl changes its files in place with -i, as ruby does.
func perlEffects(e *effect, _ string) {
	if e.args.has("-i") && e.args.has("-e", "-E") {
		e.write(e.args.operands...)
		e.read(e.args.operands...)
	}
}
