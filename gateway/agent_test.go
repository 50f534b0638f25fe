package gateway

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestARequestReachesTheEnforcerAsItWasSent(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, DoorConfig{}, agentHandler(t, agentOf(e))))
	var a Answer
	c.post("/v1/execute", `{"request_id": "r", "tool": "terminal",
		"args": {"command": "git push", "workdir": "/workspace", "timeout": 180.0, "background": true, "stdin": "a\u0000b"},
		"session": {"id": "agent:main:telegram:dm:42", "platform": "telegram", "chat_type": "dm", "chat_id": "42", "thread_id": "7",
		            "user_id": "42", "user_name": "ana", "profile": "p", "unattended": true},
		"env": ["GITHUB_TOKEN"], "backend": "docker", "wait_seconds": 300}`).into(t, http.StatusOK, &a)
	want := bailiff.Request{
		ID: "r", Tool: bailiff.Terminal,
		Args: bailiff.Args{Command: "git push", Workdir: "/workspace", Timeout: 180, Background: true, Stdin: "a\x00b"},
		Session: bailiff.Session{ID: "agent:main:telegram:dm:42", Platform: "telegram", ChatType: "dm", ChatID: "42", ThreadID: "7",
			UserID: "42", UserName: "ana", Profile: "p", Unattended: true},
		Env: []string{"GITHUB_TOKEN"}, Backend: "docker", WaitSeconds: 300, Caller: "hermes",
	}
	if got := e.last(t); !reflect.DeepEqual(got, want) {
		t.Errorf("the enforcer got %+v, want %+v", got, want)
	}
	if a.RequestID != "r" || a.DecisionID != "d1" || a.Output != "hello\n" || a.OutputEncoding != "utf8" || a.Decision.Outcome != bailiff.Allow {
		t.Errorf("the answer is %+v", a)
	}
}

func TestADecisionIsAnsweredAndNothingIsRun(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, DoorConfig{}, agentHandler(t, agentOf(e))))
	var d Decided
	c.post("/v1/decide", telegramRequest).into(t, http.StatusOK, &d)
	if d.DecisionID != "d1" || d.Decision.Outcome != bailiff.Allow || d.Decision.Revision != "r1" {
		t.Errorf("the answer is %+v", d)
	}
}
