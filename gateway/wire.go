package gateway

import (
	"net/url"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// wireAnswer puts an answer into its wire form. A request without an id of its
// own is answered with the decision's, which the decision log knows too.
func wireAnswer(a bailiff.Answer, console string) api.Answer {
	if a.RequestID == "" {
		a.RequestID = a.DecisionID
	}
	output, encoding := api.Encode(a.Output)
	return api.Answer{
		RequestID: a.RequestID, DecisionID: a.DecisionID, Status: a.Status, Code: a.Code, ExitCode: a.ExitCode,
		Output: output, OutputEncoding: encoding, Truncated: a.Truncated, DurationSeconds: a.Duration.Seconds(),
		Backend: a.Backend, SandboxID: a.SandboxID, ProcessID: a.ProcessID, Message: a.Message, Decision: a.Decision.ForSender(),
		Processes: toldProcesses(a.Processes), ToolCallsMade: a.ToolCalls, Egress: a.Egress,
		Approval: toldApproval(a.Approval, console),
	}
}

func toldProcesses(all []bailiff.ProcessState) []api.Process {
	told := make([]api.Process, len(all))
	for i, p := range all {
		told[i] = api.Process{ProcessID: p.ID, Command: p.Command, StartedAt: p.Started, EndedAt: p.Ended, Status: p.Status, ExitCode: nil,
			OutputBytes: p.Written}
		if !p.Ended.IsZero() {
			told[i].ExitCode = &p.ExitCode
		}
	}
	return told
}

// toldApproval tells of one to who asked; console is the web page's address.
func toldApproval(a *bailiff.Approval, console string) *api.Approval {
	if a == nil {
		return nil
	}
	told := &api.Approval{ID: a.ID, State: a.State, Scope: a.Scope, By: a.By, ExpiresAt: a.ExpiresAt, Message: bailiff.Sentence(a.Message),
		URL: ""}
	if a.State == bailiff.ApprovalPending && console != "" && slices.Contains(a.Channels, bailiff.ChannelConsole) {
		told.URL = console + "/?approval=" + url.QueryEscape(a.ID)
	}
	return told
}
