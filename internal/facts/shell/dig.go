package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// dig asks the server after "@" for names.
func digEffects(e *effect, _ string) {
	ops := e.args.operands
	for _, w := range ops {
		if server, ok := strings.CutPrefix(w.text, "@"); ok {
			e.host(value.NormalHost(server))
		} else if strings.Contains(w.text, ".") {
			e.host(value.NormalHost(w.text))
		}
	}
}
