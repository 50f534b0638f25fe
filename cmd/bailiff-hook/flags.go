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

	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// whoUsage are the flags of [program.registerWho] but for the variables.
const whoUsage = `  --listen ADDRESS   where the sidecar takes requests, unix:///path or
                     tcp://host:port (default: where it listens unconfigured)
  --token-file FILE  the token of that address
  --platform NAME    the platform that the policies judge it as (default: cli)
  --user ID          the user's id (default: the number of the own user)
`

const usage = `Usage: bailiff-hook %s [flags]

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
` + whoUsage + `  --env NAME         a variable that commands ask for; may be repeated
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

"bailiff-hook mcp --help" tells of something else: MCP servers behind the sidecar.

Exit status: 0 with an answer on standard output, or none if bailiff has no say;
2 if the tool must not run, with the reason on standard error as well.

Examples. Keep what stands around the name of the client wherever you set the
hook: a client runs the tool where this program is missing, was killed or hangs.
`

// help is the usage, with an example of each client.
func help() string {
	names := slices.Sorted(maps.Keys(dialects.All))
	text := fmt.Sprintf(usage, strings.Join(names, "|"))
	for _, name := range names {
		text += "\n" + dialects.All[name].Example()
	}
	return text
}

// isHelp says whether the help is all that is wanted, of the program or of one client.
func isHelp(args []string) bool {
	if len(args) == 2 && dialects.All[args[0]] != nil {
		args = args[1:]
	}
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help")
}

// program is this one as it was started, for the client of that name.
type program struct {
	name              string
	client            dialects.Dialect
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
func parse(args []string) (program, error) {
	if len(args) == 0 {
		return program{}, errors.New(`want the name of a client, as in "bailiff-hook claude-code"; see "bailiff-hook --help"`)
	}
	p := program{name: args[0]}
	flags := flag.NewFlagSet("bailiff-hook", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	p.register(flags)
	err := flags.Parse(args[1:])
	if p.client = dialects.All[p.name]; p.client == nil {
		names := strings.Join(slices.Sorted(maps.Keys(dialects.All)), ", ")
		return program{}, fmt.Errorf("no client is called %q; there are %s", p.name, names)
	}
	switch {
	case err != nil:
		return p, fmt.Errorf(`reading the flags: %w; see "bailiff-hook --help"`, named(err, flags))
	case flags.NArg() > 0:
		return p, fmt.Errorf(`reading the flags: %q is none; see "bailiff-hook --help"`, flags.Arg(0))
	}
	return p, p.check()
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

// registerWho registers where the sidecar is and for whom it is asked.
func (p *program) registerWho(flags *flag.FlagSet) {
	flags.StringVar(&p.listen, "listen", "unix://"+defaultpath.Socket(defaultpath.AgentSocket), "")
	flags.StringVar(&p.tokenFile, "token-file", "", "")
	flags.StringVar(&p.platform, "platform", "cli", "")
	flags.StringVar(&p.user, "user", strconv.Itoa(os.Getuid()), "")
	flags.Var(&p.env, "env", "")
}

func (p *program) register(flags *flag.FlagSet) {
	p.registerWho(flags)
	p.timeout = 10 * time.Second
	flags.Func("timeout", "", func(text string) (err error) {
		if p.timeout, err = time.ParseDuration(text); err != nil || p.timeout <= 0 {
			return errors.New("want a time such as 5s")
		}
		if p.timeout >= longestTimeout {
			return fmt.Errorf("want less than %v: a client runs the tool where the hook outlives the client's own limit of a minute",
				longestTimeout)
		}
		return nil
	})
	flags.StringVar(&p.bailiff, "bailiff", "", "")
	flags.BoolVar(&p.onHost, "on-host", false, "")
	flags.BoolVar(&p.headless, "headless", false, "")
	flags.Var(&p.pass, "pass", "")
	flags.BoolVar(&p.passMCP, "pass-bailiff-mcp", false, "")
}

// check completes the flags and finds what is wrong with them.
func (p *program) check() error {
	for _, pattern := range p.pass {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("reading --pass %q: %w", pattern, err)
		}
	}
	if p.bailiff == "" {
		own, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding bailiff: %w", err)
		}
		p.bailiff = filepath.Join(filepath.Dir(own), "bailiff")
	}
	if !filepath.IsAbs(p.bailiff) {
		return fmt.Errorf("reading --bailiff: want an absolute path, is %q", p.bailiff)
	}
	return nil
}
