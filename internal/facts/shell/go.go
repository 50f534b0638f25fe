package shell

import "strings"

// goFiles notes the files of "go run".
func (a *analysis) goFiles(_ string, inv *invocation, args *arguments) {
	if first(args.operands).text != "run" {
		return
	}
	for _, w := range args.operands[1:] {
		if !strings.HasSuffix(w.text, ".go") {
			break
		}
		a.runsFile(w, inv.sc)
	}
}
