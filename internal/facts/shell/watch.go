package shell

// watch gives its operands to a shell, as one text.
func (a *analysis) watch(name string, inv *invocation, args *arguments) (result, bool) {
	return a.text(name, inv, join(args.rest, " "), inv.sc.fork()), true
}
