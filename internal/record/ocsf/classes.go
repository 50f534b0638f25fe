package ocsf

import (
	"cmp"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/logline"
)

// class is one of the schema.
type class struct {
	uid      int
	name     string
	category string
}

// The classes that are used. The thousands of the uid are the category's.
var (
	processActivity = class{1007, "Process Activity", "System Activity"}
	networkActivity = class{4001, "Network Activity", "Network Activity"}
	apiActivity     = class{6003, "API Activity", "Application Activity"}
)

// activity is what happened, numbered by its class.
type activity struct {
	id   int
	name string
}

var (
	created, updated, other = activity{1, "Create"}, activity{3, "Update"}, activity{99, "Other"}
	terminated              = activity{2, "Terminate"}
	opened                  = map[string]activity{"opened": {1, "Open"}, "closed": {2, "Close"}, "refused": {5, "Refuse"}}
)

func (e *event) is(c class, a activity) {
	e.ClassUID, e.ClassName, e.CategoryUID, e.CategoryName = c.uid, c.name, c.uid/1000, c.category
	e.ActivityID, e.ActivityName, e.TypeUID = a.id, a.name, c.uid*100+a.id
}

// grades are the severities, from the mildest; the first is that of an event without one.
var grades = []struct{ ours, theirs string }{{"", "Informational"}, {"low", "Low"}, {"medium", "Medium"}, {"high", "High"},
	{"critical", "Critical"}}

// graded raises the severity to one of ours.
func (e *event) graded(ours string) {
	for i, grade := range grades {
		if id := i + 1; grade.ours == ours && id > e.SeverityID {
			e.SeverityID, e.Severity = id, grade.theirs
		}
	}
}

// called has the event be a call of one of bailiff's operations.
func (e *event) called(a activity, name string, l logline.Event) {
	e.is(apiActivity, a)
	e.API = &operation{Operation: cmp.Or(name, "unknown"), Service: named{"bailiff"}}
	if l.Line.Custom.RequestID != "" {
		e.API.Request = &apiRequest{UID: l.Line.Custom.RequestID}
	}
	e.Source = &endpoint{Name: cmp.Or(l.Line.RequestedBy, "bailiff")}
	e.succeeded(l.Line.Error == nil, "")
	if l.Line.Error != nil {
		e.StatusDetail = l.Line.Error.Message
	}
}

func (e *event) succeeded(so bool, detail string) {
	e.StatusID, e.Status, e.StatusDetail = 1, "Success", detail
	if !so {
		e.StatusID, e.Status = 2, "Failure"
	}
}

// decision is what the policies said of a request.
func (e *event) decision(l logline.Event) {
	e.called(other, string(l.Input.Tool), l)
	if text := l.Input.Args.Text(); text != "" {
		e.API.Request = cmp.Or(e.API.Request, &apiRequest{})
		e.API.Request.Data = map[string]any{"text": text}
	}
	if revision := l.Line.Bundles["policies"].Revision; revision != "" {
		e.Policy = &policy{"bailiff", revision}
	}
	switch l.Result.Outcome {
	case bailiff.Allow.String():
		e.controlled(1, "Allowed", 1, "Allowed")
	case bailiff.Deny.String():
		e.controlled(2, "Denied", 2, "Blocked")
	case bailiff.Ask.String():
		e.controlled(99, "Asked", 99, "Approval required")
	}
	e.reasons(slices.Concat(l.Result.Denials, l.Result.Approval.Reasons))
}

func (e *event) controlled(action int, name string, disposition int, became string) {
	e.ActionID, e.Action, e.DispositionID, e.Disposition = action, name, disposition, became
}

// reasons are why; the rule that stands first is the event's.
func (e *event) reasons(all []bailiff.Reason) {
	known := map[string]bool{}
	for _, r := range all {
		e.graded(r.Severity)
		for _, technique := range r.Attack {
			if !known[technique] {
				known[technique] = true
				var a attack
				a.Technique.UID = technique
				e.Attacks = append(e.Attacks, a)
			}
		}
	}
	if len(all) > 0 {
		e.Rule = &rule{all[0].Rule, all[0].Message}
		e.Message = cmp.Or(e.Message, all[0].Message)
		e.Unmapped.Reasons = all
	}
}

// approval is a step of a question to people.
func (e *event) approval(l logline.Event) {
	a := cmp.Or(l.Line.Custom.Approval, &bailiff.Approval{})
	step := updated
	if a.State == bailiff.ApprovalPending {
		step = created
	}
	e.called(step, "approval."+string(a.State), l)
	if a.By != "" {
		e.Unmapped.RequestedFor = e.Actor
		e.Actor = &actor{AppName: a.Via, User: &user{Name: a.By}}
	}
	switch a.State {
	case bailiff.ApprovalApproved:
		e.controlled(1, "Allowed", 1, "Allowed")
	case bailiff.ApprovalDenied:
		e.controlled(2, "Denied", 2, "Blocked")
	}
	e.Message = cmp.Or(e.Message, a.Message)
}

// execution is a command that ended.
func (e *event) execution(l logline.Event) {
	e.is(processActivity, terminated)
	e.Device = &device{TypeID: 99, Type: "Sandbox", UID: l.Line.Custom.SandboxID, Name: l.Line.Custom.Backend}
	e.Process, e.ExitCode, e.Duration = &process{l.Line.DecisionID}, l.Line.Custom.ExitCode, l.Line.Custom.Nanoseconds/1e6
	e.succeeded(l.Line.Custom.Status == bailiff.Completed, string(l.Line.Custom.Status))
}

// connected is a connection out of a sandbox.
func (e *event) connected(l logline.Event) {
	c := cmp.Or(l.Line.Custom.Connection, &api.Connection{})
	step, known := opened[c.What]
	if !known {
		step = other
	}
	e.is(networkActivity, step)
	e.Source = &endpoint{UID: l.Line.Custom.SandboxID, Name: cmp.Or(l.Line.Custom.Backend, "sandbox")}
	e.Destination = &endpoint{Hostname: c.Host, Port: c.Port}
	e.Connection = &connection{DirectionID: 2, Direction: "Outbound", Protocol: c.Protocol}
	e.Traffic = &traffic{In: c.Received, Out: c.Sent}
	e.controlled(1, "Allowed", 1, "Allowed")
	if c.What == "refused" {
		e.controlled(2, "Denied", 2, "Blocked")
	}
	if c.Rule != "" {
		e.Rule = &rule{UID: c.Rule}
	}
	e.succeeded(c.What != "refused", c.What)
}
