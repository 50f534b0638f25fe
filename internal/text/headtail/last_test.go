package headtail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

func TestTheLastWordsAreTheEndOfAllThatWasWritten(t *testing.T) {
	t.Parallel()
	for _, piece := range []int{1, 7, 512, 600, 2000} {
		var last headtail.Last
		if last.String() != "" {
			t.Errorf("before anything was written it holds %q", &last)
		}
		whole := strings.Repeat("0123456789abc", 100) + "\n"
		for rest := whole; rest != ""; {
			n := min(piece, len(rest))
			if _, err := fmt.Fprint(&last, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if want := strings.TrimSpace(whole[len(whole)-512:]); last.String() != want {
			t.Errorf("in pieces of %d it holds %q, want %q", piece, &last, want)
		}
	}
}
