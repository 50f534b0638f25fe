package app

import (
	"fmt"

	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/record/traces"
)

// openTraces begins to send traces, if they are sent anywhere.
func (c *core) openTraces() (err error) {
	t := c.cfg.Traces
	if t.URL == "" {
		return nil
	}
	if c.tracer, err = traces.New(traces.Config{Receiver: t.Server, Sample: t.Sample, Commands: t.Commands, Version: c.version,
		Scrub: c.scrubber.Scrub, Observer: c.metrics, Log: c.log}); err != nil {
		return fmt.Errorf("preparing traces: %w", err)
	}
	return nil
}

// enforcerTracer traces requests for the enforcer; nil if traces are sent nowhere.
func (c *core) enforcerTracer() enforcer.Tracer {
	if c.tracer == nil {
		return nil
	}
	return c.tracer
}

// agentTracer traces them for the agents' listeners.
func (c *core) agentTracer() gateway.Tracer {
	if c.tracer == nil {
		return nil
	}
	return c.tracer
}
