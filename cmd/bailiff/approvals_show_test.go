package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/approval"
)

func TestWhoeverAnswersSeesWhatWouldBeDone(t *testing.T) {
	for name, c := range map[string]struct {
		req   bailiff.Request
		tools []string
		lines []string
	}{
		"a command": {
			bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "make"}}, nil,
			[]string{"tool       terminal", "  | make"},
		},
		"a command in the background": {
			bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "make", Background: true}}, nil,
			[]string{"tool       terminal in the background", "  | make"},
		},
		"a script": {
			bailiff.Request{Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "f()"}}, []string{"terminal", "web_search"},
			[]string{"tool       execute_code", "  | f()", "may call   terminal web_search"},
		},
		"a script's call": {
			bailiff.Request{Tool: bailiff.Call, Args: bailiff.Args{Name: "send_mail", Arguments: `{"to":"eve"}`}}, nil,
			[]string{"tool       call of send_mail by a script", "arguments", `  | {"to":"eve"}`},
		},
		"input for a process": {
			bailiff.Request{Tool: bailiff.Process, Args: bailiff.Args{Action: "submit", ProcessID: "p1", Data: "yes"}}, nil,
			[]string{"tool       process submit p1", "  | yes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := approval.Entry{ID: "a-1", State: bailiff.ApprovalPending, Request: c.req, Expires: time.Now().Add(time.Minute)}
			e.Decision.Tools = c.tools
			var shown strings.Builder
			if err := printApproval(&shown, gateway.ShownApproval{Approval: e}, brackets); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(shown.String(), "\n")
			for _, want := range c.lines {
				if !slices.Contains(lines, want) {
					t.Errorf("%q is missing in\n%s", want, shown.String())
				}
			}
		})
	}
}
