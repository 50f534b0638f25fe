package loads

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/languages"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// nodeSettings reads a file of settings in Node's language that a program found by itself; it is false for one that does more
// than name settings. Texts in it may be commands, and paths may be those of modules.
func (ld *Loader) nodeSettings(name string, inv *call.Invocation, s word.Stream) bool {
	tokens, ok := languages.NodeTokens(s.Text)
	if !ok || !ld.Spend(1+len(tokens)) || !languages.OnlyNodeSettings(name, tokens) {
		return false
	}
	for _, t := range tokens {
		switch {
		case !t.IsString():
		case strings.HasPrefix(t.Text, "./") || strings.HasPrefix(t.Text, "../"):
			ld.readImports(name, "node", inv, []string{t.Text})
		case strings.Contains(t.Text, " "):
			ld.Text(name, inv, word.Word{Text: t.Text, Known: true, Taint: s.Taint}, inv.Scope.Fork())
		}
	}
	return true
}
