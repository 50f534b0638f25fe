// Package doctor proves that a sidecar guards who asks it: it sends requests that must be
// allowed, denied, asked about or cut short, at each listener that it may ask at, and says of
// each what came of it and what would mend it.
//
// What is promised: it approves nothing and needs no operator's right. Each request is its own
// session's, which it ends, and would do no harm if it ran where it must not. With its session a
// question that it has people asked is taken back.
//
// What is not here: what an agent's settings say, and how it is started, which its own package knows.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// Doctor examines a sidecar.
type Doctor struct {
	// Config is the sidecar's configuration, as its file says it now.
	Config *config.Config
	// UID is the user who asks.
	UID int
	// Start is what starts the sidecar.
	Start string
}

// patience is how long all requests at one listener may take; an image may have to be brought.
const patience = 3 * time.Minute

// Examine asks at each listener.
func (d Doctor) Examine(ctx context.Context) (all diagnosis.Checks) {
	asked := 0
	for _, l := range d.Config.Agent.Listeners {
		if d.examineListener(ctx, &all, l) {
			asked++
		}
	}
	if asked == 0 {
		all.Fail("listeners", "This user can ask at none of them.", "Name uid "+fmt.Sprint(d.UID)+" in a listener's uids.")
	}
	d.examineLimits(&all)
	d.examineTokens(&all)
	return all
}

// Reach is nil where a sidecar answers at the first listener that may be asked, or where none may be, which [Doctor.Examine] tells.
func (d Doctor) Reach(ctx context.Context) error {
	for _, l := range d.Config.Agent.Listeners {
		token, err := config.ReadToken(l.TokenFile)
		if err != nil || !d.mayAsk(l) {
			continue
		}
		c, err := client.New(l.Listen.String(), token)
		if err == nil {
			_, err = c.Health(ctx)
		}
		return err
	}
	return nil
}

// mayAsk says whether a listener lets this user ask.
func (d Doctor) mayAsk(l config.Listener) bool {
	return len(l.UIDs) == 0 || slices.Contains(l.UIDs, uint32(d.UID)) //nolint:gosec // a uid fits
}

// door is one listener that is asked at.
type door struct {
	*client.Client
	name, session, platform, user string
}

// examineListener says whether the listener is one at which this user may ask.
func (d Doctor) examineListener(ctx context.Context, all *diagnosis.Checks, l config.Listener) bool {
	if !d.mayAsk(l) {
		return false
	}
	name := "listener " + l.Name
	token, err := config.ReadToken(l.TokenFile)
	if err != nil {
		all.Doubt(name, "It was not asked: "+sentence(err), "Run doctor as a user who may read the token.")
		return false
	}
	c, err := client.New(l.Listen.String(), token)
	if err != nil {
		all.Fail(name, sentence(err), "")
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := c.Health(ctx); err != nil {
		all.Fail(name, sentence(err), "Start the sidecar: "+d.Start)
		return true
	}
	all.Fine(name, "A sidecar answers at %s.", l.Listen)
	t := door{Client: c, name: l.Name, session: "doctor:" + fmt.Sprint(time.Now().UnixNano()),
		platform: platformOf(l),
		user:     fmt.Sprint(d.UID)}
	defer func() { _, _ = c.EndSession(context.WithoutCancel(ctx), t.session) }()
	t.examineDenied(ctx, all)
	t.examineAsked(ctx, all)
	if t.examineAllowed(ctx, all) {
		for _, examine := range []func(context.Context, *diagnosis.Checks){t.examineSecret, t.examineHost, t.examineTime, t.examineOutput} {
			examine(ctx, all)
		}
	}
	if l.MCP != nil {
		examineMCP(ctx, all, l, token)
	}
	return true
}

// platformOf is one for which a listener may speak.
func platformOf(l config.Listener) string {
	switch {
	case l.SpeaksFor("cli"):
		return "cli"
	case len(l.Platforms) > 0:
		return l.Platforms[0]
	}
	return "telegram"
}

func (t door) check(what string) string { return what + " at " + t.name }

func (t door) request(command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command},
		Session: bailiff.Session{ID: t.session, Platform: t.platform, ChatType: "dm", UserID: t.user}}
}

