package offline

import (
	"context"
	"fmt"
	"net/http"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/egress"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/reach"
	"github.com/bailiff-dev/bailiff/internal/redact"
)

// Reached is what would become of a connection out of a sandbox, and why.
type Reached struct {
	Host   string `json:"host"`
	Port   int    `json:"port"`
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// Backend and Network are those of an ordinary request of the session, Egress is what it
	// may reach at most.
	Backend string   `json:"backend"`
	Network string   `json:"network"`
	Egress  []string `json:"egress"`
	// Protocol is the one that the program would speak, Intercepted says that its requests
	// are judged one by one.
	Protocol    string           `json:"protocol"`
	Intercepted bool             `json:"intercepted"`
	Outcome     bailiff.Outcome  `json:"outcome"`
	Reasons     []bailiff.Reason `json:"reasons"`
	// Rows are those of the host, whether or not they fit.
	Rows     []pdp.Row `json:"rows"`
	Revision string    `json:"revision"`
	explain.Explanation
}

// Destination is a host and port and, where a request to it is meant, that.
type Destination struct {
	To      reach.Target
	Request *http.Request
}

// Reach says what would become of a connection of an ordinary request of a session. Nothing is
// looked up or dialled.
func (j *Judge) Reach(ctx context.Context, session bailiff.Session, to Destination) Reached {
	host := to.To.Host.String()
	d := j.Decide(ctx, bailiff.Request{Tool: bailiff.Terminal, Session: session, Args: bailiff.Args{Command: "true"}})
	r := Reached{Host: host, Port: int(to.To.Port), Backend: d.Backend.Name, Network: d.Backend.Network, Egress: d.Backend.Egress,
		Reasons: []bailiff.Reason{}, Rows: j.policies.Rows(host), Revision: d.Revision, Explanation: explain.New()}
	if to.Request != nil {
		r.Method, r.Path = to.Request.Method, to.Request.URL.Path
	}
	switch {
	case d.Outcome == bailiff.Deny:
		r.Reasons = d.Denials
	case d.Backend.Network == backends.Egress:
		j.judge(ctx, &r, to, bailiff.Connection{Caller: caller, Session: session, Backend: d.Backend.Name,
			For: bailiff.ConnectionRequest{Tool: bailiff.Terminal, Egress: d.Backend.Egress}})
	case d.Backend.Network == "full":
		r.Outcome = bailiff.Allow
	default:
		r.Reasons = append(r.Reasons, bailiff.Reason{Rule: "network", Message: "Sandboxes of this session have no network.",
			Instead: fmt.Sprintf("Give the platform network: egress in the table network.platforms, and %s in its list.", host)})
	}
	return r
}

// judge has the policies judge a connection, and the request on it.
func (j *Judge) judge(ctx context.Context, r *Reached, to Destination, of bailiff.Connection) {
	foreseer := egress.Foreseer{Judge: j.policies, Floor: reach.NewFloor(j.egress.Own, reach.MachineAddresses), Hosts: j.egress.Hosts}
	c, judged := foreseer.Tunnel(ctx, to.To, of)
	r.Protocol, r.Intercepted = c.Protocol, c.Intercepted
	if to.Request != nil && judged.Outcome != bailiff.Deny && c.Intercepted {
		c, judged = foreseer.Request(ctx, to.To, c, to.Request)
	}
	scrub := redact.NewScrubber(j.variables).Scrub
	r.Outcome, r.Revision = judged.Outcome, judged.Revision
	r.Explanation = j.policies.ExplainConnection(ctx, c, judged, scrub)
	x := Explained{Explanation: r.Explanation}
	if judged.Approval != nil {
		r.Reasons = x.reasons("asked", judged.Approval.Reasons, scrub)
	} else if len(judged.Denials) > 0 {
		r.Reasons = x.reasons("denied", judged.Denials, scrub)
	}
	r.Explanation = x.Explanation
}
