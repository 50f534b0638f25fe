package app

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
	"github.com/bailiff-dev/bailiff/metrics"
)

// egressTotals count connections and what passed. They are safe for concurrent use.
type egressTotals struct {
	open, opened, refused, sent, received atomic.Int64
	sessions                              talks
}

func (t *egressTotals) status() api.EgressStatus {
	return api.EgressStatus{Open: t.open.Load(), Opened: t.opened.Load(), Refused: t.refused.Load(), Sent: t.sent.Load(),
		Received: t.received.Load(), Sessions: t.sessions.list()}
}

// add counts an event that is in the log.
func (t *egressTotals) add(e egress.Event) {
	t.sessions.add(e)
	switch e.What {
	case egress.Opened:
		t.opened.Add(1)
	case egress.Refused:
		t.refused.Add(1)
	case egress.Closed:
		t.sent.Add(e.Sent)
		t.received.Add(e.Received)
	}
}

// countedWay counts the connections that are open.
type countedWay struct {
	*egress.Proxy
	metrics *metrics.Metrics
	totals  *egressTotals
}

// Serve serves a connection to its end.
func (w countedWay) Serve(ctx context.Context, conn net.Conn, of bailiff.Connection, swapped []bailiff.Swapped,
	hear bailiff.ConnectionHearer) {
	defer w.metrics.EgressServed(of.Backend)()
	w.totals.open.Add(1)
	defer w.totals.open.Add(-1)
	w.Proxy.Serve(ctx, conn, of, swapped, hear)
}

// countedJudge measures the time that the policies take.
type countedJudge struct {
	egress.Judge
	metrics *metrics.Metrics
}

// Connection has the policies judge.
func (j countedJudge) Connection(ctx context.Context, c bailiff.Connection) bailiff.ConnectionJudgement {
	began := time.Now()
	judged := j.Judge.Connection(ctx, c)
	j.metrics.EgressJudged(time.Since(began))
	return judged
}

// countedEvents counts what the log holds, and what it could not take.
type countedEvents struct {
	egress.Recorder
	metrics *metrics.Metrics
	totals  *egressTotals
}

// Record writes an event down, and counts it.
func (r countedEvents) Record(ctx context.Context, e egress.Event) error {
	err := r.Recorder.Record(ctx, e)
	if err == nil || e.What == egress.Closed {
		r.totals.add(e)
	}
	backend := e.Connection.Backend
	switch {
	case e.What == egress.Closed:
		r.metrics.EgressPassed(e.Sent, e.Received) // they have passed, written down or not
	case err != nil:
		r.metrics.EgressUnrecorded(backend)
	case e.What == egress.Opened:
		r.metrics.EgressOpened(backend)
	case e.What == egress.Refused:
		r.metrics.EgressRefused(backend, e.Rule)
	}
	return err
}
