// Package traces tells a receiver of OpenTelemetry's where the time of requests goes.
//
// A request is a trace, or a part of its agent's: [Tracer.Begin] and [Tracer.End] say
// when a part of it began and how it ended, and what a context is within, the parts of
// it are within too. The context carries that under a key of this package's own, so that
// no client library that traces by itself (Docker's does) takes it up: what is exported
// is what the callers of this package say, and nothing is added to the requests that
// backends send.
//
// Promised:
//   - No request waits for a receiver. Ended spans stand in a queue that is bounded;
//     what does not fit there is lost and counted. One that is down is told of once.
//   - A client has no say in how much is exported. Their context tells which trace a
//     request belongs to, and can keep it from being exported; whether it is exported
//     otherwise is drawn here, with a chance that [Config.Sample] says, by a lot that
//     they can neither see nor choose. Baggage and tracestate are not read.
//   - No value of a variable is exported: all texts are scrubbed and cut. What was to run
//     is exported only with [Config.Commands].
//
// It is the wire format alone that is taken from OpenTelemetry, and not its SDK: that
// reads variables of the environment, adds what it finds out about the machine, and
// loses spans without saying how many.
//
// Not here: what the parts are (enforcer), who brings an agent's context (gateway).
package traces

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Observer is told how many spans the receiver took, and how many are lost.
type Observer interface {
	SpansExported(n int)
	SpansDropped(n int)
}

// Config says to whom traces are told, and what; all but Sample and Commands is required.
type Config struct {
	// Receiver takes OTLP by HTTP.
	Receiver httpapi.Server
	// Sample is the share of the traces that are told, from 0 to 1.
	Sample float64
	// Commands says that the texts that were to run are told too.
	Commands bool
	// Version is the program's own.
	Version string
	// Scrub returns a text without known secrets. It is called concurrently.
	Scrub    func([]byte) []byte
	Observer Observer
	Log      *slog.Logger
}

// Tracer follows requests. It may be used concurrently.
type Tracer struct {
	cfg   Config
	seed  maphash.Seed
	queue *queue
}

// New begins to send what there will be.
func New(c Config) (*Tracer, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	q, err := newQueue(c)
	if err != nil {
		return nil, err
	}
	return &Tracer{cfg: c, seed: maphash.MakeSeed(), queue: q}, nil
}

func (c Config) missing() error {
	return required.Fields("traces", map[string]bool{"Receiver": c.Receiver.URL == "", "Version": c.Version == "", "Scrub": c.Scrub == nil,
		"Observer": c.Observer == nil, "Log": c.Log == nil})
}

// Close sends what is left, within a few seconds. Spans that end later are lost.
func (t *Tracer) Close() { t.queue.close() }

// part is one span while it lasts.
type part struct {
	trace  trace.TraceID
	id     trace.SpanID
	parent trace.SpanID // zero if there is none
	name   string
	begun  time.Time
	// remote says that it is another service's, wanted that they have it exported; first
	// that nothing of the trace comes before it here.
	remote, wanted, first bool
}

// untold is within all parts of a request that is not exported.
var untold = new(part)

type key struct{}

func partOf(ctx context.Context) *part {
	p, _ := ctx.Value(key{}).(*part)
	return p
}

// Continue returns a context that is within the part of a trace that a traceparent of
// W3C's names. One that is none is ignored.
func (t *Tracer) Continue(ctx context.Context, traceparent string) context.Context {
	if !bailiff.CanBeTraceparent(traceparent) {
		return ctx
	}
	said := propagation.MapCarrier{"traceparent": traceparent}
	parent := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), said))
	if !parent.IsValid() {
		return ctx
	}
	return context.WithValue(ctx, key{}, &part{trace: parent.TraceID(), id: parent.SpanID(), remote: true, wanted: parent.IsSampled()})
}

// Begin returns the context of a part that begins within that of ctx.
func (t *Tracer) Begin(ctx context.Context, name string) context.Context {
	within := partOf(ctx)
	switch {
	case within == untold:
		return ctx
	case !t.tells(within):
		return context.WithValue(ctx, key{}, untold)
	}
	p := &part{name: name, begun: time.Now(), first: within == nil || within.remote}
	binary.BigEndian.PutUint64(p.id[:], 1+rand.Uint64N(1<<64-1))
	if within == nil {
		binary.BigEndian.PutUint64(p.trace[:8], 1+rand.Uint64N(1<<64-1))
		binary.BigEndian.PutUint64(p.trace[8:], rand.Uint64())
	} else {
		p.trace, p.parent = within.trace, within.id
	}
	return context.WithValue(ctx, key{}, p)
}

// tells says whether a part within another is exported. All parts of a request are if
// its first is, and all requests of one trace of an agent's.
func (t *Tracer) tells(within *part) bool {
	switch {
	case within == nil:
		return rand.Float64() < t.cfg.Sample
	case within.remote:
		lot := float64(maphash.Bytes(t.seed, within.trace[:])>>11) / (1 << 53)
		return within.wanted && lot < t.cfg.Sample
	}
	return true
}

// End ends the part that ctx is of.
func (t *Tracer) End(ctx context.Context, said bailiff.Span) {
	if p := told(ctx); p != nil {
		t.queue.add(t.encode(p, said))
	}
}

// IDs are those of the trace and of the part that ctx is of; empty if it is not exported.
func (t *Tracer) IDs(ctx context.Context) (traceID, spanID string) {
	if p := told(ctx); p != nil {
		return hex.EncodeToString(p.trace[:]), hex.EncodeToString(p.id[:])
	}
	return "", ""
}

// TraceID is the id of the trace that ctx is within; empty if it is not exported.
func TraceID(ctx context.Context) string {
	if p := told(ctx); p != nil {
		return hex.EncodeToString(p.trace[:])
	}
	return ""
}

func told(ctx context.Context) *part {
	if p := partOf(ctx); p != nil && p != untold && !p.remote {
		return p
	}
	return nil
}
