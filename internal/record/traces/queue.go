package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

const (
	// queueLength is how many spans may wait, batchLength how many are sent at once.
	queueLength, batchLength = 2048, 256
	// gatherFor is how long the first span of a batch waits for others.
	gatherFor = time.Second
	// sendFor bounds the sending of a batch with all attempts, lastFor that of all that
	// is left at the end.
	sendFor, lastFor = 20 * time.Second, 3 * time.Second
)

// queue holds spans until they are sent.
type queue struct {
	cfg     Config
	api     *httpapi.Client
	spans   chan *tracepb.Span
	closing chan struct{} // closed when no more come
	running context.Context
	stop    context.CancelFunc // ends what is being sent
	ended   chan struct{}
	outage  outage.Outage
}

func newQueue(c Config) (*queue, error) {
	api, err := c.Receiver.Client("the receiver of traces", nil)
	if err != nil {
		return nil, err
	}
	q := &queue{cfg: c, api: api, spans: make(chan *tracepb.Span, queueLength), closing: make(chan struct{}), ended: make(chan struct{})}
	q.running, q.stop = context.WithCancel(context.Background())
	go q.run()
	return q, nil
}

// add never waits.
func (q *queue) add(s *tracepb.Span) {
	select {
	case q.spans <- s:
	default:
		q.cfg.Observer.SpansDropped(1)
	}
}

func (q *queue) close() {
	close(q.closing)
	defer time.AfterFunc(lastFor, q.stop).Stop()
	<-q.ended
	q.stop()
}

func (q *queue) run() {
	defer close(q.ended)
	for {
		select {
		case s := <-q.spans:
			q.send(q.gather(s))
		case <-q.closing:
			for len(q.spans) > 0 {
				q.send(q.gather(<-q.spans))
			}
			return
		}
	}
}

// gather makes a batch of a span and those that come soon; once the queue is closing,
// those that are there.
func (q *queue) gather(first *tracepb.Span) []*tracepb.Span {
	batch, full := []*tracepb.Span{first}, time.After(gatherFor)
	for len(batch) < batchLength {
		select {
		case s := <-q.spans:
			batch = append(batch, s)
			continue
		default:
		}
		select {
		case s := <-q.spans:
			batch = append(batch, s)
		case <-full:
			return batch
		case <-q.closing:
			return batch
		}
	}
	return batch
}

// send sends a batch, or gives it up.
func (q *queue) send(batch []*tracepb.Span) {
	ctx, cancel := context.WithTimeout(q.running, sendFor)
	defer cancel()
	err := q.api.Do(ctx, httpapi.Call{
		Method: http.MethodPost, Address: q.cfg.Receiver.URL, Header: http.Header{"Content-Encoding": {"gzip"}},
		Body: bodyOf(document(q.cfg.Version, batch)), Idempotent: true,
	})
	if err != nil {
		q.cfg.Observer.SpansDropped(len(batch))
	} else {
		q.cfg.Observer.SpansExported(len(batch))
	}
	q.tell(err)
}

// tell logs that the receiver fails, or works again.
func (q *queue) tell(err error) {
	failed := q.outage.Err() != nil
	switch begins := q.outage.Set(err); {
	case begins:
		q.cfg.Log.Warn("traces are not exported, and are lost until they can be", "error", err)
	case err == nil && failed:
		q.cfg.Log.Info("traces are exported again")
	}
}

func bodyOf(traces *tracepb.TracesData) httpapi.Body {
	return func() (io.Reader, string, error) {
		text, err := proto.Marshal(traces)
		if err != nil {
			return nil, "", err
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(text) // to memory: cannot fail
		_ = w.Close()
		return &packed, "application/x-protobuf", nil
	}
}
