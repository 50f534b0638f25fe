package remote

import (
	"errors"
	"testing"

	"golang.org/x/crypto/ssh"
)

// unanswered is what the library's connection is between the moment when it tells its channels of the end and the moment when
// it knows of that when it writes: a channel that is opened then waits for ever.
type unanswered struct{ ssh.Conn }

func (unanswered) OpenChannel(string, []byte) (ssh.Channel, <-chan *ssh.Request, error) { select {} }

// A connection can break after it was chosen and before anything is opened over it.
func TestOverAConnectionThatHasBrokenNothingIsOpened(t *testing.T) {
	for name, open := range map[string]func(*connection) error{
		"a command": func(c *connection) error { _, err := c.start(t.Context(), "true"); return err },
		"a socket":  func(c *connection) error { _, err := c.open(t.Context(), "tcp", "127.0.0.1:1"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			c := &connection{client: &ssh.Client{Conn: unanswered{}}, done: make(chan struct{})}
			close(c.done)
			var elsewhere *unopened
			if err := open(c); !errors.As(err, &elsewhere) {
				t.Errorf("the error is %v, want one that lets another connection be tried", err)
			}
		})
	}
}
