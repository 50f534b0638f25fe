package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

// News is told of a request while it runs; each function may be nil.
type News struct {
	Decision func(gateway.Decided)
	// Approval is told when people are asked, and of their answer.
	Approval func(gateway.Approval)
	Output   func([]byte)
	// ToolCall is told what a script calls; [Client.AnswerTool] answers it, and
	// nothing else is told before the function has returned.
	ToolCall func(gateway.ToolCall)
}

var errNoResult = errors.New("the sidecar went away before the result, so whether the request ran is unknown")

// Execute takes a request to its end.
func (c *Client) Execute(ctx context.Context, req bailiff.Request, news News) (gateway.Answer, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return gateway.Answer{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	resp, err := c.do(ctx, http.MethodPost, "/v1/execute", body, "text/event-stream")
	if err != nil {
		return gateway.Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := follow(bufio.NewReader(resp.Body), news)
	if err != nil {
		return answer, fmt.Errorf("following the request: %w", err)
	}
	return answer, nil
}

// follow reads events up to the result.
func follow(from *bufio.Reader, news News) (answer gateway.Answer, err error) {
	for {
		name, data, err := event(from)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return answer, errNoResult
		case err != nil:
			return answer, err
		case name == "result":
			return answer, json.Unmarshal(data, &answer)
		}
		if err := news.tell(name, data); err != nil {
			return answer, err
		}
	}
}

// tell passes an event on; those of unknown name are for later clients.
func (n News) tell(name string, data []byte) error {
	switch {
	case name == "decision" && n.Decision != nil:
		var d gateway.Decided
		if err := json.Unmarshal(data, &d); err != nil {
			return err
		}
		n.Decision(d)
	case name == "approval" && n.Approval != nil:
		var a gateway.Approval
		if err := json.Unmarshal(data, &a); err != nil {
			return err
		}
		n.Approval(a)
	case name == "output" && n.Output != nil:
		var o gateway.Output
		if err := json.Unmarshal(data, &o); err != nil {
			return err
		}
		piece, err := o.Bytes()
		if err != nil {
			return err
		}
		n.Output(piece)
	case name == "tool_call" && n.ToolCall != nil:
		var c gateway.ToolCall
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		n.ToolCall(c)
	}
	return nil
}

// event reads one server-sent event.
func event(from *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		field, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value...)
		case field == "" && value == "" && data != nil:
			return name, data, nil
		}
	}
}