// run takes a command to its end. No person is waited for.
func (t door) run(ctx context.Context, req bailiff.Request) (api.Answer, error) {
	answer, err := t.Execute(ctx, req, client.News{})
	if err == nil && answer.Status == bailiff.Failed {
		err = errors.New(answer.Message)
	}
	return answer, err
}

func (t door) decide(ctx context.Context, req bailiff.Request) (bailiff.Decision, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return bailiff.Decision{}, err
	}
	decided, err := t.Decide(ctx, text)
	return decided.Decision, err
}

// mark is what an allowed command prints.
const mark = "bailiff-doctor"

// examineAllowed says whether commands run, which the checks after it need.
func (t door) examineAllowed(ctx context.Context, all *diagnosis.Checks) (runs bool) {
	name := t.check("allowed")
	answer, err := t.run(ctx, t.request("echo "+mark))
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "Look at bailiff status and bailiff audit tail.")
		return false
	case answer.Status != bailiff.Completed || answer.Output != mark+"\n":
		all.Fail(name, fmt.Sprintf("echo ended as %q. %s", answer.Status, answer.Message), "Look at bailiff status and bailiff check.")
	case answer.Backend == local:
		all.Doubt(name, "A command ran on this machine itself, in no sandbox (backend local).",
			"Configure bubblewrap or docker, which come first in the table platforms.")
	default:
		all.Fine(name, "A command ran in %s.", answer.Backend)
	}
	for _, m := range answer.Decision.Backend.Mounts {
		t.examineProject(ctx, all, m)
	}
	return answer.Status == bailiff.Completed
}

const local = "local"

// Commands that must be denied, or asked about. Were one run by mistake, it would do nothing.
const denied = "false && rm -rf --no-preserve-root /"

var asked = []string{"false && git reset --hard", "false && rm -r doctor", "false && git push --force", "false && crontab doctor"}

func (t door) examineDenied(ctx context.Context, all *diagnosis.Checks) {
	name := t.check("denied")
	answer, err := t.run(ctx, t.request(denied))
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status != bailiff.Refused:
		all.Fail(name, fmt.Sprintf("The policies do not deny %q: %s.", denied, answer.Status), "Look at your policies: bailiff test.")
	default:
		all.Fine(name, "A command that would destroy the machine is denied.")
	}
}

func (t door) examineAsked(ctx context.Context, all *diagnosis.Checks) {
	name := t.check("asked")
	for _, command := range asked {
		decision, err := t.decide(ctx, t.request(command))
		if err != nil {
			all.Fail(name, sentence(err), "")
			return
		}
		if decision.Outcome == bailiff.Ask {
			t.examineQuestion(ctx, all, name, command)
			return
		}
	}
	all.Fine(name, "The policies ask about none of these commands: %s.", strings.Join(asked, "; "))
}

// examineQuestion has people asked, and waits for no answer.
func (t door) examineQuestion(ctx context.Context, all *diagnosis.Checks, name, command string) {
	stop := make(chan struct{})
	var told api.Approval
	answer, err := t.Execute(ctx, t.request(command), client.News{Stop: stop, Approval: func(a api.Approval) {
		if told.ID == "" {
			told = a
			close(stop)
		}
	}})
	switch {
	case told.ID != "" && answer.Status != bailiff.Completed:
		all.Fine(name, "People are asked about %q (%s), %s. %s", command, told.ID, t.withdraw(ctx), told.Message)
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status == bailiff.Refused:
		all.Doubt(name, "What a person must approve is refused: "+answer.Message,
			"Give the agent a user of its own, or set operator.allow_same_user where one person uses this machine.")
	default:
		all.Fail(name, fmt.Sprintf("%q was not asked about: it ended as %q. %s", command, answer.Status, answer.Message), "")
	}
}

// withdraw takes the question back, as any asker does by the end of its session.
func (t door) withdraw(ctx context.Context) string {
	if _, err := t.EndSession(context.WithoutCancel(ctx), t.session); err != nil {
		return "and could not be taken back: " + err.Error()
	}
	return "and it was taken back"
}

// secrets are variables that no sandbox may get by their names alone.
var secrets = []string{"LD_PRELOAD", "BAILIFF_TOKEN"}

// secretSought says of each whether it came in, and shows none, since what shows secrets may be asked about.
const secretSought = `echo "${LD_PRELOAD+came}${BAILIFF_TOKEN+came}"`

