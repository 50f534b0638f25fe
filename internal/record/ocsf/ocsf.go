// Package ocsf tells the events of the decision log in the words of the Open
// Cybersecurity Schema Framework, version 1.6.0.
//
// Here: which class an event is of, and where its parts stand. Promised: every line
// becomes one event, whose metadata.uid is the line's hash; of what a mask took
// nothing comes back; what has no attribute stands in unmapped, under the log's own names.
// Not here: how events are sent.
//
// Source of the classes and attributes: schema.ocsf.io, 1.6.0. They were never validated
// by OCSF's own validator; the schema beside the tests is written from that description.
package ocsf

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/logline"
)

// schemaVersion is that of the schema.
const schemaVersion = "1.6.0"

// event is what all classes have, and what only some do.
type event struct {
	ClassUID     int      `json:"class_uid"`
	ClassName    string   `json:"class_name"`
	CategoryUID  int      `json:"category_uid"`
	CategoryName string   `json:"category_name"`
	ActivityID   int      `json:"activity_id"`
	ActivityName string   `json:"activity_name"`
	TypeUID      int      `json:"type_uid"`
	Time         int64    `json:"time"` // ms since 1970
	SeverityID   int      `json:"severity_id"`
	Severity     string   `json:"severity"`
	StatusID     int      `json:"status_id,omitempty"`
	Status       string   `json:"status,omitempty"`
	StatusDetail string   `json:"status_detail,omitempty"`
	Message      string   `json:"message,omitempty"`
	RawData      string   `json:"raw_data,omitempty"`
	Metadata     metadata `json:"metadata"`
	Actor        *actor   `json:"actor,omitempty"`
	// Of the profile security_control.
	ActionID      int      `json:"action_id,omitempty"`
	Action        string   `json:"action,omitempty"`
	DispositionID int      `json:"disposition_id,omitempty"`
	Disposition   string   `json:"disposition,omitempty"`
	Attacks       []attack `json:"attacks,omitempty"`
	Rule          *rule    `json:"firewall_rule,omitempty"`
	Policy        *policy  `json:"policy,omitempty"`
	// Of API Activity.
	API    *operation `json:"api,omitempty"`
	Source *endpoint  `json:"src_endpoint,omitempty"`
	// Of Process Activity.
	Device   *device  `json:"device,omitempty"`
	Process  *process `json:"process,omitempty"`
	ExitCode *int     `json:"exit_code,omitempty"`
	Duration int64    `json:"duration,omitempty"` // ms
	// Of Network Activity.
	Destination *endpoint   `json:"dst_endpoint,omitempty"`
	Connection  *connection `json:"connection_info,omitempty"`
	Traffic     *traffic    `json:"traffic,omitempty"`

	Unmapped unmapped `json:"unmapped,omitzero"`
}

// unmapped is what has no attribute, under the log's names.
type unmapped struct {
	TraceID     string            `json:"trace_id,omitempty"`
	SpanID      string            `json:"span_id,omitempty"`
	Digest      string            `json:"digest,omitempty"`
	RequestedBy string            `json:"requested_by,omitempty"`
	Backend     string            `json:"backend,omitempty"`
	SandboxID   string            `json:"sandbox_id,omitempty"`
	Erased      []string          `json:"erased,omitempty"`
	Masked      []string          `json:"masked,omitempty"`
	Reasons     []bailiff.Reason  `json:"reasons,omitempty"`
	Approval    *bailiff.Approval `json:"approval,omitempty"`
	BreakGlass  *api.BreakGlass   `json:"break_glass,omitempty"`
	Rollback    *api.Rollback     `json:"rollback,omitempty"`
	Shadow      *api.Shadow       `json:"shadow,omitempty"`
	Connection  *api.Connection   `json:"connection,omitempty"`
	Chat        *chat             `json:"chat,omitempty"`
	// RequestedFor is the session's user where the actor is a person who answers.
	RequestedFor *actor `json:"requested_for,omitempty"`
}

type chat struct {
	ID       string `json:"id"`
	Type     string `json:"type,omitempty"`
	ThreadID string `json:"thread_id,omitempty"`
}

type metadata struct {
	Version        string   `json:"version"`
	UID            string   `json:"uid,omitempty"`
	CorrelationUID string   `json:"correlation_uid,omitempty"`
	EventCode      string   `json:"event_code,omitempty"`
	OriginalTime   string   `json:"original_time,omitempty"`
	Profiles       []string `json:"profiles,omitempty"`
	Product        product  `json:"product"`
}

type product struct {
	Name       string `json:"name"`
	VendorName string `json:"vendor_name"`
	Version    string `json:"version,omitempty"`
}

