package app

import (
	"context"
	"net"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/egress"
	"github.com/bailiff-dev/bailiff/metrics"
)

// countedWay counts the connections that are open.
type countedWay struct {
	*egress.Proxy
	metrics *metrics.Metrics
}

// Serve serves a connection to its end.
func (w countedWay) Serve(ctx context.Context, conn net.Conn, of bailiff.Connection, swapped []bailiff.Swapped,
	hear bailiff.ConnectionHearer) {
	defer w.metrics.EgressServed(of.Backend)()
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
}

// Record writes an event down, and counts it.
func (r countedEvents) Record(ctx context.Context, e egress.Event) error {
	err := r.Recorder.Record(ctx, e)
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
