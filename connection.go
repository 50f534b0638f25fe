package bailiff

import (
	"context"
	"time"
)

// Connection is one connection out of a sandbox, or one request on it, as the policies
// see it. It holds no address that a name stands for: addresses are the enforcer's floor.
type Connection struct {
	// Protocol is "https", "http" or "tcp"; Via is "connect", "forward" or "socks".
	Protocol string
	Via      string
	// Host is the canonical name or address, Domain the registrable domain of a name.
	Host      string
	Domain    string
	Port      int
	IsAddress bool
	// Intercepted says that each request on the connection is judged too.
	Intercepted bool
	// Method and Path are those of a request, empty while none is known.
	Method string
	Path   string
	// Secrets are the names of the variables whose values a request would be given.
	Secrets []string
	// For is the request of the agent that the connection belongs to.
	For ConnectionRequest
	// Caller, Session and Backend are those of that request.
	Caller  string
	Session Session
	Backend string
	Time    time.Time
	// Sandbox is the one that the connection comes from. The policies do not see it.
	Sandbox string
	// Direct says that the program took no proxy. The policies do not see it either.
	Direct bool
}

// ConnectionRequest is what a connection's judgement sees of the request it belongs to.
type ConnectionRequest struct {
	DecisionID string
	Tool       Tool
	// Egress is what that request's decision lets it reach at most.
	Egress []string
	// Approved are the rules and parts of the request for which people let it run.
	Approved []Reason
}

// ConnectionJudgement is what the policies answer to a connection. Its zero value denies.
type ConnectionJudgement struct {
	Outcome Outcome `json:"outcome"`
	// Denials are the reasons of a denial, Approval the terms on which people are asked; a
	// side that does not count is empty.
	Denials  []Reason       `json:"denials"`
	Approval *ApprovalTerms `json:"approval,omitempty"`
	// Private opens private addresses for this host; Intercept says that requests on the
	// connection are to be judged one by one.
	Private   bool `json:"private"`
	Intercept bool `json:"intercept"`
	// WebSocket lets a request go over to a WebSocket, whose messages nothing judges.
	WebSocket bool `json:"websocket,omitempty"`
	// Limits bound what passes.
	Limits ConnectionLimits `json:"limits,omitzero"`
	// Revision is that of the policies that judged, Fault why they gave no answer.
	Revision string `json:"revision"`
	Fault    error  `json:"-"`
}

// ConnectionLimits bound the bytes of a request and of its answer, or of a tunnel whose
// requests are not judged. Zero is no bound.
type ConnectionLimits struct {
	UploadMB   int `json:"upload_mb,omitempty"`
	DownloadMB int `json:"download_mb,omitempty"`
}

// ConnectionHearer is told what becomes of the connections of a request.
type ConnectionHearer interface {
	// Ask puts a connection that waits to people, and returns what they say, or that the
	// approval is pending once the connection has waited for as long as one may. What was
	// approved for the request is not asked again.
	Ask(ctx context.Context, terms ApprovalTerms) (Approval, error)
	// Refused is told of each connection and request that is refused.
	Refused(b Blocked)
	// Closed is told of each connection that was open, with the bytes that passed.
	Closed(host string, sent, received int64)
}

// Blocked is what was refused on the way out of a sandbox.
type Blocked struct {
	Host    string `json:"host"`
	Port    int    `json:"port"`
	Method  string `json:"method,omitempty"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Instead string `json:"instead,omitempty"`
	// Approval is the id of the question to people, where they were asked.
	Approval string `json:"approval,omitempty"`
	// Count is how often.
	Count int `json:"count"`
}

// EgressTraffic is what became of a request's connections.
type EgressTraffic struct {
	Blocked  []Blocked `json:"blocked"`
	Hosts    int       `json:"hosts"`
	Sent     int64     `json:"sent"`
	Received int64     `json:"received"`
	// SentTo are the bytes sent, by host.
	SentTo map[string]int64 `json:"-"`
}