type actor struct {
	AppName string   `json:"app_name,omitempty"`
	User    *user    `json:"user,omitempty"`
	Session *session `json:"session,omitempty"`
}

type user struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

type session struct {
	UID string `json:"uid"`
}

type attack struct {
	Technique struct {
		UID string `json:"uid"`
	} `json:"technique"`
}

type rule struct {
	UID  string `json:"uid"`
	Desc string `json:"desc,omitempty"`
}

type policy struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

type operation struct {
	Operation string      `json:"operation"`
	Service   named       `json:"service"`
	Request   *apiRequest `json:"request,omitempty"`
}

type apiRequest struct {
	UID  string         `json:"uid,omitempty"`
	Data map[string]any `json:"data,omitempty"`
}

type named struct {
	Name string `json:"name"`
}

type endpoint struct {
	Name     string `json:"name,omitempty"`
	UID      string `json:"uid,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Port     int    `json:"port,omitempty"`
}

type device struct {
	TypeID int    `json:"type_id"`
	Type   string `json:"type"`
	UID    string `json:"uid,omitempty"`
	Name   string `json:"name,omitempty"`
}

type process struct {
	UID string `json:"uid"`
}

type connection struct {
	DirectionID int    `json:"direction_id"`
	Direction   string `json:"direction"`
	Protocol    string `json:"protocol_name,omitempty"`
}

type traffic struct {
	In  int64 `json:"bytes_in"`
	Out int64 `json:"bytes_out"`
}

// Of is the event of a line of the decision log, as JSON. The version is this program's.
func Of(line []byte, version string) ([]byte, error) {
	l, err := logline.Read(line)
	if err != nil {
		return json.Marshal(unread(line, version, err))
	}
	e := newEvent(l.Line.Timestamp, version)
	e.Message, e.Unmapped, e.Actor = l.Line.Custom.Message, leftOf(l), actorOf(l)
	e.Metadata.UID, e.Metadata.CorrelationUID, e.Metadata.EventCode = l.Hash, l.Line.DecisionID, string(l.Line.Custom.Event)
	e.tell(l)
	return json.Marshal(e)
}

func newEvent(at time.Time, version string) *event {
	e := &event{Time: at.UnixMilli(), Metadata: metadata{Version: schemaVersion, OriginalTime: at.Format(time.RFC3339Nano),
		Profiles: []string{"security_control"}, Product: product{"bailiff", "bailiff", version}}}
	e.graded("")
	return e
}

// unread is the event of a line that holds none: it is told rather than passed over.
func unread(line []byte, version string, why error) *event {
	e := newEvent(time.Now(), version)
	text := fmt.Sprintf("this line of the decision log is no event: %v", why)
	e.called(other, "unread", logline.Event{Line: api.Line{Error: &api.EventError{Message: text}}})
	e.Actor, e.RawData = &actor{}, string(line)
	e.graded("high")
	return e
}

// tell has the event be of the class that fits.
func (e *event) tell(l logline.Event) {
	switch l.Line.Custom.Event {
	case api.DecisionEvent:
		e.decision(l)
	case api.ApprovalEvent:
		e.approval(l)
	case api.ExecutionEvent:
		e.execution(l)
	case api.ConnectionEvent:
		e.connected(l)
	default: // reload, sandbox, retention, shadow, and kinds of later versions
		e.called(other, string(l.Line.Custom.Event), l)
	}
}

// actorOf is the session's user, as far as the line tells one.
func actorOf(l logline.Event) *actor {
	asked := l.Input.Session
	a := &actor{AppName: asked.Platform}
	if asked.UserID != "" || asked.UserName != "" {
		a.User = &user{Name: asked.UserName, UID: asked.UserID}
	}
	if l.Line.Custom.Session != "" {
		a.Session = &session{l.Line.Custom.Session}
	}
	return a
}

func leftOf(l logline.Event) unmapped {
	line, custom := l.Line, l.Line.Custom
	left := unmapped{TraceID: line.TraceID, SpanID: line.SpanID, Digest: custom.Digest, RequestedBy: line.RequestedBy,
		Backend: custom.Backend, SandboxID: custom.SandboxID, Erased: line.Erased, Masked: line.Masked, Approval: custom.Approval,
		BreakGlass: custom.BreakGlass, Rollback: custom.Rollback, Shadow: custom.Shadow, Connection: custom.Connection}
	if s := l.Input.Session; s.ChatID != "" {
		left.Chat = &chat{s.ChatID, string(s.ChatType), s.ThreadID}
	}
	return left
}