func (t door) examineSecret(ctx context.Context, all *diagnosis.Checks) {
	name := t.check("secret")
	req := t.request(secretSought)
	req.Env = secrets
	decision, err := t.decide(ctx, req)
	if err != nil {
		all.Fail(name, sentence(err), "")
		return
	}
	held := withheld(decision)
	switch {
	case len(held) < len(secrets):
		all.Fail(name, "A variable that must stay out is let in.", "Look at the table env of your policies.")
		return
	case decision.Outcome != bailiff.Allow:
		all.Fine(name, "Variables that must stay out are withheld: %s. Whether one came in was not tried: the policies say %s about %s.",
			strings.Join(held, ", "), decision.Outcome, secretSought)
		return
	}
	answer, err := t.run(ctx, req)
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status != bailiff.Completed:
		all.Fail(name, fmt.Sprintf("The command that looks for variables that must stay out ended as %q. %s", answer.Status,
			answer.Message), "")
	case answer.Output != "\n":
		all.Fail(name, "A variable that must stay out came in.", "Look at the table env of your policies.")
	default:
		all.Fine(name, "Variables that must stay out stay out: %s.", strings.Join(held, ", "))
	}
}

// withheld are the names of the variables that a decision keeps out, in their order.
func withheld(d bailiff.Decision) (names []string) {
	for _, held := range d.Env.Withheld {
		names = append(names, held.Name)
	}
	slices.Sort(names)
	return names
}

// elsewhere is a host that is nowhere.
const elsewhere = "https://bailiff-doctor.invalid/"

func (t door) examineHost(ctx context.Context, all *diagnosis.Checks) {
	name, command := t.check("host"), "curl -sS -m 5 "+elsewhere
	decision, err := t.decide(ctx, t.request(command))
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
		return
	case decision.Outcome != bailiff.Allow:
		all.Fine(name, "Reaching a host that no table names is not allowed (%s).", decision.Outcome)
		return
	case decision.Backend.Network == "full":
		all.Doubt(name, "Sandboxes reach every host (network full).", "Set network: egress or none in the table network.platforms.")
		return
	}
	answer, err := t.run(ctx, t.request(command))
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status != bailiff.Completed || answer.ExitCode == 0:
		all.Fail(name, "A host that no table names was reached.", "Look at the tables network and destinations.")
	default:
		all.Fine(name, "A host that no table names is not reached (network %s).", decision.Backend.Network)
	}
}

func (t door) examineTime(ctx context.Context, all *diagnosis.Checks) {
	name, req := t.check("time limit"), t.request("sleep 20")
	req.Args.Timeout = 1
	answer, err := t.run(ctx, req)
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status != bailiff.TimedOut:
		all.Fail(name, fmt.Sprintf("A command of 20 seconds with a limit of one ended as %q.", answer.Status), "")
	default:
		all.Fine(name, "A command ends at its limit (%.1f s of 1 s).", answer.DurationSeconds)
	}
}

func (t door) examineOutput(ctx context.Context, all *diagnosis.Checks) {
	const most = 4 << 20
	name := t.check("output limit")
	answer, err := t.run(ctx, t.request(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", most)))
	switch {
	case err != nil:
		all.Fail(name, sentence(err), "")
	case answer.Status != bailiff.Completed:
		all.Fail(name, fmt.Sprintf("A command with much output ended as %q. %s", answer.Status, answer.Message), "")
	case !answer.Truncated:
		all.Doubt(name, "4 MiB of output come whole.", "Set limits.output_bytes in your tables.")
	default:
		all.Fine(name, "Output is cut at %d bytes.", answer.Decision.Limits.OutputBytes)
	}
}

// examineLimits says which limits of sandboxes are not held.
func (d Doctor) examineLimits(all *diagnosis.Checks) {
	for _, name := range slices.Sorted(maps.Keys(d.Config.Backends)) {
		for _, s := range d.Config.Backends[name].Settings() {
			accepted, ok := s.Into.(*[]string)
			if !ok || s.Key != "accept_missing_limits" || len(*accepted) == 0 {
				continue
			}
			all.Doubt("limits of "+name, "Sandboxes may go without these: "+strings.Join(*accepted, ", ")+".",
				"Where the machine can hold them, take them out of backends."+name+
					".accept_missing_limits; bailiff check says if it cannot.")
		}
	}
}

// sentence is an error as a sentence.
func sentence(err error) string { return bailiff.Sentence(err.Error()) }
