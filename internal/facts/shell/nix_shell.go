package shell

// nixShell gives the text of its option to a shell.
func (a *analysis) nixShell(name string, inv *invocation, args *arguments) (result, bool) {
	code, ok := args.value("--run", "--command")
	if !ok {
		return result{}, false
	}
	return a.text(name, inv, code, inv.sc.fork()), true
}
