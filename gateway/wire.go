package gateway

import (
	"encoding/base64"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Answer is the answer to POST /v1/execute.
type Answer struct {
	RequestID       string         `json:"request_id"`
	DecisionID      string         `json:"decision_id"`
	Status          bailiff.Status `json:"status"`
	Code            string         `json:"code,omitempty"`
	ExitCode        int            `json:"exit_code"`
	Output          string         `json:"output"`
	OutputEncoding  string         `json:"output_encoding"`
	Truncated       bool           `json:"truncated"`
	DurationSeconds float64        `json:"duration_seconds"`
	Backend         string         `json:"backend"`
	SandboxID       string         `json:"sandbox_id"`
	ProcessID       string         `json:"process_id"`
	Message         string         `json:"message"`
	Processes       []Process      `json:"processes,omitempty"`
	ToolCallsMade   int            `json:"tool_calls_made,omitempty"`
	// Decision is missing where nothing was decided; there is no DecisionID then.
	Decision bailiff.Decision `json:"decision,omitzero"`
	// Approval is set when humans were asked, or a grant of theirs was used.
	Approval *Approval `json:"approval,omitempty"`
}

// Process is what a requester is told of a background process of its session.
type Process struct {
	ProcessID string    `json:"process_id"`
	Command   string    `json:"command"`
	StartedAt time.Time `json:"started_at"`
	// EndedAt, Status and ExitCode are missing while it runs.
	EndedAt     time.Time      `json:"ended_at,omitzero"`
	Status      bailiff.Status `json:"status,omitempty"`
	ExitCode    *int           `json:"exit_code,omitempty"`
	OutputBytes int64          `json:"output_bytes"`
}

func toldProcesses(all []bailiff.ProcessState) []Process {
	told := make([]Process, len(all))
	for i, p := range all {
		told[i] = Process{p.ID, p.Command, p.Started, p.Ended, p.Status, nil, p.Written}
		if !p.Ended.IsZero() {
			told[i].ExitCode = &p.ExitCode
		}
	}
	return told
}

// Approval is what a requester is told of one, in answers and streams.
type Approval struct {
	ID        string                `json:"id"`
	State     bailiff.ApprovalState `json:"state"`
	Scope     string                `json:"scope"`
	By        string                `json:"by"`
	ExpiresAt time.Time             `json:"expires_at,omitzero"`
	// Message says who can answer a pending one and where, or why the answer is what
	// it is.
	Message string `json:"message,omitempty"`
	// URL is the page on which a pending one can be answered by who may, if there is one.
	URL string `json:"url,omitempty"`
}

// toldApproval tells of one to who asked; console is the web page's address.
func toldApproval(a *bailiff.Approval, console string) *Approval {
	if a == nil {
		return nil
	}
	told := &Approval{a.ID, a.State, a.Scope, a.By, a.ExpiresAt, bailiff.Sentence(a.Message), ""}
	if a.State == bailiff.ApprovalPending && console != "" && slices.Contains(a.Channels, bailiff.ChannelConsole) {
		told.URL = console + "/?approval=" + url.QueryEscape(a.ID)
	}
	return told
}

// Bytes are the output as the command wrote it.
func (a Answer) Bytes() ([]byte, error) { return decode(a.Output, a.OutputEncoding) }

// Decided is the answer to POST /v1/decide and the first event of a stream.
type Decided struct {
	DecisionID string           `json:"decision_id"`
	Decision   bailiff.Decision `json:"decision"`
}

// Progress is what is being done for a request that takes long.
type Progress struct {
	Step string `json:"step"`
}

// Output is one piece of output in a stream; Seq counts from one.
type Output struct {
	Seq      int    `json:"seq"`
	Data     string `json:"data"`
	Encoding string `json:"encoding"`
}

// Bytes are the piece as the command wrote it.
func (o Output) Bytes() ([]byte, error) { return decode(o.Data, o.Encoding) }

// The encodings of output.
const (
	encodingUTF8   = "utf8"
	encodingBase64 = "base64"
)

func encode(output []byte) (text, encoding string) {
	if utf8.Valid(output) {
		return string(output), encodingUTF8
	}
	return base64.StdEncoding.EncodeToString(output), encodingBase64
}

func decode(text, encoding string) ([]byte, error) {
	if encoding == encodingBase64 {
		return base64.StdEncoding.DecodeString(text)
	}
	return []byte(text), nil
}

// answered puts an answer into its wire form. A request without an id of its
// own is answered with the decision's, which the decision log knows too.
func answered(a bailiff.Answer, console string) Answer {
	if a.RequestID == "" {
		a.RequestID = a.DecisionID
	}
	output, encoding := encode(a.Output)
	return Answer{
		RequestID: a.RequestID, DecisionID: a.DecisionID, Status: a.Status, Code: a.Code, ExitCode: a.ExitCode,
		Output: output, OutputEncoding: encoding, Truncated: a.Truncated, DurationSeconds: a.Duration.Seconds(),
		Backend: a.Backend, SandboxID: a.SandboxID, ProcessID: a.ProcessID, Message: a.Message, Decision: a.Decision.Told(),
		Processes: toldProcesses(a.Processes), ToolCallsMade: a.ToolCalls, Approval: toldApproval(a.Approval, console),
	}
}

// SessionEnded is the answer to DELETE /v1/sessions/{id}.
type SessionEnded struct {
	// Removed counts sandboxes, Processes those that ran in the background.
	Removed   int `json:"removed"`
	Processes int `json:"processes"`
}

// Status is the answer to GET /v1/status.
type Status struct {
	Version   string           `json:"version"`
	Started   time.Time        `json:"started"`
	Listeners []ListenerStatus `json:"listeners"`
	// Console is the URL of the web page, without what logs in; empty if there is none.
	Console   string           `json:"console"`
	Policies  PolicyStatus     `json:"policies"`
	Backends  []BackendStatus  `json:"backends"`
	Platforms []PlatformStatus `json:"platforms"`
	Chats     []ChatStatus     `json:"chats"`
	Chat      []ServiceStatus  `json:"chat"`
	Warnings  []string         `json:"warnings"`
}

// ListenerStatus is one door for agents and the platforms it speaks for.
type ListenerStatus struct {
	Name      string   `json:"name"`
	Listen    string   `json:"listen"`
	Platforms []string `json:"platforms"`
}

// PolicyStatus is what is known of the policies in force; it is the answer to
// GET /v1/policies too.
type PolicyStatus struct {
	Revision string    `json:"revision"`
	Loaded   time.Time `json:"loaded"`
	Files    []string  `json:"files"`
	// Bundles are the revisions that bundles give themselves, by their files.
	Bundles map[string]api.Bundle `json:"bundles"`
	// Reloaded is when the files were last read, OK whether the policies in
	// force are those in the files, and Faults why they are not.
	Reloaded time.Time `json:"reloaded"`
	OK       bool      `json:"ok"`
	Faults   []string  `json:"faults"`
	// RolledBack is the word by which former policies are in force, and Waiting the
	// revision of the configuration's meanwhile, if they can be read.
	RolledBack *api.Rollback `json:"rolled_back,omitempty"`
	Waiting    string        `json:"waiting,omitempty"`
}

// BackendStatus is one configured backend; Message says why it is not ready.
type BackendStatus struct {
	Name     string `json:"name"`
	Isolated bool   `json:"isolated"`
	Ready    bool   `json:"ready"`
	Message  string `json:"message"`
}

// PlatformStatus is where an ordinary request of a platform would run, and for how
// long its sandbox stays that nobody uses, and at most; Message says why it would not
// run.
type PlatformStatus struct {
	Platform    string `json:"platform"`
	Backend     string `json:"backend"`
	Isolated    bool   `json:"isolated"`
	Image       string `json:"image"`
	IdleSeconds int    `json:"idle_seconds"`
	MaxSeconds  int    `json:"max_seconds"`
	Persistent  bool   `json:"persistent"`
	Message     string `json:"message"`
}

// ChatStatus is the same of a chat that the policies' tables name.
type ChatStatus struct {
	PlatformStatus
	Chat string `json:"chat"`
}

// ServiceStatus is bailiff's own account at a chat service.
type ServiceStatus struct {
	Service string `json:"service"`
	// Approvals says that approvals are posted there, and At in which chat, where the
	// service has chats.
	Approvals bool   `json:"approvals"`
	At        string `json:"at"`
	// Commands says that people give commands there.
	Commands bool `json:"commands"`
	// Message says why nobody is reached there; empty if people are.
	Message string `json:"message"`
}

// Sandbox is one live sandbox.
type Sandbox struct {
	ID      string `json:"id"`
	Backend string `json:"backend"`
	Image   string `json:"image"`
	Caller  string `json:"caller"`
	Session string `json:"session"`
	// Users counts the requests that are in it, Processes what runs in the
	// background, Interpreters those that keep the variables of scripts.
	Users        int       `json:"users"`
	Processes    int       `json:"processes"`
	Interpreters int       `json:"interpreters"`
	Since        time.Time `json:"since"`
	LastUsed     time.Time `json:"last_used"`
	// Expires is when it goes at the latest.
	Expires time.Time `json:"expires"`
}

// Sandboxes is the answer to GET /v1/sandboxes.
type Sandboxes struct {
	Sandboxes []Sandbox `json:"sandboxes"`
}

// Reaped is the answer to POST /v1/sandboxes/reap.
type Reaped struct {
	Removed int `json:"removed"`
}

// Health is the answer to GET /healthz.
type Health struct {
	Status string `json:"status"`
}
