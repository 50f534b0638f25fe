package shell

// flock starts a command, or gives a text to a shell, once it holds a lock.
func (rd *reader) flock(name string, inv *invocation, args *arguments) (result, bool) {
	argv := after(args.rest, 1)
	code, given := args.value("-c", "--command")
	switch {
	case given:
		return rd.text(name, inv, code, inv.sc.fork()), true
	case len(argv) > 1 && argv[0].text == "-c":
		return rd.text(name, inv, argv[1], inv.sc.fork()), true
	}
	return rd.inner(name, inv, argv), true
}
