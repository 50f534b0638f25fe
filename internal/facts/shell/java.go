package shell

import "strings"

// javaFile notes a source file that is run.
func (a *analysis) javaFile(_ string, inv *invocation, args *arguments) {
	if file := first(args.operands); strings.HasSuffix(file.text, ".java") {
		a.runsFile(file, inv.sc)
	}
}
