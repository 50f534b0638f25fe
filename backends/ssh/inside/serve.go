package inside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
)

// Serve answers one question. An input that ends before there is any is none.
func Serve(in, out *os.File) error {
	line, err := readLine(in, longest)
	if err == io.EOF {
		return nil
	}
	var q Question
	if err == nil {
		err = read(line, &q)
	}
	if err != nil {
		return fmt.Errorf("reading what is asked: %w", err)
	}
	b, err := bubblewrap.New(q.Config)
	if err != nil {
		return q.answer(out, Answer{}, err)
	}
	if q.Ask == Open {
		return q.hand(b, in, out)
	}
	answer, err := q.do(context.Background(), b)
	return q.answer(out, answer, err)
}

func (q Question) do(ctx context.Context, b *bubblewrap.Backend) (answer Answer, err error) {
	switch q.Ask {
	case Try:
		err = b.Ready(ctx)
	case Sweep:
		answer.Swept, err = b.Sweep(ctx, q.Owner, nil)
		err = errors.Join(err, b.Clear(ctx))
	case List:
		answer.Workspaces, err = b.Workspaces(ctx, q.Owner)
	case Remove:
		err = b.RemoveWorkspace(ctx, q.Owner, q.Workspace)
	default:
		err = fmt.Errorf("nobody knows how to %q", q.Ask)
	}
	return answer, err
}

// hand makes a sandbox. What fails after the answer has told of it is the error.
func (q Question) hand(b *bubblewrap.Backend, in, out *os.File) error {
	answered := false
	err := b.Hand(context.Background(), q.Spec, in, out, func() error {
		answered = true
		return q.answer(out, Answer{}, nil)
	})
	if err != nil && !answered {
		return q.answer(out, Answer{}, err)
	}
	return err
}

func (q Question) answer(out io.Writer, a Answer, fault error) error {
	if fault != nil {
		a.Fault = &Fault{fault.Error(), errors.Is(fault, backends.ErrUnsupported)}
	}
	text, err := json.Marshal(a)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s%s\n", q.Begin, text)
	}
	return err
}
