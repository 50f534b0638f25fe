package toolbox

import (
	"context"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

func TestACallIsAnsweredOnceAndByItsCallerAlone(t *testing.T) {
	t.Parallel()
	var box Toolbox
	req := bailiff.Request{Tool: bailiff.MCP, Caller: "me", Args: bailiff.Args{Name: "read", Arguments: "{}"}}
	a := box.Run(t.Context(), req, func(p bailiff.Progress) {
		if err := box.Answer("another", p.ToolCall.ID, "x", false); err == nil {
			t.Error("another caller answered it")
		}
		if err := box.Answer("me", p.ToolCall.ID, "done", true); err != nil {
			t.Error(err)
		}
		if err := box.Answer("me", p.ToolCall.ID, "again", false); err == nil {
			t.Error("it was answered twice")
		}
	})
	if a.Status != bailiff.Completed || string(a.Output) != "done" || a.ExitCode != 1 {
		t.Errorf("the answer is %+v", a)
	}
}

func TestACallWithoutAnAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		ctx    context.Context
		tool   bailiff.Tool
		status bailiff.Status
		words  string
	}{
		{late, bailiff.MCP, bailiff.TimedOut, "The call was not answered within its time limit, and given up."},
		{gone, bailiff.MCP, bailiff.Interrupted, "The caller went away before the call was answered."},
		{gone, bailiff.Call, bailiff.Interrupted, "The script ended before the agent answered its call."},
	} {
		var box Toolbox
		a := box.Run(c.ctx, bailiff.Request{Tool: c.tool}, func(bailiff.Progress) {})
		if a.Status != c.status || a.Message != c.words || len(box.open) > 0 {
			t.Errorf("%s: %+v", c.tool, a)
		}
	}
}
