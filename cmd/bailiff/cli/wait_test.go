package cli_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
)

// A sidecar that is stopping breaks connections off, and the one that starts in its place answers.
func TestASidecarThatStartsWhereAnotherStopsIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ask := func(context.Context) error {
		c, err := net.Dial("unix", path)
		if err != nil {
			return errors.Join(client.ErrUnreachable, err)
		}
		defer c.Close()
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	}
	asked := 0
	if err := cli.UntilAnswered(t.Context(), time.Hour, func(context.Context) error {
		if asked++; asked == 1 {
			return client.ErrGivenUp
		}
		return nil
	}); err != nil || asked != 2 {
		t.Errorf("a sidecar that left a question lying was asked %d times: %v", asked, err)
	}
	if err := cli.UntilAnswered(t.Context(), time.Nanosecond, ask); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("where none answers it ends with %v", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n > 2 {
				_, _ = c.Write([]byte{1})
			}
			c.Close()
		}
	}()
	if err := cli.UntilAnswered(t.Context(), 0, ask); !errors.Is(err, io.EOF) {
		t.Errorf("without a wait it ends with %v", err)
	}
	if err := cli.UntilAnswered(t.Context(), time.Hour, ask); err != nil {
		t.Error(err)
	}
}
