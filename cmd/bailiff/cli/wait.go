package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/gateway/client"
)

// WaitFlag lets a command wait for a sidecar that is starting.
func WaitFlag(cmd *cobra.Command, wait *time.Duration) {
	cmd.Flags().DurationVar(wait, "wait", 0, "how long a sidecar that is starting may take until it answers")
}

// askAgain is how long a look for a sidecar that is starting is after the one before.
const askAgain = 50 * time.Millisecond

// UntilAnswered asks until a sidecar answers or the time is over; other errors than that none answers count at once. What is asked can
// be asked again: one that was stopping when another started may break a connection off.
func UntilAnswered(ctx context.Context, wait time.Duration, ask func(context.Context) error) error {
	over := time.After(wait)
	for {
		err := ask(ctx)
		if !errors.Is(err, client.ErrUnreachable) && (wait == 0 || !isUnanswered(err)) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(askAgain):
		case <-over:
			if wait > 0 {
				err = fmt.Errorf("%w (for %s); what \"bailiff serve\" printed says why, as \"bailiff check\" does", err, wait)
			}
			return err
		}
	}
}

// isUnanswered says whether the other side went away before it answered, or left the question lying.
func isUnanswered(err error) bool {
	return slices.ContainsFunc([]error{client.ErrGivenUp, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF},
		func(end error) bool { return errors.Is(err, end) })
}
