package bailiff

import (
	"net"
	"strings"
	"time"
)

// Status is how a request ended.
type Status string

// The statuses of an answer; only [Completed], [TimedOut] and [Interrupted]
// mean that something was run, and [Failed] that it may have been.
const (
	Completed        Status = "completed"
	Refused          Status = "denied"
	ApprovalRequired Status = "approval_required"
	Expired          Status = "expired"
	TimedOut         Status = "timeout"
	Interrupted      Status = "interrupted"
	Unavailable      Status = "unavailable"
	Failed           Status = "error"
)

// The codes of an answer that is not a plain end.
const (
	// CodeConflict: another request is known under the same request id.
	CodeConflict = "request_id_conflict"
	// CodeOutcomeUnknown: the request may have run, and how it ended is not known.
	CodeOutcomeUnknown = "outcome_unknown"
	// CodeCommand: the sandbox lacks what the command needs to start, such as its
	// working folder; nothing was run.
	CodeCommand = "command_not_started"
	// CodeBackend: the sandbox could not be made or failed.
	CodeBackend = "backend_failed"
	// CodeRecord: the decision log could not be written.
	CodeRecord = "decision_log_failed"
	// CodeBusy: there is no room for another request of the session, or to remember
	// another request id.
	CodeBusy = "busy"
	// CodeApproval: the store of approvals failed, or has no room for another.
	CodeApproval = "approval_failed"
	// CodeFrozen: an operator has frozen the session, the user or everything.
	CodeFrozen = "frozen"
	// CodeLimit: the caller, the user, the session, the backend or all together have
	// as many sandboxes or processes as they may, or a command filled its workspace beyond
	// what that may hold and was stopped.
	CodeLimit = "limit_reached"
	// CodeOccupied: a background process lives in the sandbox beside which the
	// request may not run.
	CodeOccupied = "sandbox_occupied"
	// CodeProcess: the session has no process of that id, or it takes no input any more.
	CodeProcess = "no_such_process"
	// CodeRateLimited: too many requests in a short time.
	CodeRateLimited = "rate_limited"
	// CodeHome: the sidecar that serves the session does not answer; nothing was run.
	CodeHome = "home_unreachable"
	// CodeStore: the store that sidecars share does not answer; nothing was run.
	CodeStore = "store_failed"
	// CodeShutdown: the sidecar is stopping.
	CodeShutdown = "shutting_down"
)

// Exit codes that are not the command's own.
const (
	ExitTimeout     = 124
	ExitFailed      = 125
	ExitRefused     = 126
	ExitInterrupted = 130
	ExitPending     = 75
)

// Answer is what the caller of a request gets.
type Answer struct {
	RequestID  string
	DecisionID string
	Status     Status
	// Code names a fault for programs, such as "outcome_unknown"; Message says
	// it in one sentence for people.
	Code      string
	Message   string
	ExitCode  int
	Output    []byte
	Truncated bool
	Duration  time.Duration
	Backend   string
	SandboxID string
	ProcessID string
	// Processes are the background processes that a process request asked about.
	Processes []ProcessState
	// ToolCalls counts the tools that a script called.
	ToolCalls int
	// Egress is what became of the command's connections, nil where it had no way out.
	Egress   *EgressTraffic
	Decision Decision
	// Approval is set when humans were asked, or a grant of theirs was used.
	Approval *Approval
}

// Note adds sentences to the message.
func (a *Answer) Note(sentences ...string) {
	a.Message = strings.TrimSpace(a.Message + " " + strings.Join(sentences, " "))
}

// ProcessState is what a session is told of one of its background processes.
type ProcessState struct {
	ID      string
	Command string
	Started time.Time
	// Ended is when its first process ended; zero while it runs.
	Ended time.Time
	// Status is [Completed], [TimedOut], [Interrupted] or [Failed] once it has ended.
	Status   Status
	ExitCode int
	// Written counts the bytes of its output so far.
	Written int64
}

// ToolCall is a script's call of a tool that the agent registered. The agent
// answers it under its ID.
type ToolCall struct {
	ID, Name string
	// Arguments are the text of a JSON object.
	Arguments string
}

// Progress is one piece of news about a running request; exactly one field is set.
type Progress struct {
	// Decision comes once, before all but steps.
	Decision *Decided
	// Approval comes when one is asked for, and when it is answered.
	Approval *Approval
	// ToolCall is one that the caller is to run and answer.
	ToolCall *ToolCall
	// Step is what is being done that takes long, such as bringing an image.
	Step string
	// Blocked is a connection that was refused. The same refusal again is not told.
	Blocked *Blocked
	// Output holds the next bytes of output, already redacted.
	Output []byte
	// Say comes when an MCP server has started: it gives the server one line to read. Files are
	// those that its command runs. No other sidecar can be handed it.
	Say   func(line []byte) error `json:"-"`
	Files []File
	// Outlet comes when an MCP server at a URL may be reached, in the place of Say.
	Outlet *Outlet `json:"-"`
	// Line is the next line that the server says, already redacted.
	Line []byte
	// LongLine are the two ends of one that was too long to be handed on, not redacted: they say
	// which one it was, and go no further.
	LongLine *LongLine `json:"-"`
}

// Outlet is how the sidecar itself reaches a server for a request, as a program in its sandbox would.
type Outlet struct {
	// Dial gives a connection to a proxy by which the server is reached. It ends with the request.
	Dial func() (net.Conn, error)
	// Authority is the certificate that the proxy shows in place of the server's, in PEM.
	Authority []byte
	// StandIns are put in for the values of variables, which go in on the way.
	StandIns map[string]Secret
}

// LongLine are the first and the last bytes of a line.
type LongLine struct{ Head, Tail []byte }

// Ended is what the end of a session stopped.
type Ended struct {
	// Sandboxes counts those that went, Processes those that ran in the background.
	Sandboxes, Processes int
	// Unremoved counts those whose files could not be removed yet.
	Unremoved int
}

// Decided is a decision with the id it has in the decision log.
type Decided struct {
	ID       string
	Decision Decision
	// Unread are the files that the request's text runs, where their own text was not judged.
	Unread []string
	// Projects are the folders of this machine that the sandbox shows at their own path and may
	// write, with protected files in them.
	Projects []string
}
