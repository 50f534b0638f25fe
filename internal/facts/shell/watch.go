package shell

// watch gives its operands to a shell, as one text.
func (rd *reader) watch(name string, inv *invocation, args *arguments) (result, bool) {
	return rd.text(name, inv, join(args.rest, " "), inv.sc.fork()), true
}
