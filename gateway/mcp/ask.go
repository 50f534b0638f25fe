package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// ask sends a request, or goes on with one that an earlier call had to leave, and sees
// to it that the client learns whom it waits for. A client that can show the page where
// the approval is answered is asked to: in the versions without sessions by an answer
// that the client follows with the same call again, in the others by a message while
// the call waits. What the client answers changes nothing: many answer by themselves
// where they run unattended.
func (s *Server) ask(ctx context.Context, call *sdk.CallToolRequest, req bailiff.Request) *sdk.CallToolResult {
	limit := s.limitOf(call)
	if limit > 0 {
		req.WaitSeconds = min(req.WaitSeconds, max(1, int((limit-toAnswer-toAsk)/time.Second)))
	}
	key, t := keyOf(req), newNotifier(call)
	defer t.over()
	if r := s.left.take(key); r != nil {
		return s.follow(ctx, t, r, limit)
	}
	if _, shown := call.Params.InputResponses[pageRequest]; shown || !showsPages(call) || call.ProtocolVersion() < stateless {
		return s.follow(ctx, t, s.begin(ctx, t, req, key), limit)
	}
	at := req
	at.WaitSeconds = 0
	r := s.begin(ctx, t, at, key)
	result := s.follow(ctx, t, r, limit)
	switch a := r.pending(); {
	case a == nil:
		return result
	case a.URL == "":
		return s.follow(ctx, t, s.begin(ctx, t, req, key), limit)
	default:
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{pageRequest: page(*a)}}
	}
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

// notifier tells a client what its call waits for: an approval, a long step, a command.
type notifier struct {
	call  *sdk.CallToolRequest
	shows bool // pages

	mu    sync.Mutex
	steps float64

	page    sync.Mutex // news of a run may come as the call ends
	ended   bool
	showing sync.WaitGroup
	hide    context.CancelFunc // of what is shown
}

func newNotifier(call *sdk.CallToolRequest) *notifier {
	return &notifier{call: call, shows: showsPages(call) && call.ProtocolVersion() < stateless}
}

// approval is called for each piece of news, one after the other.
func (t *notifier) approval(ctx context.Context, news api.Approval) {
	t.notify(ctx, below(said(news), news.URL))
	t.page.Lock()
	defer t.page.Unlock()
	if t.hide != nil {
		t.takeBack()
		_ = t.call.Session.NotifyElicitationComplete(ctx, &sdk.ElicitationCompleteParams{ElicitationID: news.ID})
	}
	if t.ended || !t.shows || news.State != bailiff.ApprovalPending || news.URL == "" {
		return
	}
	ctx, t.hide = context.WithCancel(ctx)
	t.showing.Go(func() { _, _ = t.call.Session.Elicit(ctx, page(news)) }) // it is the approvers who answer
}

// notify sends a message to a client that wants to hear of its call's progress.
func (t *notifier) notify(ctx context.Context, message string) {
	token := t.call.Params.GetProgressToken()
	if token == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps++
	_ = t.call.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: t.steps, Message: message})
}

// over takes back what is shown, and shows no more.
func (t *notifier) over() {
	t.page.Lock()
	defer t.page.Unlock()
	t.ended = true
	t.takeBack()
}

func (t *notifier) takeBack() {
	if t.hide != nil {
		t.hide()
		t.showing.Wait()
		t.hide = nil
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
