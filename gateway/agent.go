package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Enforcer judges requests and runs what may run. News, which may be nil, is
// never called concurrently, nor after Execute has returned.
type Enforcer interface {
	Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer
	Decide(ctx context.Context, req bailiff.Request) bailiff.Decided
	// Preview judges what the client has executed then, if it may be.
	Preview(ctx context.Context, req bailiff.Request) bailiff.Decided
	// Refuse records a denial of what is no request that could be judged.
	Refuse(ctx context.Context, caller string, because bailiff.Reason) bailiff.Decided
	EndSession(ctx context.Context, caller, session string) (bailiff.Ended, error)
}

// Evaluator answers with other documents of the policies than the decision.
type Evaluator interface {
	Query(ctx context.Context, req bailiff.Request, at bailiff.Circumstances, path string) (result any, defined bool, err error)
	// Read answers with a document about an input, as JSON, that is no request.
	Read(ctx context.Context, input []byte, path string) (result any, defined bool, err error)
}

// AgentConfig is what an agent's listener serves. Name, Enforcer, Tools and one of
// Platforms and Messaging are required, Evaluator and Circumstances too if DataPaths
// lists more than the decision.
type AgentConfig struct {
	// Name is the caller of all requests that come by this listener.
	Name string
	// Platforms are those that requests may claim: empty means every messaging
	// platform, "*" all.
	Platforms []string
	// Messaging are the messaging platforms.
	Messaging []string
	// DataPaths are what OPA's Data API serves, such as "bailiff/decision".
	DataPaths []string
	// Console is the address of the operators' web page, empty if there is none.
	Console   string
	Enforcer  Enforcer
	Tools     Toolbox
	Evaluator Evaluator
	// Circumstances are those of a request for the Evaluator, and the request in the folder
	// where it would run.
	Circumstances func(context.Context, bailiff.Request) (bailiff.Request, bailiff.Circumstances)
	// Trusts says whether a person said yes to an MCP server with a tool of that name; nil means
	// to none.
	Trusts func(server, tool string) bool
	// Connects decides on a request that its client carries out itself by reaching one address; nil means
	// that no client does.
	Connects func(context.Context, bailiff.Request, *url.URL) bailiff.Decided
	// Tracer follows requests; nil means that there are no traces.
	Tracer Tracer
	// keepAlive is how often a stream says that it lives.
	keepAlive time.Duration
}

// Agent is the agent API, and the same for requests that come in by its listener in
// another protocol.
type Agent struct {
	http.Handler
	agent *agent
}

// NewAgent returns the agent API, or names everything that the config lacks.
func NewAgent(c AgentConfig) (*Agent, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	if c.keepAlive == 0 {
		c.keepAlive = keepAlive
	}
	a := &agent{config: c, line: newLineage()}
	rs := newRoutes()
	rs.on(http.MethodPost, "/v1/execute", a.execute)
	rs.answer(http.MethodPost, "/v1/decide", a.decide)
	rs.answer(http.MethodDelete, "/v1/sessions/{id}", a.endSession)
	rs.answer(http.MethodPost, "/v1/sessions/{id}/tools", a.registerTools)
	rs.answer(http.MethodPost, "/v1/tool_calls/{id}", a.answerTool)
	// As OPA's probes ask.
	rs.answer(http.MethodGet, "/health", func(*http.Request) (any, *api.Problem) { return struct{}{}, nil })
	rs.on(http.MethodPost, "/v1/data", a.dataV1) // or else it would be redirected
	rs.on(http.MethodPost, "/v1/data/{path...}", a.dataV1)
	rs.on(http.MethodPost, "/v0/data/{path...}", a.dataV0)
	rs.elsewhere("Listener "+c.Name+" has no mcp: section in bailiff.yaml.", "/mcp")
	return &Agent{a.withTrace(rs), a}, nil
}

// News is told of a request while it waits or runs; each function may be nil.
type News struct {
	// Approval is told when people are asked, and of their answer.
	Approval func(api.Approval)
	// Step is told what is being done that takes long.
	Step func(string)
	// Output is told what the command prints, as it is printed.
	Output func([]byte)
}

// Execute does with a request what POST /v1/execute does, except for reading it:
// the caller has set its Peer, see [CredentialOf]. An error is a [*Problem].
func (a *Agent) Execute(ctx context.Context, req bailiff.Request, news News) (api.Answer, error) {
	if faults := check(&req); len(faults) > 0 {
		return api.Answer{}, refusalProblem(codeRequest, faults)
	}
	req, p := a.agent.claim(req)
	if p != nil {
		return api.Answer{}, p
	}
	if parent := TraceparentOf(ctx); parent != "" && a.agent.config.Tracer != nil {
		ctx = a.agent.config.Tracer.Continue(ctx, parent)
	}
	answer := a.agent.config.Enforcer.Execute(ctx, req, func(p bailiff.Progress) {
		switch {
		case p.Approval != nil && news.Approval != nil:
			news.Approval(*toldApproval(p.Approval, a.agent.config.Console))
		case p.Step != "" && news.Step != nil:
			news.Step(p.Step)
		case len(p.Output) > 0 && news.Output != nil:
			news.Output(p.Output)
		}
	})
	if answer.Code == bailiff.CodeConflict {
		return api.Answer{}, conflict(answer)
	}
	return wireAnswer(answer, a.agent.config.Console), nil
}

// EndSession does what DELETE /v1/sessions/{id} does.
func (a *Agent) EndSession(ctx context.Context, session string) (bailiff.Ended, error) {
	return a.agent.config.Enforcer.EndSession(ctx, a.agent.config.Name, session)
}

