package metrics

import "time"

// Verdicts on what a sandbox would reach.
const (
	wayOpened     = "opened"
	wayRefused    = "refused"
	wayUnrecorded = "unavailable" // it could not be written down, and did not come about
)

// EgressOpened counts a connection, or a request on one, that the policies let out.
func (m *Metrics) EgressOpened(backend string) {
	m.egressConnections.WithLabelValues(m.labels.backend(backend), wayOpened).Inc()
}

// EgressRefused counts one that was refused, and the rule.
func (m *Metrics) EgressRefused(backend, rule string) {
	m.egressConnections.WithLabelValues(m.labels.backend(backend), wayRefused).Inc()
	m.egressRefusals.WithLabelValues(m.labels.rule(rule)).Inc()
}

// EgressUnrecorded counts one that could not be written down, so that nothing left.
func (m *Metrics) EgressUnrecorded(backend string) {
	m.egressConnections.WithLabelValues(m.labels.backend(backend), wayUnrecorded).Inc()
}

// EgressPassed counts the bytes that passed.
func (m *Metrics) EgressPassed(sent, received int64) {
	m.egressSent.Add(float64(sent))
	m.egressReceived.Add(float64(received))
}

// EgressServed counts a connection of a sandbox in. The returned function counts it out.
func (m *Metrics) EgressServed(backend string) (end func()) {
	open := m.egressOpen.WithLabelValues(m.labels.backend(backend))
	open.Inc()
	return open.Dec
}

// EgressJudged notes how long the policies took to judge a connection or a request on it.
func (m *Metrics) EgressJudged(took time.Duration) { m.egressJudgement.Observe(took.Seconds()) }
