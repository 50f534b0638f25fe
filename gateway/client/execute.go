package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// News is told of a request while it runs; each function may be nil.
type News struct {
	Decision func(api.Decided)
	// Approval is told when people are asked, and of their answer.
	Approval func(api.Approval)
	Output   func([]byte)
	// Step is told what is being done that takes long, such as bringing an image; it
	// may come before the decision.
	Step func(string)
	// ToolCall is told what a script calls; [Client.AnswerTool] answers it, and
	// nothing else is told before the function has returned.
	ToolCall func(api.ToolCall)
	// Stop, once it is closed, has the sidecar stop the request. Unlike the end of the
	// context that leaves a moment to hear how it ended.
	Stop <-chan struct{}
}

// ErrUncertain means that a request may have run.
var ErrUncertain = errors.New("whether the request ran is unknown")

// Execute takes a request to its end.
func (c *Client) Execute(ctx context.Context, req bailiff.Request, news News) (api.Answer, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return api.Answer{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	if len(body) > gateway.LargestRequest { // which the sidecar would not read to its end
		return api.Answer{}, &api.Problem{Code: "too_large", Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("The request is larger than %d bytes.", gateway.LargestRequest)}
	}
	ctx, released := stoppable(ctx, news.Stop)
	defer released()
	s, err := c.listen(ctx, http.MethodPost, "/v1/execute", body)
	if err != nil {
		return api.Answer{}, uncertain(err)
	}
	defer s.close()
	answer, err := s.follow(news)
	if err != nil {
		return api.Answer{}, uncertain(c.asking(err))
	}
	return answer, nil
}

// uncertain says of an error what it leaves open, if that is not nothing.
func uncertain(err error) error {
	if isRefusal(err) {
		return err
	}
	return fmt.Errorf("%w, so %w", err, ErrUncertain)
}

// follow reads events up to the result.
func (s *stream) follow(news News) (answer api.Answer, err error) {
	for {
		name, data, err := s.event()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return answer, errStreamEnded
		case err != nil:
			return answer, err
		case name == "result":
			s.finish()
			return taken(data, checkAnswer)
		}
		if err := s.tell(news, name, data); err != nil {
			return answer, err
		}
	}
}

// tell passes an event on; those of unknown name are for later clients.
func (s *stream) tell(news News, name string, data []byte) error {
	switch name {
	case "decision":
		return pass(s, data, checkDecided, news.Decision)
	case "approval":
		return pass(s, data, checkApproval, news.Approval)
	case "output":
		return pass(s, data, checkOutput, news.output)
	case "progress":
		return pass(s, data, checkProgress, news.step)
	case "tool_call":
		return pass(s, data, checkToolCall, news.ToolCall)
	}
	return nil
}

func pass[T any](s *stream, data []byte, check func(T, []byte) error, to func(T)) error {
	event, err := taken(data, check)
	if err == nil && to != nil {
		s.outside(func() { to(event) })
	}
	return err
}

func (n News) step(p api.Progress) {
	if n.Step != nil {
		n.Step(p.Step)
	}
}

func (n News) output(o api.Output) {
	if piece, err := o.Bytes(); err == nil && n.Output != nil { // which checkOutput has seen to
		n.Output(piece)
	}
}
