package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/egress"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
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
	Revision    string           `json:"revision"`
	pdp.ConnectionExplained
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
		Reasons: []bailiff.Reason{}, Revision: d.Revision, ConnectionExplained: withoutTrace(j.policies.Rows(host))}
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
	r.ConnectionExplained = j.policies.ExplainConnection(ctx, c, judged, scrub)
	r.reason(judged, scrub)
}

// reason takes over the reasons of a judgement, without secrets.
func (r *Reached) reason(judged bailiff.ConnectionJudgement, scrub func([]byte) []byte) {
	x := Explained{Explanation: r.Explanation}
	if judged.Approval != nil {
		r.Reasons = x.reasons("asked", judged.Approval.Reasons, scrub)
	} else if len(judged.Denials) > 0 {
		r.Reasons = x.reasons("denied", judged.Denials, scrub)
	}
	r.Explanation = x.Explanation
}

func withoutTrace(rows []pdp.Row) pdp.ConnectionExplained {
	return pdp.ConnectionExplained{Rows: rows, Lists: []pdp.Place{}, Explanation: explain.New()}
}

// LoggedConnection is a connection of the decision log, and what the policies say of it now.
type LoggedConnection struct {
	ID      string    `json:"decision_id"`
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	// Logged is what became of it then, Judged what the policies said of it and by which
	// revision, where they were asked.
	Logged         api.Connection   `json:"logged"`
	Judged         *bailiff.Outcome `json:"judged,omitempty"`
	JudgedRevision string           `json:"judged_revision,omitempty"`
	// Now is what the policies say of it now; nil where they were not asked then.
	Now *Reached `json:"now,omitempty"`
	// Fault is why Now is missing, although they were.
	Fault string `json:"fault,omitempty"`
}

// ExplainLogged explains a connection of the decision log by the policies of the configuration.
func (j *Judge) ExplainLogged(ctx context.Context, l api.Line) LoggedConnection {
	p := LoggedConnection{ID: l.DecisionID, Time: l.Timestamp, Session: l.Custom.Session, Logged: *l.Custom.Connection}
	if l.Path != api.ConnectionPath {
		return p
	}
	var said struct{ Outcome *bailiff.Outcome }
	_ = api.ReadWhatFits(l.Result, &said) // a mask may have taken it
	p.Judged, p.JudgedRevision = said.Outcome, l.Bundles["policies"].Revision
	scrub := redact.NewScrubber(j.variables).Scrub
	judged, explained, err := j.policies.ExplainLogged(ctx, l.Input, scrub)
	if err != nil {
		p.Fault = err.Error()
		return p
	}
	var asked loggedConnection
	if err := json.Unmarshal(l.Input, &asked); err != nil {
		p.Fault = err.Error()
		return p
	}
	c := asked.Connection
	p.Now = &Reached{Host: c.Host, Port: c.Port, Method: c.Method, Path: c.Path, Backend: asked.Backend.Name, Network: backends.Egress,
		Egress: asked.Request.Egress, Protocol: c.Protocol, Intercepted: c.Intercepted, Outcome: judged.Outcome,
		Reasons: []bailiff.Reason{}, Revision: judged.Revision, ConnectionExplained: explained}
	p.Now.reason(judged, scrub)
	return p
}

// loggedConnection is the input document about a connection, as far as it is shown.
type loggedConnection struct {
	Backend struct {
		Name string `json:"name"`
	} `json:"backend"`
	Request struct {
		Egress []string `json:"egress"`
	} `json:"request"`
	Connection struct {
		Protocol    string `json:"protocol"`
		Host        string `json:"host"`
		Port        int    `json:"port"`
		Method      string `json:"method"`
		Path        string `json:"path"`
		Intercepted bool   `json:"intercepted"`
	} `json:"connection"`
}
