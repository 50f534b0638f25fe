package output

import (
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// Log is a place in the log of a process, up to which it was read and redacted.
//
// One redactor goes on from reading to reading, so that a value that straddles two
// is recognised; the bytes with which one may begin are held back until more is
// written, or the process has ended. Where a stretch is left out, a value's rest
// behind it could not be recognised. So reading begins earlier there, by twice the
// longest form of any value, and what comes of these bytes is thrown away.
type Log struct {
	values   map[string]bailiff.Secret
	redactor *redact.Redactor
	at       int64 // how far the redactor has read
	lead     int64 // how much of what it reads next is thrown away
}

// logChunk is how much of a log is asked for at once.
const logChunk = 256 << 10

// NewLog is a place of which nothing is known but its offset.
func NewLog(at int64, values map[string]bailiff.Secret) *Log {
	s := &Log{values: values, redactor: redact.New(values)}
	s.lead = min(at, s.margin())
	s.at = at - s.lead
	return s
}

func (s *Log) margin() int64 { return 2 * int64(s.redactor.Slack()) }

// Offset is how much of the log was handed on.
func (s *Log) Offset() int64 { return s.at + s.lead - int64(s.redactor.Held()) }

// Read returns what a process wrote since the last reading, with its middle left
// out where it is more than the limit: two fifths come from the beginning. With
// last nothing more will be written.
func (s *Log) Read(ctx context.Context, job backends.Process, limit int, last bool) (out []byte, cut bool, err error) {
	stretches, err := s.fetch(ctx, job, int64(limit))
	if err != nil {
		return nil, false, err
	}
	for _, piece := range stretches { // nothing can fail any more, so no byte is lost to the reader
		if left := piece.From - s.at; left > 0 {
			out, cut = append(out, s.jump(piece.From)...), true
		}
		out = append(out, s.feed(piece.Data)...)
	}
	if last && s.lead == 0 {
		out = append(out, s.redactor.Flush()...)
	}
	return out, cut, nil
}

// fetch reads what is due, in one stretch or, without its middle, in two.
func (s *Log) fetch(ctx context.Context, job backends.Process, limit int64) ([]backends.Piece, error) {
	now, err := job.Log(ctx, s.at, 0)
	if err != nil {
		return nil, err
	}
	begin := s.at + s.lead
	if now.Written-begin <= limit+s.margin() {
		all, err := stretch(ctx, job, s.at, now.Written)
		return []backends.Piece{all}, err
	}
	first, last := ends(limit)
	head, err := stretch(ctx, job, s.at, begin+first)
	if err != nil {
		return nil, err
	}
	tail, err := stretch(ctx, job, now.Written-last-s.margin(), now.Written)
	return []backends.Piece{head, tail}, err
}

// stretch reads a log between two offsets. What the log no longer holds is missing
// from the beginning, up to the whole of it.
func stretch(ctx context.Context, job backends.Process, from, to int64) (backends.Piece, error) {
	all := backends.Piece{From: from}
	for at := from; at < to; at = all.From + int64(len(all.Data)) {
		piece, err := job.Log(ctx, at, int(min(logChunk, to-at)))
		if err != nil {
			return all, err
		}
		if piece.From >= to {
			return backends.Piece{From: from}, nil
		}
		if piece.From > at {
			all = backends.Piece{From: piece.From}
		}
		if len(piece.Data) == 0 {
			break
		}
		all.Data = append(all.Data, piece.Data...)
	}
	return all, nil
}

// jump leaves out what lies between here and an offset, and says so.
func (s *Log) jump(to int64) []byte {
	left := to + s.margin() - s.at - s.lead
	s.redactor, s.at, s.lead = redact.New(s.values), to, s.margin()
	return leftOut(left)
}

// feed redacts what comes next.
func (s *Log) feed(data []byte) []byte {
	lead := data[:min(int64(len(data)), s.lead)]
	s.redactor.Write(lead)
	s.at += int64(len(data))
	s.lead -= int64(len(lead))
	return s.redactor.Write(data[len(lead):])
}
