package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

const (
	// batchBytes is how many bytes of events are sent at once, before compression.
	batchBytes = 1 << 20
	// mostSuspects is how many events in a row a receiver may refuse before it is the
	// receiver that is at fault.
	mostSuspects = 20
)

// event is a line of the log that is to be sent.
type event struct {
	line []byte
	end  audit.Position
}

// read is what is told of an event; a line that cannot be read is sent all the same.
func (v event) read() api.Line {
	l, _ := api.ReadLine(v.line)
	return l
}

// round sends what there is between the cursor and the log's end.
type round struct {
	*Exporter
	batch []event
	bytes int
	// suspects were refused by themselves, and no later one was taken yet.
	suspects []suspect
}

type suspect struct {
	id  string
	end audit.Position
	why error
}

// errEnd ends the reading where the log does.
var errEnd = errors.New("all was read")

// send sends every event that is on disk.
func (e *Exporter) send(ctx context.Context, written audit.Position) error {
	from := e.now().cursor
	if from.After(written) { // another log than the one that was sent, such as an older copy
		from = audit.Position{}
		e.set(func(s *state) { s.cursor, s.settled, s.sent = from, from, nil }) // all of it is needed until it was sent
	}
	if err := e.settle(); err != nil {
		return err
	}
	if !written.After(from) {
		return nil
	}
	r := &round{Exporter: e}
	err := audit.ReadFrom(ctx, e.config.StateDir, from, func(line []byte, end audit.Position) error {
		if end.After(written) {
			return errEnd
		}
		return r.add(ctx, event{bytes.Clone(line), end})
	})
	if err == nil || errors.Is(err, errEnd) {
		err = r.flush(ctx)
	}
	if err == nil && len(r.suspects) > 0 {
		err = r.suspects[0].why
	}
	return err
}

func (r *round) add(ctx context.Context, v event) error {
	if len(r.batch) > 0 && r.bytes+len(v.line) > r.most {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	r.batch, r.bytes = append(r.batch, v), r.bytes+len(v.line)
	return nil
}

func (r *round) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	if len(r.suspects) == 0 {
		oldest := r.batch[0].read().Timestamp
		r.set(func(s *state) { s.oldest = oldest })
	}
	err := r.deliver(ctx, r.batch)
	r.batch, r.bytes = nil, 0
	return err
}

// deliver has the receiver take a batch, or all of it but what it refuses.
func (r *round) deliver(ctx context.Context, batch []event) error {
	err := r.post(ctx, batch)
	switch half := len(batch) / 2; {
	case err == nil:
		return r.took(batch)
	case !r.config.Receiver.Blames(err):
		return err
	case half > 0:
		if httpapi.Status(err) == http.StatusRequestEntityTooLarge {
			r.most = max(1, size(batch)/2)
		}
		if err := r.deliver(ctx, batch[:half]); err != nil {
			return err
		}
		return r.deliver(ctx, batch[half:])
	}
	r.suspects = append(r.suspects, suspect{batch[0].read().DecisionID, batch[0].end, err})
	if len(r.suspects) > mostSuspects {
		return fmt.Errorf("it refuses %d events in a row: %w", len(r.suspects), err)
	}
	return nil
}

func size(batch []event) (bytes int) {
	for _, v := range batch {
		bytes += len(v.line)
	}
	return bytes
}

// took moves the cursor behind a batch. What was refused before it is passed over.
func (r *round) took(batch []event) error {
	end := batch[len(batch)-1].end
	r.set(func(s *state) { s.cursor, s.sent = end, append(s.sent, sent{end, time.Now()}) })
	if err := r.settle(); err != nil {
		return err
	}
	for _, s := range r.suspects {
		r.config.Log.Error("an event of the decision log is not exported, since the receiver refuses it; it stays in the log",
			"decision_id", s.id, "segment", s.end.Segment, "error", s.why)
	}
	r.set(func(s *state) { s.refused += len(r.suspects) })
	r.config.Observer.ExportRefused(len(r.suspects))
	r.config.Observer.Exported(len(batch))
	r.suspects = nil
	return nil
}

// settle writes down how far the receiver is known to have the log.
func (e *Exporter) settle() error {
	s := e.now()
	known := 0
	for known < len(s.sent) && time.Since(s.sent[known].at) >= e.config.Receiver.Settles() {
		known++
	}
	if known == 0 {
		return nil
	}
	end := s.sent[known-1].end
	if err := writeCursor(e.config.path(), end); err != nil {
		return err
	}
	e.set(func(s *state) { s.settled, s.sent = end, s.sent[known:] })
	return nil
}

// post sends a batch until there is an answer to stay with.
func (e *Exporter) post(ctx context.Context, batch []event) error {
	lines := make([][]byte, len(batch))
	for i, v := range batch {
		lines[i] = v.line
	}
	err := e.config.Receiver.Send(ctx, lines, func() { e.set(func(s *state) { s.asked = time.Now() }) }, func(err error) {
		if ctx.Err() == nil && !e.config.Receiver.Blames(err) { // else the batch is looked into
			e.met(err)
		}
	})
	e.set(func(s *state) {
		if s.asked = (time.Time{}); err == nil {
			s.met = nil
		}
	})
	return err
}
