package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

var errDeclined = errors.New("the call was given up: the approval's page was declined, so nobody waits for it any more; nothing runs")

// ask sends a request and sees to it that the client learns whom it waits for. A
// client that can show the page where the approval is answered is asked to: in the
// versions without sessions by an answer that the client follows with the same call
// again, in the others by a message while the call waits.
func (s *Server) ask(ctx context.Context, call *sdk.CallToolRequest, req bailiff.Request) *sdk.CallToolResult {
	if !showsPages(call) || call.ProtocolVersion() < stateless {
		return s.wait(ctx, call, req)
	}
	shown, again := call.Params.InputResponses[pageRequest]
	switch {
	case again && declines(shown):
		return failed(errDeclined)
	case again:
		return s.wait(ctx, call, req)
	}
	at, a := req, &asking{call: call}
	at.WaitSeconds = 0
	answer, err := s.config.Sidecar.Execute(ctx, at, gateway.News{Step: a.tellStep(ctx)})
	switch {
	case err != nil:
		return failed(err)
	case answer.Status != bailiff.ApprovalRequired || answer.Approval == nil:
		return told(answer)
	case answer.Approval.URL == "":
		return s.wait(ctx, call, req)
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{pageRequest: page(*answer.Approval)}}
}

// wait sends a request and tells the client of the approval while it waits for it.
func (s *Server) wait(ctx context.Context, call *sdk.CallToolRequest, req bailiff.Request) *sdk.CallToolResult {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &asking{call: call, cancel: cancel, shows: showsPages(call) && call.ProtocolVersion() < stateless}
	defer a.over()
	answer, err := s.config.Sidecar.Execute(ctx, req, gateway.News{
		Approval: func(news api.Approval) { a.tell(ctx, news) },
		Step:     a.tellStep(ctx),
	})
	switch {
	case errors.Is(context.Cause(ctx), errDeclined):
		return failed(errDeclined)
	case err != nil:
		return failed(err)
	}
	return told(answer)
}

// pageRequest names the one request that a call's answer may hold.
const pageRequest = "approval"

// showsPages says whether the client can show its user an address.
func showsPages(call *sdk.CallToolRequest) bool {
	able := call.ClientCapabilities()
	return able != nil && able.Elicitation != nil && able.Elicitation.URL != nil
}

// page asks to show the page of an approval.
func page(a api.Approval) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "url", Message: said(a), URL: a.URL, ElicitationID: a.ID}
}

// declines says whether the user did not want to see the page.
func declines(response sdk.InputResponse) bool {
	shown, ok := response.(*sdk.ElicitResult)
	return !ok || shown.Action != "accept"
}

// asking is what a client is told of what its call waits for: an approval, or a long step.
type asking struct {
	call   *sdk.CallToolRequest
	cancel context.CancelCauseFunc // of the call
	shows  bool                    // pages
	steps  float64

	showing sync.WaitGroup
	hide    context.CancelFunc // of what is shown
}

// tell is called for each piece of news, one after the other.
func (a *asking) tell(ctx context.Context, news api.Approval) {
	a.notify(ctx, below(said(news), news.URL))
	if a.hide != nil {
		a.over() // first: a client that closes the page because it hears of it has declined nothing
		_ = a.call.Session.NotifyElicitationComplete(ctx, &sdk.ElicitationCompleteParams{ElicitationID: news.ID})
	}
	if !a.shows || news.State != bailiff.ApprovalPending || news.URL == "" {
		return
	}
	ctx, a.hide = context.WithCancel(ctx)
	a.showing.Go(func() { a.show(ctx, news) })
}

// notify sends a message to a client that wants to hear of its call's progress.
func (a *asking) notify(ctx context.Context, message string) {
	if token := a.call.Params.GetProgressToken(); token != nil {
		a.steps++
		_ = a.call.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: a.steps, Message: message})
	}
}

func (a *asking) tellStep(ctx context.Context) func(string) {
	return func(step string) { a.notify(ctx, step) }
}

// show asks to show the page. Whoever does not want to see it gives the call up;
// where it could not be shown, the call waits all the same.
func (a *asking) show(ctx context.Context, news api.Approval) {
	shown, err := a.call.Session.Elicit(ctx, page(news))
	if err == nil && ctx.Err() == nil && declines(shown) {
		a.cancel(errDeclined)
	}
}

// over takes back what is shown.
func (a *asking) over() {
	if a.hide != nil {
		a.hide()
		a.showing.Wait()
		a.hide = nil
	}
}

// said is what an approval waits for, or what became of it.
func said(a api.Approval) string {
	said := fmt.Sprintf("Approval %s is %s.", a.ID, a.State)
	if a.Message != "" {
		said += " " + a.Message
	}
	return said
}
