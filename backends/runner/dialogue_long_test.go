package runner

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// ends are the lines that a listener heard, and of those that are too long the ends.
type ends struct{ all []string }

func (*ends) Output([]byte)      {}
func (e *ends) Line(line []byte) { e.all = append(e.all, string(line)) }
func (e *ends) LongLine(head, tail []byte) {
	e.all = append(e.all, string(head)+"…"+string(tail))
}

func TestOfALineThatIsTooLongItsEndsAreHeard(t *testing.T) {
	heard := &ends{}
	d := &dialogue{hear: heard, cancel: func() { t.Error("the command was ended") }}
	say := func(text string, last bool) { d.takeLine(wire.Frame{Payload: []byte(text), Last: last}) }
	piece := strings.Repeat("x", 1<<20)
	say("before", true)
	say("a"+piece[1:], false)
	for range 100 {
		say(piece, false)
		if cap(d.line) > 2*maxLine {
			t.Fatalf("%d bytes are held", cap(d.line))
		}
	}
	say("z", true)
	say("after", true)
	want := []string{"before", "a" + piece[1:keptEnds] + "…" + piece[1:keptEnds] + "z", "after"}
	for i, line := range heard.all {
		if i >= len(want) || line != want[i] {
			t.Errorf("line %d is of %d bytes: %.40q", i, len(line), line)
		}
	}
	if len(heard.all) != len(want) {
		t.Errorf("heard were %d lines", len(heard.all))
	}
}
