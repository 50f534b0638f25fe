package api

import (
	"encoding/base64"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
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
	// Egress is what became of the command's connections, where its network is egress.
	Egress *bailiff.EgressTraffic `json:"egress,omitempty"`
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

// Bytes are the output as the command wrote it.
func (a Answer) Bytes() ([]byte, error) { return decode(a.Output, a.OutputEncoding) }

// Decided is the answer to POST /v1/decide and the first event of a stream.
type Decided struct {
	DecisionID string           `json:"decision_id"`
	Decision   bailiff.Decision `json:"decision"`
	// UnreadFiles are those that the request's text runs, and whose own text was not judged,
	// since nothing runs here.
	UnreadFiles []string `json:"unread_files,omitempty"`
	// Projects are the folders of the sidecar's machine that the sandbox shows at their own path
	// and may write, with protected files in them.
	Projects []string `json:"projects,omitempty"`
	// Connects says that the connection which the request's client makes itself was judged, too.
	Connects bool `json:"connects,omitempty"`
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

// SessionEnded is the answer to DELETE /v1/sessions/{id}.
type SessionEnded struct {
	// Removed counts sandboxes, Processes those that ran in the background.
	Removed   int `json:"removed"`
	Processes int `json:"processes"`
	// Unremoved counts the sandboxes whose files could not be removed yet.
	Unremoved int `json:"unremoved,omitempty"`
}

// Health is the answer to GET /healthz.
type Health struct {
	Status string `json:"status"`
}

// Tools is the body of POST /v1/sessions/{id}/tools.
type Tools struct {
	Tools []string `json:"tools"`
}

// ToolCall is an event of a stream: a script's call of a tool of the agent's own.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are an object.
	Arguments json.RawMessage `json:"arguments"`
}

// ToolAnswer is the body of POST /v1/tool_calls/{id}; one of the two is there.
type ToolAnswer struct {
	// Result is any value.
	Result json.RawMessage `json:"result,omitempty"`
	// Error says in words why there is none.
	Error *string `json:"error,omitempty"`
}

// The encodings of output.
const (
	encodingUTF8   = "utf8"
	encodingBase64 = "base64"
)

// Encode puts output into a text: as it is where it is UTF-8.
func Encode(output []byte) (text, encoding string) {
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
