package shell

// sshKeygen writes the file of a key, unless it is only asked about one.
func sshKeygenEffects(e *effect, _ string) {
	file, ok := e.args.value("-f")
	if !ok {
		return
	}
	if e.args.has("-l", "-y", "-B", "-F", "-e", "-H") {
		e.read(file)
		return
	}
	e.write(file)
}
