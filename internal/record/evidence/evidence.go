// Package evidence gathers what the decision log says of one case, for a person who was
// not there: its lines as they are, what their check found, and a page to read.
//
// A case is a session, a request, a decision or an approval. Of a session there are all
// lines; of the others those of the same decisions, requests and approvals, so that a
// question is there with the answer and with what ran by it.
//
// Promised: no byte of a line is changed, so that each is found again in the log; texts of
// requests obey nothing on the page. Not here: whether the log is sound, which the caller
// has found out ([audit.Verify]) and which goes along.
package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// ErrNone says that the log has nothing of such a case.
var ErrNone = errors.New("the decision log has no event of it")

// Case is what was gathered.
type Case struct {
	ID     string
	Events []Event
}

// Event is one line, where it stands, and what it says.
type Event struct {
	Place string
	Text  []byte
	api.Line
}

// names are what lines of one case share.
type names struct{ decision, request, approval string }

func namesOf(l api.Line) names {
	n := names{decision: l.DecisionID, request: l.Custom.RequestID}
	if a := l.Custom.Approval; a != nil {
		n.approval = a.ID
	}
	if c := l.Custom.Connection; c != nil && c.Approval != "" {
		n.approval = c.Approval
	}
	return n
}

// Gather reads the log twice: for the names of the case, and for its lines.
func Gather(ctx context.Context, stateDir, id string) (*Case, error) {
	known := map[string]bool{id: true}
	err := each(ctx, stateDir, func(_ string, _ []byte, l api.Line) {
		if n := namesOf(l); n.has(known) {
			n.addTo(known)
		}
	})
	if err != nil {
		return nil, err
	}
	c := &Case{ID: id}
	err = each(ctx, stateDir, func(place string, text []byte, l api.Line) {
		if l.Custom.Session == id || namesOf(l).has(known) {
			c.Events = append(c.Events, Event{place, bytes.Clone(text), l})
		}
	})
	if err == nil && len(c.Events) == 0 {
		err = fmt.Errorf("%w: want the id of a session, request, decision or approval, as \"bailiff audit tail --output json\" shows "+
			"them", ErrNone)
	}
	return c, err
}

func (n names) has(known map[string]bool) bool {
	return n.decision != "" && known[n.decision] || n.request != "" && known[n.request] || n.approval != "" && known[n.approval]
}

func (n names) addTo(known map[string]bool) {
	for _, name := range []string{n.decision, n.request, n.approval} {
		if name != "" {
			known[name] = true
		}
	}
}

func each(ctx context.Context, stateDir string, give func(place string, text []byte, l api.Line)) error {
	return audit.Read(ctx, []string{stateDir}, func(file string, number int, text []byte) error {
		l, err := api.ReadLine(text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, number, err)
		}
		give(fmt.Sprintf("%s:%d", file, number), text, l)
		return nil
	})
}

// Write writes the archive: a tar that gzip packed.
func (c *Case) Write(w io.Writer, found audit.Report, now time.Time) error {
	checked, err := json.MarshalIndent(found, "", "  ")
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(w)
	files := tar.NewWriter(packed)
	for _, f := range []struct {
		name string
		text []byte
	}{{"case/index.html", c.page(found, now)}, {"case/events.jsonl", c.lines()}, {"case/verification.json", append(checked, '\n')}} {
		err = files.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.text)), ModTime: now})
		if err == nil {
			_, err = files.Write(f.text)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(files.Close(), packed.Close())
}

func (c *Case) lines() []byte {
	var all bytes.Buffer
	for _, e := range c.Events {
		all.Write(e.Text)
		all.WriteByte('\n')
	}
	return all.Bytes()
}
