package metrics

import "github.com/bailiff-dev/bailiff"

// ChatPosted counts an attempt to post or edit an approval at a chat service: "ok",
// "again" or "refused".
func (m *Metrics) ChatPosted(service, result string) {
	m.chatPosts.WithLabelValues(oneOf(services, service), oneOf(posts, result)).Inc()
}

// ChatClicked counts an answer that came by a chat service: "taken", "listed" (a yes to
// several questions at once), "barred", "late" or "invalid".
func (m *Metrics) ChatClicked(service, result string) {
	m.chatClicks.WithLabelValues(oneOf(services, service), oneOf(clicks, result)).Inc()
}

// ChatCommand counts a command that a person gave at a chat service.
func (m *Metrics) ChatCommand(service string, status bailiff.Status) {
	m.chatCommands.WithLabelValues(oneOf(services, service), statusLabel(status)).Inc()
}

// ChatDown sets whether a chat service reaches no people.
func (m *Metrics) ChatDown(service string, down bool) {
	value := 0.0
	if down {
		value = 1
	}
	m.chatDown.WithLabelValues(oneOf(services, service)).Set(value)
}

var (
	services = []string{"slack", "discord", "telegram", "matrix", "webhook"}
	posts    = []string{"ok", "again", "refused"}
	clicks   = []string{"taken", "listed", "barred", "late", "invalid"}
)
