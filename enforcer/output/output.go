// Package output is what a client is told of what runs: without the values of variables,
// and cut to the limit of its decision. [Output] is of a command while it runs, [Log] of
// a process, read from time to time.
//
// Not here: the texts of a script's calls (enforcer), how bytes get here (backends).
package output

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// Output redacts what a command prints, tells it on as it comes, and cuts it to
// its limit: two fifths from the beginning, three fifths from the end.
//
// A value that straddles the cut could not be recognised by its remaining half.
// So the runner is asked for more than the limit on both sides of the cut; all of it
// is redacted first and cut afterwards. Redacting makes texts shorter, so that this
// alone might not cut enough: before the cut, what may be the beginning of a value is
// not told, and behind it, what comes of twice the length of the longest form of any
// value.
type Output struct {
	values   map[string]bailiff.Secret
	redactor *redact.Redactor
	news     func(bailiff.Progress)

	head, tail, slack int
	taken             int    // raw bytes of the head that were taken
	kept              []byte // redacted
	told              int    // bytes of kept that news has
	rest              []byte // raw bytes beyond the head
}

// New returns the output of a command that got these values.
func New(limit int, values map[string]bailiff.Secret, news func(bailiff.Progress)) *Output {
	head, tail := ends(int64(limit))
	redactor := redact.New(values)
	return &Output{values: values, redactor: redactor, news: news, head: int(head), tail: int(tail), slack: redactor.Slack()}
}

// ends are how much of a text that is cut to a limit comes from its beginning and
// from its end.
func ends(limit int64) (head, tail int64) {
	head = limit * 2 / 5
	return head, limit - head
}

// leftOut stands where a text is cut.
func leftOut(bytes int64) []byte { return fmt.Appendf(nil, "\n[… %d bytes left out …]\n", bytes) }

// Caps are how many bytes the runner should hand on from each end.
func (o *Output) Caps() (head, tail int) { return o.head + o.slack, o.tail + 2*o.slack }

// Take is given the command's output piece by piece.
func (o *Output) Take(chunk []byte) {
	room := min(len(chunk), o.head+o.slack-o.taken)
	o.taken += room
	o.rest = append(o.rest, chunk[room:]...)
	o.kept = append(o.kept, o.redactor.Write(chunk[:room])...)
	o.tell(min(len(o.kept), o.head))
}

// tell passes on what is kept up to an offset.
func (o *Output) tell(until int) {
	if until > o.told {
		o.news(bailiff.Progress{Output: bytes.Clone(o.kept[o.told:until])})
		o.told = until
	}
}

// End returns the whole output, after dropped bytes of it never arrived.
func (o *Output) End(dropped int64) (all []byte, truncated bool) {
	var tail []byte
	if dropped == 0 {
		o.kept = append(o.kept, o.redactor.Write(o.rest)...)
		o.kept = append(o.kept, o.redactor.Flush()...)
	} else {
		tail = o.behind(o.rest)
	}
	limit := o.head + o.tail
	if dropped == 0 && len(o.kept) <= limit {
		o.tell(len(o.kept))
		return o.kept, false
	}
	if dropped == 0 {
		tail = o.kept[o.head:]
	}
	tail = tail[max(0, len(tail)-o.tail):]
	gap := max(1, dropped+int64(o.taken+len(o.rest)-o.head-len(tail)))
	o.kept = append(slices.Clip(o.kept[:min(len(o.kept), o.head)]), leftOut(gap)...)
	o.kept = append(o.kept, tail...)
	o.tell(len(o.kept))
	return o.kept, true
}

// behind redacts what follows a cut.
func (o *Output) behind(rest []byte) []byte {
	redactor, lead := redact.New(o.values), min(len(rest), 2*o.slack)
	redactor.Write(rest[:lead])
	tail := slices.Clone(redactor.Write(rest[lead:]))
	return append(tail, redactor.Flush()...)
}
