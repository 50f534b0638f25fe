package loops_test

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/loops"
)

func TestStartWithoutEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"while true; do work & done":                  true,
		"while :; do work & done":                     true,
		"while [ 1 ]; do work & done":                 true,
		"while [[ 1 ]]; do work & done":               true,
		"while ((1)); do work & done":                 true,
		"for ((;;)); do work & done":                  true,
		"for ((i = 0; ; i++)); do work & done":        true,
		"for ((;1;)); do work & done":                 true,
		"while true; do work & disown; wait; done":    true,
		"while true; do work & wait; done":            false,
		"while true; do work & sleep 1; done":         false,
		"while true; do work; done":                   false,
		"while ((0)); do work & done":                 false,
		"while ! true; do work & done":                false,
		"until true; do work & done":                  false,
		"while read -r x; do work & done":             false,
		"while [[ -f x ]]; do work & done":            false,
		"for ((i = 0; i < 3; i++)); do work & done":   false,
		"for ((;;)); do work & break; done":           false,
		"for x in a b; do work & done":                false,
		"while test -n \"$x\"; do work & done":        false,
		"while true && false; do work & done":         false,
		"while true; do sleep 1 & read -r line; done": false,
		"if true; then work & fi":                     false,
	} {
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := loops.StartWithoutEnd(file.Stmts[0].Cmd); got != want {
			t.Errorf("%s starts without end: %v", text, got)
		}
	}
}
