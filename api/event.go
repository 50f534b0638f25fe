package api

import (
	"encoding/json"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// DecisionPath is the document of the policies that decides, as OPA's Data API and the
// decision log name it.
const DecisionPath = "bailiff/decision"

// ConnectionPath is the document of the policies that judges connections out of sandboxes.
const ConnectionPath = "bailiff/connection"

// Event is one line of the decision log, in the shape of OPA's decision log;
// what bailiff adds stands under Custom.
type Event struct {
	DecisionID string `json:"decision_id"`
	// TraceID and SpanID name the request's part of a trace that is exported, if one is.
	TraceID     string            `json:"trace_id,omitempty"`
	SpanID      string            `json:"span_id,omitempty"`
	Timestamp   time.Time         `json:"timestamp"`
	Path        string            `json:"path,omitempty"`
	Input       json.Marshaler    `json:"input,omitempty"`
	Result      any               `json:"result,omitempty"`
	Bundles     map[string]Bundle `json:"bundles,omitempty"`
	RequestedBy string            `json:"requested_by,omitempty"`
	Metrics     map[string]int64  `json:"metrics,omitempty"`
	Error       *EventError       `json:"error,omitempty"`
	Custom      Custom            `json:"custom"`
}

// EventError is why there was no decision.
type EventError struct {
	Message string `json:"message"`
}

// Bundle names the policies that gave a decision.
type Bundle struct {
	Revision string `json:"revision"`
}

// Custom is what bailiff adds to an event.
type Custom struct {
	Event     EventKind `json:"event"`
	RequestID string    `json:"request_id,omitempty"`
	// Digest is the request's, so that a retry under one id can be told from
	// another request under the same id.
	Digest  string `json:"digest,omitempty"`
	Session string `json:"session,omitempty"`
	// Agent is the one of the session's agents whose request it was, where another started it.
	Agent     bailiff.Agent  `json:"agent,omitzero"`
	Status    bailiff.Status `json:"status,omitempty"`
	ExitCode  *int           `json:"exit_code,omitempty"`
	Backend   string         `json:"backend,omitempty"`
	SandboxID string         `json:"sandbox_id,omitempty"`
	Message   string         `json:"message,omitempty"`
	// Approval is the one that an approval event tells of, or by which a
	// decision's request runs.
	Approval *bailiff.Approval `json:"approval,omitempty"`
	// BreakGlass is set where an operator ran what the policies deny.
	BreakGlass *BreakGlass `json:"break_glass,omitempty"`
	// Rollback is set where an operator put former policies in force, or ended that.
	Rollback *Rollback `json:"rollback,omitempty"`
	// Shadow is set where policies on trial would have decided otherwise.
	Shadow *Shadow `json:"shadow,omitempty"`
	// Connection is set in an event of a connection out of a sandbox.
	Connection *Connection `json:"connection,omitempty"`
	// Snapshot are the digests of the trees that were kept before a decision's request ran, by their folders.
	Snapshot map[string]string `json:"snapshot,omitempty"`
	// Undo is set where a person undid what a command changed.
	Undo *Undo `json:"undo,omitempty"`
	// MCP is set where a person said yes to an MCP server, or took that back.
	MCP *MCPTrust `json:"mcp,omitempty"`
	// Nanoseconds is how long the execution took.
	Nanoseconds int64 `json:"duration_ns,omitempty"`
}

// Undo is what a person put back.
type Undo struct {
	// Of is the decision whose command it was, By who undid it.
	Of string `json:"of"`
	By string `json:"by"`
	// Restored, Left and Failed count files: those put back, those that changed since, and those that could not be.
	Restored int `json:"restored"`
	Left     int `json:"left"`
	Failed   int `json:"failed"`
	// Force says that what changed since was put back, too.
	Force bool `json:"force,omitempty"`
}

// MCPTrust is what a person said to an MCP server: yes to the listing of a digest, or no more to
// any where there is none.
type MCPTrust struct {
	Server string `json:"server"`
	Digest string `json:"digest,omitempty"`
	By     string `json:"by"`
}

// Connection is what became of a connection out of a sandbox, or of a request on it.
type Connection struct {
	// What is "opened", "refused" or "closed".
	What     string `json:"what"`
	Protocol string `json:"protocol,omitempty"`
	Via      string `json:"via,omitempty"`
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Method   string `json:"method,omitempty"`
	Path     string `json:"path,omitempty"`
	// Rule is why it was refused.
	Rule string `json:"rule,omitempty"`
	// Approval is the id of the question to people, where they were asked about it.
	Approval string `json:"approval,omitempty"`
	// More is how many refusals like this one, in the seconds before it, the event stands for too.
	More int `json:"more,omitempty"`
	// Sent and Received are the bytes of a connection that closed.
	Sent     int64 `json:"sent,omitempty"`
	Received int64 `json:"received,omitempty"`
}

// BreakGlass is an operator's word for running what the policies do not let run.
type BreakGlass struct {
	// By is the operator's name, Via the credential by which they came.
	By     string `json:"by"`
	Via    string `json:"via"`
	Reason string `json:"reason"`
}

// Rollback is an operator's word on which policies are in force, whatever the
// configuration's say.
type Rollback struct {
	// Revision is the one that is in force; empty where the configuration's come into
	// force again.
	Revision string `json:"revision"`
	// By is the operator's name, Via the credential by which they came.
	By     string    `json:"by"`
	Via    string    `json:"via"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	DecisionEvent  EventKind = "decision"
	ExecutionEvent EventKind = "execution"
	ReloadEvent    EventKind = "reload"
	SandboxEvent   EventKind = "sandbox"
	ApprovalEvent  EventKind = "approval"
	RetentionEvent EventKind = "retention"
	ShadowEvent    EventKind = "shadow"
	// UndoEvent tells of a person who undoes what a command changed: once before, once when it has ended.
	UndoEvent EventKind = "undo"
	// MCPEvent tells that a person said yes to an MCP server, or took that back.
	MCPEvent EventKind = "mcp"
	// ConnectionEvent tells of a connection out of a sandbox.
	ConnectionEvent EventKind = "connection"
)
