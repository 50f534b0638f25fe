package enforcer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// The rules of the floor, as they stand in denials and withheld variables.
const (
	ruleBackend      = "floor.backend"
	ruleUnisolated   = "floor.unisolated"
	ruleRuntime      = "floor.runtime"
	ruleVariable     = "floor.variable"
	ruleNotRequested = "floor.not_requested"
	ruleWithheld     = "floor.withheld"
	ruleNoWay        = "floor.no_egress"
	ruleSnapshot     = "floor.snapshot"
	ruleUntrusted    = "floor.mcp_untrusted"
	ruleUnnoted      = "floor.project_unnoted"
	ruleBudget       = "floor.budget"
)

// instead says of each rule here that denies what would be allowed.
var instead = map[string]string{
	bailiff.RuleFrozen:     "Wait until requests are no longer frozen.",
	ruleBackend:            "Leave the backend to the policies, or have the security team choose one that is configured.",
	ruleUnisolated:         "Leave the backend to the policies: they choose one that isolates.",
	ruleRuntime:            "Have the security team choose a runtime that the backend's runtimes_allowed names, or none.",
	ruleSnapshot:           "Send it to be run by bailiff, or have the security team order a snapshot only where there can be one.",
	ruleUntrusted:          `Have an operator look at it and say yes: "bailiff mcp trust NAME".`,
	ruleUnnoted:            "Send it again once the state folder can be written.",
	ruleBudget:             "Send it again once something of the budget is left, and the state folder can be written.",
	ruleVariable:           "Have the security team take that variable out of env.set.",
	bailiff.RuleProcess:    "End the process and start it anew, or run this as a command of its own.",
	bailiff.RuleVoid:       "Send it again to ask anew.",
	bailiff.RuleBreakGlass: "Have the security team say where and how it could run.",
	bailiff.RuleUnwritable: "Send it again once the decision log can be written.",
}

// floor lays what no policy can lift under a decision: the session is not frozen, the backend exists and may use the
// runtime, the host itself never serves a chat, variables that would take over a program or
// hold the owner's provider keys never enter, and input reaches only a process that
// lives where the input was judged to go. It only ever makes a decision
// stricter. (Mounts are the backends' part of the floor.)
func (e *Enforcer) floor(req bailiff.Request, d bailiff.Decision) bailiff.Decision {
	if d.Outcome == bailiff.Deny {
		return d
	}
	if reason, frozen := e.config.Freezer.Frozen(req.Session); frozen {
		return deny(d, bailiff.RuleFrozen, reason)
	}
	if e.config.Backends[d.Backend.Name] == nil {
		return deny(d, ruleBackend, fmt.Sprintf("The policies chose backend %q, which is not configured.", d.Backend.Name))
	}
	if d = e.withRuntime(d); d.Outcome == bailiff.Deny {
		return d
	}
	if d = (Floor{e.config.Credentials}).Under(req, d); d.Outcome == bailiff.Deny {
		return d
	}
	if p := e.processes.Find(req); p != nil {
		if mismatch := p.Mismatch(req, d); mismatch != "" {
			return deny(d, bailiff.RuleProcess, mismatch)
		}
	}
	return d
}

// withRuntime names the runtime by which a decision's sandbox is made, so that it is what is approved and recorded.
func (e *Enforcer) withRuntime(d bailiff.Decision) bailiff.Decision {
	at := &d.Backend
	chooser, ok := e.config.Backends[at.Name].(backends.Chooser)
	if !ok {
		if at.Runtime != "" {
			return deny(d, ruleRuntime, fmt.Sprintf("The policies chose runtime %q, and backend %s has none to choose from.", at.Runtime,
				at.Name))
		}
		return d
	}
	runtime, err := chooser.Runtime(at.Runtime)
	if err != nil {
		return deny(d, ruleRuntime, fmt.Sprintf("The policies chose runtime %q, which the configuration of backend %s does not allow.",
			at.Runtime, at.Name))
	}
	at.Runtime = runtime
	return d
}

// Floor is what no policy can lift and the request alone tells, whatever the sidecar
// has and runs.
type Floor struct {
	// Credentials are the variables from which the backends have theirs; they never
	// enter a sandbox.
	Credentials []string
}

// Under is a decision with the floor laid under it.
func (f Floor) Under(req bailiff.Request, d bailiff.Decision) bailiff.Decision {
	if d.Outcome == bailiff.Deny {
		return d
	}
	if req.Tool == bailiff.MCP && !req.Args.Trusted {
		return deny(d, ruleUntrusted, fmt.Sprintf("No person has said yes to what the MCP server %q is and offers now.", req.Args.Server))
	}
	if d.Backend.Name == "local" && req.Session.Platform != "cli" {
		return deny(d, ruleUnisolated, "A chat session never runs on the host itself.")
	}
	for name := range d.Env.Set {
		if f.forbidden(name) {
			return deny(d, ruleVariable, fmt.Sprintf("The policies set %s, which no policy may.", name))
		}
	}
	d.Env = f.envTerms(d, req.Env)
	return d
}

