package shell

// nixShell gives the text of its option to a shell.
func (rd *reader) nixShell(name string, inv *invocation, args *arguments) (result, bool) {
	code, ok := args.value("--run", "--command")
	if !ok {
		return result{}, false
	}
	return rd.text(name, inv, code, inv.sc.fork()), true
}
