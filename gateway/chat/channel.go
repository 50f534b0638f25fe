package chat

import "context"

// Listener takes the messages that people write.
type Listener interface {
	Said(ctx context.Context, s Said)
}

// Channel hands on what one service brings: answers go to its notifier, messages to its
// sessions. Either is nil where the service is not used for that.
type Channel struct {
	Notifier *Notifier
	Sessions Listener
	// Connection keeps the state of the connection where there is no notifier.
	Connection *Connection
}

var _ Inbox = Channel{}

// Said takes a message that a person wrote.
func (c Channel) Said(ctx context.Context, s Said) {
	if c.Sessions != nil {
		c.Sessions.Said(ctx, s)
	}
}

// Clicked takes a person's answer to an approval.
func (c Channel) Clicked(ctx context.Context, t Click) Text {
	if c.Notifier == nil {
		return nil
	}
	return c.Notifier.Clicked(ctx, t)
}

// Connected takes the state of the connection: nil, or why there is none.
func (c Channel) Connected(err error) {
	switch {
	case c.Notifier != nil:
		c.Notifier.Connected(err)
	case c.Connection != nil:
		c.Connection.Connected(err)
	}
}