func deny(d bailiff.Decision, rule, message string) bailiff.Decision {
	d.Outcome, d.Approval, d.Budgets = bailiff.Deny, nil, nil
	d.Denials = append(slices.Clip(d.Denials), bailiff.Reason{Rule: rule, Message: message, Instead: instead[rule]})
	return d
}

// envTerms moves every forwarded variable that must not enter to the withheld ones.
func (f Floor) envTerms(d bailiff.Decision, requested []string) bailiff.EnvTerms {
	terms := d.Env
	forward := make([]string, 0, len(terms.Forward))
	for _, name := range terms.Forward {
		switch {
		case !slices.Contains(requested, name):
			terms.Withheld = withhold(terms.Withheld, name, ruleNotRequested)
		case f.forbidden(name) && !f.maySwap(terms, name):
			terms.Withheld = withhold(terms.Withheld, name, ruleVariable)
		case d.Backend.Network != backends.Egress && isSwapped(terms, name):
			terms.Withheld = withhold(terms.Withheld, name, ruleNoWay)
		case isWithheld(terms.Withheld, name):
			terms.Withheld = withhold(terms.Withheld, name, ruleWithheld)
		case !slices.Contains(forward, name):
			forward = append(forward, name)
		}
	}
	terms.Forward = forward
	terms.Swap = slices.DeleteFunc(slices.Clone(terms.Swap), func(s bailiff.Swap) bool { return !slices.Contains(forward, s.Name) })
	return terms
}

func isSwapped(terms bailiff.EnvTerms, name string) bool {
	return slices.ContainsFunc(terms.Swap, func(s bailiff.Swap) bool { return s.Name == name && len(s.Hosts) > 0 })
}

// maySwap says whether a variable that may never enter may do so as a stand-in: a provider's
// key for models, unless the sidecar has its own credentials from it.
func (f Floor) maySwap(terms bailiff.EnvTerms, name string) bool {
	return providerKeys[name] && isSwapped(terms, name) && !f.isCredential(name)
}

func isWithheld(list []bailiff.Withheld, name string) bool {
	return slices.ContainsFunc(list, func(w bailiff.Withheld) bool { return w.Name == name })
}

func withhold(list []bailiff.Withheld, name, rule string) []bailiff.Withheld {
	if isWithheld(list, name) {
		return list
	}
	return append(slices.Clip(list), bailiff.Withheld{Name: name, Rule: rule})
}

// forbidden says whether a variable may never enter: those of the lists below, and
// those from which the sidecar has its own credentials.
func (f Floor) forbidden(name string) bool {
	return forbidden(name) || f.isCredential(name)
}

func (f Floor) isCredential(name string) bool {
	return slices.ContainsFunc(f.Credentials, func(credential string) bool { return strings.EqualFold(credential, name) })
}

// forbidden says whether a variable would let its value take over a loader, a
// shell or an interpreter, or is a key of the agent's or the sidecar's own.
func forbidden(name string) bool {
	name = strings.ToUpper(name)
	if forbiddenNames[name] || providerKeys[name] {
		return true
	}
	return slices.ContainsFunc(forbiddenPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

var forbiddenPrefixes = []string{
	"LD_", "DYLD_", "PYTHON", "BASH_", "GIT_", "GCONV_", "MALLOC_", "GLIBC_", "BAILIFF_", "HERMES_", "APPTAINER", "SINGULARITY",
	"OPENAI_", "ANTHROPIC_", "OPENROUTER_", "GEMINI_", "MISTRAL_", "DEEPSEEK_", "GROQ_", "XAI_",
	"TELEGRAM_", "DISCORD_", "SLACK_", "WHATSAPP_", "SIGNAL_", "MATRIX_",
}

var forbiddenNames = set(
	// Loaders, shells and interpreters.
	"PATH", "HOME", "SHELL", "IFS", "ENV", "CDPATH", "GLOBIGNORE", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS",
	"ZDOTDIR", "FPATH",
	"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS", "CLASSPATH", "LUA_INIT", "LOCPATH", "NLSPATH", "GETCONF_DIR", "TMPDIR",
	// Programs that others start, and where they connect.
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER", "SSH_ASKPASS", "SSH_AUTH_SOCK", "DOCKER_HOST",
	"DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_CONFIG", "KUBECONFIG",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HOSTALIASES", "RES_OPTIONS", "SSLKEYLOGFILE",
	// Keys of the agent's own, and of the sidecar's backends.
	"FIRECRAWL_API_KEY", "NOUS_API_KEY", "SUDO_PASSWORD", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET", "DAYTONA_API_KEY",
	"DAYTONA_JWT_TOKEN", "VERCEL_TOKEN", "VERCEL_OIDC_TOKEN",
)

// providerKeys are those of models' providers: they enter as stand-ins alone.
var providerKeys = set(
	"AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "COHERE_API_KEY", "DEEPSEEK_API_KEY", "ELEVENLABS_API_KEY",
	"FIREWORKS_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY", "HF_TOKEN",
	"HUGGINGFACE_API_KEY", "MISTRAL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "PERPLEXITY_API_KEY", "REPLICATE_API_TOKEN",
	"TOGETHER_API_KEY", "XAI_API_KEY",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}
