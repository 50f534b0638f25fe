package state

import "log/slog"

// Host is what a store needs of the book that it keeps.
type Host struct {
	// View is what readers see.
	View View
	// Outbox are the events that are not in the decision log yet.
	Outbox *Outbox
	// Closing is closed when no step is taken any more, and Delivered when the outbox is left alone.
	Closing, Delivered <-chan struct{}
	// Scrub returns a text without known secrets.
	Scrub func(string) string
	Log   *slog.Logger
	// Reach is called between any two things that a crash may part.
	Reach func(point string)
}

// View is what readers of a book see, which is durable.
type View interface {
	// Show lets readers, watchers and waiters see a step.
	Show(t Step)
	// ShowAnew shows a state in the place of what was shown. What has ended since was ended elsewhere, or here.
	ShowAnew(s *State, elsewhere bool)
	// Look looks at what is shown, which does not change meanwhile.
	Look(at func(s *State))
}
