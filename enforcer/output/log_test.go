package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// printed is a process of which only the log is looked at.
type printed struct {
	backends.Process
	text  []byte
	lost  int // bytes of the log's beginning that it no longer holds
	fault error
}

func (p *printed) Log(_ context.Context, offset int64, most int) (backends.Piece, error) {
	if p.fault != nil && most > 0 {
		return backends.Piece{}, p.fault
	}
	from := max(int(offset), p.lost)
	to := max(from, min(from+most, len(p.text)))
	return backends.Piece{From: int64(from), Data: bytes.Clone(p.text[min(from, len(p.text)):min(to, len(p.text))]),
		Written: int64(len(p.text))}, nil
}

func (p *printed) prints(text string) { p.text = append(p.text, text...) }

var errBoom = errors.New("boom")

// reading is a log, and what came of reading it.
type reading struct {
	*printed
	log   *Log
	limit int
	said  string
	cut   bool
}

func newReading(limit int, values map[string]bailiff.Secret) *reading {
	return &reading{printed: &printed{}, log: NewLog(0, values), limit: limit}
}

func (r *reading) poll(t *testing.T, last bool) string {
	t.Helper()
	out, cut, err := r.log.Read(t.Context(), r.printed, r.limit, last)
	if err != nil {
		t.Fatal(err)
	}
	r.said, r.cut = r.said+string(out), r.cut || cut
	return string(out)
}

const secretValue = "s3cr3t-value-of-some-length"

func TestAValueThatStraddlesPollsIsRedacted(t *testing.T) {
	t.Parallel()
	values := map[string]bailiff.Secret{"T": bailiff.NewSecret(secretValue)}
	text := "before " + secretValue + " between " + secretValue + secretValue + " after s3cr3t-v"
	want := strings.ReplaceAll(text, secretValue, "[T redacted]")
	for range 300 {
		r := newReading(1000, values)
		for rest := text; rest != ""; {
			n := 1 + rand.IntN(len(rest))
			r.prints(rest[:n])
			rest = rest[n:]
			if said := r.poll(t, rest == "" && n%2 == 0); strings.Contains(said, "s3cr3t") && rest != "" {
				t.Fatalf("a poll told %q", said)
			}
		}
		r.poll(t, true)
		if r.said != want || r.cut {
			t.Fatalf("polls told %q, want %q", r.said, want)
		}
	}
}

func TestNoHalfOfAValueIsToldWhereALogIsCut(t *testing.T) {
	t.Parallel()
	values := map[string]bailiff.Secret{"T": bailiff.NewSecret(secretValue)}
	line := strings.Repeat(secretValue, 5) + "\n"
	for shift := range 200 {
		for name, cut := range map[string]func(*reading){
			"by the limit": func(*reading) {},
			"by the log":   func(r *reading) { r.lost = len(r.text)/2 + shift },
		} {
			r := newReading(400, values)
			r.prints(strings.Repeat(".", shift) + strings.Repeat(line, 40))
			cut(r)
			r.poll(t, false)
			r.prints(line)
			r.poll(t, true)
			for n := 8; n <= len(secretValue); n++ {
				if strings.Contains(r.said, secretValue[:n]) || strings.Contains(r.said, secretValue[len(secretValue)-n:]) {
					t.Fatalf("%s, shifted by %d: told is part of the value: %q", name, shift, r.said)
				}
			}
			if !r.cut || !strings.Contains(r.said, "bytes left out") {
				t.Fatalf("%s: nobody is told that something is missing: %q", name, r.said)
			}
		}
	}
}

func TestALongLogIsToldByItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	r := newReading(1000, nil)
	for i := range 2000 {
		r.prints(fmt.Sprintf("line %d\n", i))
	}
	said := r.poll(t, false)
	if !strings.HasPrefix(said, "line 0\n") || !strings.HasSuffix(said, "line 1999\n") || len(said) > 1100 || !r.cut {
		t.Errorf("told are %d bytes: %q", len(said), said)
	}
	left := 0
	if _, err := fmt.Sscanf(said[strings.Index(said, "[… ")+len("[… "):], "%d", &left); err != nil || left != len(r.text)-1000 {
		t.Errorf("said to be left out are %d of %d bytes, %v", left, len(r.text), err)
	}
	r.prints("more\n")
	if said := r.poll(t, false); said != "more\n" {
		t.Errorf("the next poll told %q", said)
	}
}

func TestNoByteOfALogIsToldTwiceOrLeftOutInSilence(t *testing.T) {
	t.Parallel()
	for range 200 {
		r := newReading(300, nil)
		var text strings.Builder
		for i := range 1 + rand.IntN(30) {
			part := strings.Repeat(fmt.Sprint(i, " "), rand.IntN(40))
			text.WriteString(part)
			r.prints(part)
			r.poll(t, false)
		}
		r.poll(t, true)
		if !r.cut && r.said != text.String() {
			t.Fatalf("told is %q of %q", r.said, text.String())
		}
	}
}

func TestAPollThatFailsLosesNothing(t *testing.T) {
	t.Parallel()
	r := newReading(1000, nil)
	r.prints("one\n")
	r.fault = errBoom
	if _, _, err := r.log.Read(t.Context(), r.printed, r.limit, false); err == nil {
		t.Fatal("it did not fail")
	}
	r.fault = nil
	if said := r.poll(t, false); said != "one\n" {
		t.Errorf("the next poll told %q", said)
	}
}
