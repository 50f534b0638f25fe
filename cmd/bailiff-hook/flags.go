package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// guard stands behind a hook in a client's settings: whatever is no answer refuses.
const guard = `{ [ $? -eq 2 ] || echo 'bailiff-hook failed, so nothing runs' >&2; exit 2; }`

const help = `Usage: bailiff-hook claude-code|codex|hermes [flags]

Answers an agent's client whether a tool may run. It is not started by hand: the
client starts it before every tool call, writes the call to its standard input and
reads its answer.

A command of the agent's shell is asked of the sidecar and, if the policies let it,
turned into "bailiff exec", which runs it in its sandbox and waits for whoever must
approve it. What the client reads, writes or fetches by itself happens on this
machine; it is allowed where the policies allow the command that does the same, in
the sandbox for files of a folder that it shows at its own path and may write, else
on the backend local. Everything else is denied, and so is everything while something
fails: no sidecar, no answer in time, a wrong one, a tool that is not known.

Flags:
  --listen ADDRESS   where the sidecar takes requests, unix:///path or
                     tcp://host:port (default: where it listens unconfigured)
  --token-file FILE  the token of that address
  --platform NAME    the platform that the policies judge it as (default: cli)
  --user ID          the user's id (default: the number of the own user)
  --env NAME         a variable that commands ask for; may be repeated
  --timeout TIME     deny if there is no decision by then (default: 10s; less
                     than 50s). A client runs the tool of a hook that outlives
                     the client's own limit, which is 60 seconds below
  --bailiff PATH     the program that runs commands (default: bailiff, beside this
                     program)
  --on-host          let the client run commands itself, on this machine, if the
                     policies allow them on the backend local
  --headless         nobody sits at the client: it asks nobody, bailiff's own
                     approvers are asked all the same. "claude -p" is known
                     without it
  --pass PATTERN     tools that somebody else guards, such as 'mcp__github__*';
                     may be repeated
  --pass-bailiff-mcp tools called mcp__bailiff__* are those of "bailiff mcp",
                     which judges them itself; set it only where the client's
                     settings leave that name to no other server

Exit status: 0 with an answer on standard output, or none if bailiff has no say;
2 if the tool must not run, with the reason on standard error as well.

Examples. Keep what stands around the name of the client wherever you set the
hook: a client runs the tool where this program is missing, was killed or hangs.

Claude Code, /etc/claude-code/managed-settings.json or ~/.claude/settings.json:
  {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "timeout": 60,
  "command": "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook claude-code || ` + guard + `"}]}]}}

Codex, /etc/codex/requirements.toml:
  features.hooks = true
  hooks.managed_dir = "/usr/local/bin"
  [[hooks.PreToolUse]]
  matcher = "*"
  [[hooks.PreToolUse.hooks]]
  type = "command"
  timeout = 60
  command = "/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook codex || ` + guard + `"

Hermes, ~/.hermes/config.yaml:
  hooks_auto_accept: true
  hooks:
    pre_tool_call:
      - {command: "sh -c '/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook hermes ` +
	`--platform telegram || exit 2'", timeout: 60, fail_closed: true}
`

// isHelp says whether the help is all that is wanted, of the program or of one client.
func isHelp(args []string) bool {
	if len(args) == 2 && dialects[args[0]] != nil {
		args = args[1:]
	}
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help")
}

// hook is how this program was started.
type hook struct {
	client            dialect
	listen, tokenFile string
	platform, user    string
	// bailiff is the path of the program that runs commands.
	bailiff  string
	env      list
	pass     list
	passMCP  bool
	timeout  time.Duration
	onHost   bool
	headless bool
}

// longestTimeout leaves a hook the time to answer within the limit of the clients.
const longestTimeout = 50 * time.Second

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// parse reads the command line. Where only the flags are wrong the client is known,
// so that it can be told in its own words.
func parse(args []string) (hook, error) {
	if len(args) == 0 {
		return hook{}, errors.New(`want the name of a client, as in "bailiff-hook claude-code"; see "bailiff-hook --help"`)
	}
	var h hook
	flags := flag.NewFlagSet("bailiff-hook", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	h.register(flags)
	err := flags.Parse(args[1:])
	dialectOf, known := dialects[args[0]]
	if !known {
		return hook{}, fmt.Errorf("no client is called %q; there are %s", args[0], strings.Join(slices.Sorted(maps.Keys(dialects)), ", "))
	}
	h.client = dialectOf(h.headless)
	switch {
	case err != nil:
		return h, fmt.Errorf(`reading the flags: %w; see "bailiff-hook --help"`, named(err, flags))
	case flags.NArg() > 0:
		return h, fmt.Errorf(`reading the flags: %q is none; see "bailiff-hook --help"`, flags.Arg(0))
	}
	return h, h.check()
}

// named says of a flag that there is not which one was likely meant.
func named(err error, flags *flag.FlagSet) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var valid []string
	flags.VisitAll(func(f *flag.Flag) { valid = append(valid, "--"+f.Name) })
	return fmt.Errorf("--%s: %s", name, spelling.Unknown("flag", "--"+name, valid))
}

func (h *hook) register(flags *flag.FlagSet) {
	flags.StringVar(&h.listen, "listen", "unix://"+defaultpath.Socket(defaultpath.AgentSocket), "")
	flags.StringVar(&h.tokenFile, "token-file", "", "")
	flags.StringVar(&h.platform, "platform", "cli", "")
	flags.StringVar(&h.user, "user", strconv.Itoa(os.Getuid()), "")
	flags.Var(&h.env, "env", "")
	h.timeout = 10 * time.Second
	flags.Func("timeout", "", func(text string) (err error) {
		if h.timeout, err = time.ParseDuration(text); err != nil || h.timeout <= 0 {
			return errors.New("want a time such as 5s")
		}
		if h.timeout >= longestTimeout {
			return fmt.Errorf("want less than %v: a client runs the tool where the hook outlives the client's own limit of a minute",
				longestTimeout)
		}
		return nil
	})
	flags.StringVar(&h.bailiff, "bailiff", "", "")
	flags.BoolVar(&h.onHost, "on-host", false, "")
	flags.BoolVar(&h.headless, "headless", false, "")
	flags.Var(&h.pass, "pass", "")
	flags.BoolVar(&h.passMCP, "pass-bailiff-mcp", false, "")
}

// check completes the flags and finds what is wrong with them.
func (h *hook) check() error {
	for _, pattern := range h.pass {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("reading --pass %q: %w", pattern, err)
		}
	}
	if h.bailiff == "" {
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding bailiff: %w", err)
		}
		h.bailiff = filepath.Join(filepath.Dir(program), "bailiff")
	}
	if !filepath.IsAbs(h.bailiff) {
		return fmt.Errorf("reading --bailiff: want an absolute path, is %q", h.bailiff)
	}
	return nil
}
