package facts

import (
	"strings"
	"testing"
)

func BenchmarkShell(b *testing.B) {
	for name, text := range map[string]string{
		"short":    "git status",
		"ordinary": `cd "$(git rev-parse --show-toplevel)" && FOO=bar go test ./... 2>&1 | tail -20`,
		"evasive":  "c=$(echo mr | rev); sudo env X=1 timeout 5 bash -c \"$c -rf $HOME\"",
		"64KiB":    strings.Repeat("for f in *.go; do gofmt -l \"$f\"; done\n", 1680),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Shell(text, work)
			}
		})
	}
}
