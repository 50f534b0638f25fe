package enforcer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/kernel"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/toolbox"
)

// RegisterTools replaces the tools of the agent's own that scripts of a session may
// call, as far as the policies let them. They are forgotten with the session, or
// after a day.
func (e *Enforcer) RegisterTools(caller, session string, names []string) error {
	return e.tools.Register(lease.Key{Caller: caller, Session: session}, names)
}

// AnswerTool ends a call of a tool: with a result, the text of a JSON value, or
// with what went wrong in words. It is an error if no such call of the caller waits.
func (e *Enforcer) AnswerTool(caller, id, result string, isError bool) error {
	return e.tools.Answer(caller, id, result, isError)
}

// handOver has the client that sent a request run its tool: an agent one of its own that a
// script called, or what speaks with an MCP server one of that.
func (e *Enforcer) handOver(ctx context.Context, g grant) answer {
	if g.script != nil {
		if err := g.script.MayStart(ctx); err != nil {
			return failure(bailiff.Unavailable, bailiff.CodeHome, err)
		}
	}
	if g.located.Tool == bailiff.MCP {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout(g.located.Args.Timeout, g.Decision.Limits.TimeoutSeconds))
		defer cancel()
	}
	return answer{Answer: e.tools.Run(ctx, g.located, g.news), started: true}
}

// calls turns the tools that a running script calls into requests of their own.
type calls struct {
	*Enforcer
	script grant
	// offered are the tools that the script may call.
	offered []string
	tell    func(bailiff.Progress)
}

func (e *Enforcer) callsOf(script grant) *calls {
	c := &calls{Enforcer: e, script: script, tell: toolbox.Serial(script.news)}
	for _, name := range script.Decision.Tools {
		if c.refusal(name) == "" {
			c.offered = append(c.offered, name)
		}
	}
	return c
}

// refusal says why the script may not call a tool; empty if it may.
func (c *calls) refusal(name string) string {
	req := c.script.located
	switch {
	case len(c.script.env) > 0:
		return "a script that gets variables may call no tools"
	case !slices.Contains(c.script.Decision.Tools, name):
		return fmt.Sprintf("the policies do not let scripts of this session call %q", name)
	case name == string(bailiff.Terminal):
		return ""
	case !c.tools.Offers(lease.KeyOf(req), name):
		return fmt.Sprintf("the agent has registered no tool %q for this session", name)
	case !c.script.streams:
		return fmt.Sprintf("nobody listens for calls of %q: the agent must send the script with a stream", name)
	}
	return ""
}

// answer takes one call to its end.
func (c *calls) answer(ctx context.Context, call kernel.Call) kernel.Result {
	if !slices.Contains(c.offered, call.Tool) {
		return fault(c.refusal(call.Tool))
	}
	args, err := argumentsOf(call)
	if err != nil {
		return fault(err.Error())
	}
	req := c.script.located
	req.ID, req.Env, req.Args, req.Tool, req.Within = "", nil, args, bailiff.Call, true
	if args.Name == "" {
		req.Tool = bailiff.Terminal
	}
	return resultOf(req.Tool, c.carry(ctx, req))
}

// carry executes a call's request within the script's.
func (c *calls) carry(ctx context.Context, req bailiff.Request) bailiff.Answer {
	return c.runGuarded(ctx, req, func(ctx context.Context) answer {
		if err := c.admit(req); err != nil {
			return failure(bailiff.Unavailable, bailiff.CodeRateLimited, err)
		}
		return c.execute(ctx, req, c.pass, c.script.held, answers.AtOnce)
	})
}

// pass hands on what the script's caller must hear of a call.
func (c *calls) pass(p bailiff.Progress) {
	if p.Approval != nil || p.ToolCall != nil {
		c.tell(p)
	}
}

// argumentsOf reads what a call is called with. Arguments of a tool of the agent's
// own are spelt anew, so that every reader takes them alike.
func argumentsOf(call kernel.Call) (bailiff.Args, error) {
	if call.Tool == string(bailiff.Terminal) {
		return commandOf(call.Arguments)
	}
	var object map[string]any
	if err := strictly(call.Arguments, &object); err != nil || object == nil {
		return bailiff.Args{}, errors.New("the arguments are no JSON object")
	}
	text, err := json.Marshal(object)
	return bailiff.Args{Name: call.Tool, Arguments: string(text)}, err
}

func commandOf(arguments json.RawMessage) (bailiff.Args, error) {
	var a struct {
		Command string  `json:"command"`
		Workdir string  `json:"workdir"`
		Timeout float64 `json:"timeout"`
	}
	err := strictly(arguments, &a)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return bailiff.Args{}, fmt.Errorf("want text as command and as workdir and a number as timeout, but %s is a %s", mistyped.Field,
			mistyped.Value)
	case err != nil:
		return bailiff.Args{}, fmt.Errorf("reading the arguments: %w", err)
	case a.Command == "" || strings.ContainsRune(a.Command+a.Workdir, 0):
		return bailiff.Args{}, errors.New("want a command, without NUL bytes")
	case a.Workdir != "" && !path.IsAbs(a.Workdir):
		return bailiff.Args{}, fmt.Errorf("want an absolute path as workdir, is %q", bailiff.Beginning(a.Workdir, 40))
	case len(a.Workdir) > bailiff.MaxWorkdir:
		return bailiff.Args{}, fmt.Errorf("want a workdir of at most %d bytes", bailiff.MaxWorkdir)
	case a.Timeout < 0 || a.Timeout > maxTimeout:
		return bailiff.Args{}, fmt.Errorf("want a timeout of 0 to %d seconds", maxTimeout)
	}
	return bailiff.Args{Command: a.Command, Workdir: a.Workdir, Timeout: int(math.Ceil(a.Timeout))}, nil
}

// maxTimeout is the longest that can be asked for, in seconds.
const maxTimeout = 24 * 60 * 60

// strictly reads one JSON value that holds nothing unknown.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	return decoder.Decode(into)
}

func fault(text string) kernel.Result { return kernel.Result{Fault: text} }

// resultOf words an answer for the script.
func resultOf(tool bailiff.Tool, a bailiff.Answer) kernel.Result {
	if tool == bailiff.Terminal {
		return kernel.Result{Value: commandResult(a)}
	}
	if a.Status == bailiff.Completed && a.ExitCode == 0 {
		return kernel.Result{Value: a.Output}
	}
	if len(a.Output) > 0 {
		return fault(string(a.Output))
	}
	return fault(a.Message)
}

func commandResult(a bailiff.Answer) json.RawMessage {
	result := map[string]any{"output": string(a.Output), "exit_code": a.ExitCode, "status": a.Status, "message": a.Message}
	if !utf8.Valid(a.Output) {
		result["output_base64"] = base64.StdEncoding.EncodeToString(a.Output)
	}
	text, err := json.Marshal(result)
	if err != nil {
		panic(err) // text and numbers only: cannot fail
	}
	return text
}
