package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// ExamineAgent looks at what an agent's settings say, and starts what they have the agent start. The sidecar is asked where an agent
// examines itself.
func ExamineAgent(ctx context.Context, name string, e settings.Entry, sidecar agents.Sidecar) (all diagnosis.Checks, err error) {
	a, err := agents.Of(name)
	if err != nil {
		return nil, err
	}
	switch a := a.(type) {
	case agents.Examiner:
		return a.Examine(ctx, e, sidecar)
	case agents.HookCaller:
		hooks, err := a.Hooks(ctx, e)
		if err != nil {
			return nil, err
		}
		return ExamineHooks(ctx, name, a, hooks), nil
	}
	lacking, err := agents.Lacking(name, e)
	if err != nil {
		return nil, err
	}
	for _, path := range lacking {
		all.Fail("settings in "+path, "Not all of bailiff's entries are there.", "bailiff setup "+name+" --project DIR")
	}
	if len(lacking) == 0 {
		all.Fine("settings", "The entries of %s are there, as far as bailiff knows them.", name)
	}
	if a, has := a.(agents.ToolUser); has {
		server, err := a.Server(e)
		if err != nil {
			return nil, err
		}
		all = append(all, ExamineServer(ctx, server)...)
	}
	return all, nil
}

// hookPatience is how long one question to a hook may take.
const hookPatience = time.Minute

// ExamineHooks starts the hooks of an agent as the agent would, and sees that what must be
// denied is denied by them, and that nothing passes where they fail.
func ExamineHooks(ctx context.Context, agent string, a agents.HookCaller, hooks []settings.Hook) (all diagnosis.Checks) {
	inForce, reason := 0, ""
	if f, tells := a.(agents.FailureTeller); tells {
		all.Fine("a hook that fails", "%s", f.WhereItFails())
	}
	for _, h := range hooks {
		name := "hook in " + h.Path
		if h.Off != "" {
			all.Doubt(name, "The agent does not call it: "+h.Off+".",
				cmp.Or(h.Mend, "Take that away, or have root set the hook (bailiff setup --managed)."))
			continue
		}
		inForce++
		if why := examineHook(ctx, &all, name, a, h); why != "" {
			reason = why
		}
	}
	if a, can := a.(agents.Trier); can && reason != "" {
		all = append(all, a.Try(ctx, denied, reason)...)
	}
	if inForce == 0 {
		all.Fail("hook", "No hook is in force in the settings of "+agent+", so that it asks about nothing.",
			"bailiff setup "+agent+" --project DIR")
	}
	return all
}

// examineHook returns the reason that the hook gives where it denies as it must.
func examineHook(ctx context.Context, all *diagnosis.Checks, name string, a agents.HookCaller, h settings.Hook) (reason string) {
	if what, do := h.Fault(); what != "" {
		all.Fail(name, what, do)
		return ""
	}
	for _, c := range []struct{ command, want string }{{"echo " + mark, "allow"}, {denied, "deny"}} {
		got, said, err := ask(ctx, a, h.Line, c.command)
		if err != nil {
			said = err.Error()
		}
		reason = said
		if got != c.want {
			all.Fail(name, fmt.Sprintf("About %q it says %q, want %q: %s", c.command, got, c.want, reason),
				"Start the sidecar, and see that --listen is where it listens.")
			return ""
		}
	}
	all.Fine(name, "It is %s, answers, and denies what must be denied.", h.Lock)
	if h.Doubt != "" {
		all.Doubt(name, h.Doubt+".",
			"Put the agent's program into the path, or have root set the hook instead (bailiff setup --managed), which needs no trust.")
	}
	return reason
}

// ask asks a hook about a command, within its time.
func ask(ctx context.Context, a agents.HookCaller, line, command string) (decision, reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	return a.Ask(ctx, line, command)
}
