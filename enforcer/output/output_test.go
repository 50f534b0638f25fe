package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// feed plays a runner that keeps to the caps it was given.
func feed(o *Output, text string, chunk int) ([]byte, bool) {
	head, tail := o.Caps()
	if len(text) <= head+tail {
		for len(text) > 0 {
			n := min(chunk, len(text))
			o.Take([]byte(text[:n]))
			text = text[n:]
		}
		return o.End(0)
	}
	o.Take([]byte(text[:head]))
	o.Take([]byte(text[len(text)-tail:]))
	return o.End(int64(len(text) - head - tail))
}

func TestOutputIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 99, 100, 101, 500, 100000} {
		t.Run(fmt.Sprint(length, " bytes of a limit of 100"), func(t *testing.T) {
			var told []byte
			o := New(100, nil, func(p bailiff.Progress) { told = append(told, p.Output...) })
			text := strings.Repeat("a", length/2) + strings.Repeat("z", length-length/2)
			got, truncated := feed(o, text, 7)
			if truncated != (length > 100) {
				t.Errorf("truncated is %v", truncated)
			}
			if !truncated && string(got) != text {
				t.Errorf("got %q", got)
			}
			if truncated && (!bytes.HasPrefix(got, []byte(strings.Repeat("a", 40)+"\n[… ")) ||
				!bytes.HasSuffix(got, []byte(" …]\n"+text[length-60:]))) {
				t.Errorf("got %q", got)
			}
			if !bytes.Equal(told, got) {
				t.Errorf("told %q, answered %q", told, got)
			}
		})
	}
}

func TestNoHalfOfAValueSurvivesTheCut(t *testing.T) {
	t.Parallel()
	const value = "s3cr3t-value-of-some-length"
	values := map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret(value)}
	for shift := range 300 {
		text := strings.Repeat(".", shift) + value + strings.Repeat("-", 600) + value + strings.Repeat(".", 300-shift)
		got, _ := feed(New(100, values, func(bailiff.Progress) {}), text, 11)
		for n := 6; n <= len(value); n++ {
			if bytes.Contains(got, []byte(value[:n])) || bytes.Contains(got, []byte(value[len(value)-n:])) {
				t.Fatalf("shifted by %d, the output holds part of the value: %q", shift, got)
			}
		}
	}
}

// Where many values shrink to their short names, what is left between the cut and
// the limit is more than the length of one value.
func TestNoHalfOfAValueSurvivesTheCutAmongMany(t *testing.T) {
	t.Parallel()
	const value = "s3cr3t-value-of-some-length"
	values := map[string]bailiff.Secret{"T": bailiff.NewSecret(value)}
	for shift := range len(value) {
		text := strings.Repeat(".", shift) + strings.Repeat(value, 60)
		got, truncated := feed(New(400, values, func(bailiff.Progress) {}), text, 11)
		for n := 6; n <= len(value); n++ {
			if bytes.Contains(got, []byte(value[:n])) || bytes.Contains(got, []byte(value[len(value)-n:])) {
				t.Fatalf("shifted by %d, the output holds part of the value: %q", shift, got)
			}
		}
		if !truncated {
			t.Fatal("nothing was cut")
		}
	}
}