func (c AgentConfig) missing() error {
	more := slices.ContainsFunc(c.DataPaths, func(path string) bool { return path != api.DecisionPath })
	return required.Fields("agent", map[string]bool{
		"Name": c.Name == "", "Platforms or Messaging": len(c.Messaging) == 0 && len(c.Platforms) == 0,
		"Enforcer": c.Enforcer == nil, "Tools": c.Tools == nil,
		"Evaluator": more && c.Evaluator == nil, "Circumstances": more && c.Circumstances == nil,
	})
}

// agent serves one agent's listener.
type agent struct {
	config AgentConfig
	line   lineage
}

func (a *agent) execute(w http.ResponseWriter, r *http.Request) {
	req, p := a.read(r)
	defer blame(req)
	switch {
	case p != nil:
		refuse(w, p)
	case a.refuseMCP(req) != nil:
		refuse(w, a.refuseMCP(req))
	case wantsStream(r):
		a.stream(w, r, req)
	default:
		answer(func(r *http.Request) (any, *api.Problem) {
			return reply(a.config.Enforcer.Execute(r.Context(), req, nil), a.config.Console)
		}).ServeHTTP(w, r)
	}
}

// reply answers plainly; the one answer that is not 200 is to a request id that
// stands for another request.
func reply(answer bailiff.Answer, console string) (any, *api.Problem) {
	if answer.Code == bailiff.CodeConflict {
		return nil, conflict(answer)
	}
	return wireAnswer(answer, console), nil
}

func conflict(answer bailiff.Answer) *api.Problem {
	return problem(http.StatusConflict, answer.Code, answer.Message)
}

// inode is a folder by its device and inode.
var inode = regexp.MustCompile(`^[0-9]{1,20}:[0-9]{1,20}$`)

func (a *agent) decide(r *http.Request) (any, *api.Problem) {
	req, p := a.read(r)
	if p != nil {
		return nil, p
	}
	defer blame(req)
	if req.Folder = r.URL.Query().Get("folder"); req.Folder != "" && !inode.MatchString(req.Folder) {
		return nil, problem(http.StatusBadRequest, codeRequest,
			fmt.Sprintf("folder is %q; want a device and an inode, as in 64769:12.", cut(req.Folder)))
	}
	if a.config.Trusts != nil && req.Tool == bailiff.MCP {
		req.Args.Trusted = a.config.Trusts(req.Args.Server, req.Args.Name)
	}
	if to := r.URL.Query().Get("connects"); to != "" {
		return a.decideConnection(r.Context(), req, to)
	}
	judge := a.config.Enforcer.Decide
	switch then := r.URL.Query().Get("then"); then {
	case "":
	case "execute":
		judge = a.config.Enforcer.Preview
	default:
		return nil, problem(http.StatusBadRequest, codeRequest,
			fmt.Sprintf("then is %q; the one value that it may have is execute.", cut(then)))
	}
	return decidedAs(judge(r.Context(), req)), nil
}

func decidedAs(d bailiff.Decided) api.Decided {
	return api.Decided{DecisionID: d.ID, Decision: d.Decision.ForSender(), UnreadFiles: d.Unread, Projects: d.Projects}
}

// decideConnection answers about a request that its client carries out itself, by reaching an address.
func (a *agent) decideConnection(ctx context.Context, req bailiff.Request, to string) (any, *api.Problem) {
	address, err := url.Parse(to)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" || a.config.Connects == nil {
		return nil, problem(http.StatusBadRequest, codeRequest,
			fmt.Sprintf("connects is %q; want an address, as in https://example.com/, on a listener of agents.", cut(to)))
	}
	answer := decidedAs(a.config.Connects(ctx, req, address))
	answer.Connects = true
	return answer, nil
}

func (a *agent) endSession(r *http.Request) (any, *api.Problem) {
	ended, err := a.config.Enforcer.EndSession(r.Context(), a.config.Name, r.PathValue("id"))
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "internal", "Ending the session failed: "+err.Error()+".")
	}
	return api.SessionEnded{Removed: ended.Sandboxes, Processes: ended.Processes, Unremoved: ended.Unremoved}, nil
}

// read reads a request that this listener may speak for.
func (a *agent) read(r *http.Request) (bailiff.Request, *api.Problem) {
	buf := buffers.Get().(*bytes.Buffer)
	defer release(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return bailiff.Request{}, unread(err)
	}
	req, p := parse(buf.Bytes())
	if p != nil {
		return req, p
	}
	req.Peer = CredentialOf(r)
	return a.claim(req)
}

// claim makes a request this listener's, if its platform is.
func (a *agent) claim(req bailiff.Request) (bailiff.Request, *api.Problem) {
	if !a.mayClaim(req.Session.Platform) {
		return req, problem(http.StatusForbidden, "platform_not_allowed",
			fmt.Sprintf("Listener %q may not speak for platform %q; its configuration names those that it may.", a.config.Name,
				cut(req.Session.Platform)))
	}
	if faults := a.line.faults(req.Session); len(faults) > 0 {
		return req, refusalProblem(codeRequest, faults)
	}
	req.Caller = a.config.Name
	return req, nil
}

func (a *agent) mayClaim(platform string) bool {
	if len(a.config.Platforms) == 0 {
		return platform != "cli" && slices.Contains(a.config.Messaging, platform)
	}
	return slices.Contains(a.config.Platforms, platform) || slices.Contains(a.config.Platforms, "*")
}
