package chat

import "context"

// Listener takes what people say.
type Listener interface {
	Said(ctx context.Context, s Said)
}

// Channel is everything that one service brings: answers go to its desk, what is said to
// its sessions; either may be nil where the service is not for that.
type Channel struct {
	Desk     *Desk
	Sessions Listener
	// Line is told of the connection where there is no desk.
	Line *Line
}

var _ Inbox = Channel{}

// Said takes what somebody wrote.
func (c Channel) Said(ctx context.Context, s Said) {
	if c.Sessions != nil {
		c.Sessions.Said(ctx, s)
	}
}

// Tapped takes somebody's answer.
func (c Channel) Tapped(ctx context.Context, t Tap) Text {
	if c.Desk == nil {
		return nil
	}
	return c.Desk.Tapped(ctx, t)
}

// Connected tells that the connection stands, or why it does not.
func (c Channel) Connected(err error) {
	switch {
	case c.Desk != nil:
		c.Desk.Connected(err)
	case c.Line != nil:
		c.Line.Connected(err)
	}
}
