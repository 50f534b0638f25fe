package grafana_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// load is a day of agents and operators, in short: what a sidecar counts, happens.
type load struct {
	*apptest.Sidecar
	policies string // the folder that is in force
	telegram *telegramtest.Server
	rounds   int
}

// sections are those of a sidecar with people who are slow, away and too much asked.
var sections = []string{
	`metrics: {listen: <metrics>}`,
	`operator: {listen: "<operator>", allow_same_user: true, break_glass: true}`,
	`backends: {bubblewrap: {accept_missing_limits: [cpus]}}`,
	`limits: {requests_per_minute: {session: 20}, pending_approvals: {user: 1}}`,
	`approvals: {routes: [
  {name: slow, when: 'request.session.user_id == "slow"', timeout: 1s},
  {name: away, when: 'request.session.user_id == "away"', approvers: "false"},
  {name: rest}]}`,
}

func newLoad(t *testing.T) *load {
	t.Helper()
	t.Setenv("TZ", "UTC")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "nobody's")
	row := fmt.Sprintf("    observe: {house.new: {until: %q}}\n", time.Now().UTC().AddDate(0, 0, 7).Format(time.DateOnly))
	folder := apptest.PolicyFolder(t, apptest.AskedAbout+onTrial, closed, opened, whole, byPattern, "    observe: {}\n", row)
	telegram := telegramtest.New(t)
	telegram.Group(approvers, ana)
	all := append(slices.Clone(sections), shadowed(folder), onTelegram(t, telegram),
		fmt.Sprintf("people: [{name: ana, uids: [%d], telegram: [%q]}]", os.Getuid(), ana))
	return &load{Sidecar: apptest.Serve(t, all...), policies: folder, telegram: telegram}
}

// With opened for closed in the tables, the command line's sandboxes have a way out.
const (
	closed = "    network:\n      platforms: {}\n"
	opened = "    network:\n      platforms: {cli: {network: egress}}\n"
)

// With byPattern for whole, what is asked about here may be approved by a pattern.
const (
	whole     = "      patterns:\n"
	byPattern = whole + "        house.asks: true\n"
)

// onTrial is a rule of the house that is only observed.
const onTrial = `
deny contains {"rule": "house.new", "message": "It is new."} if contains(input.args.command, "on-trial")
`

// leaves is a command that asks for a host of which no row speaks.
const leaves = `python3 -c 'import urllib.request as r
try: r.urlopen("http://nobody.test/", timeout=20)
except OSError as e: print(e)'`

// approvers is the group in which ana is asked, ana who she is there.
const approvers, ana = "-1001", "7"

// onTelegram is the section of a bot there, to which everybody may give commands.
func onTelegram(t *testing.T, telegram *telegramtest.Server) string {
	t.Helper()
	token := filepath.Join(t.TempDir(), "telegram.token")
	must(t, os.WriteFile(token, []byte(telegram.Token), 0o600))
	return fmt.Sprintf(`telegram: {url: %q, token: {file: %q}, approvals: %q, allowed_users: ["*"]}`, telegram.URL(), token, approvers)
}

// shadowed is the section with which policies are in force, and in the shadow too.
func shadowed(folder string) string {
	return strings.Replace(apptest.Policies(folder), "{", fmt.Sprintf("{shadow: [%q], ", folder), 1)
}

// round lets everything happen once. What it asks for ends as it should, or the test does.
func (l *load) round(t *testing.T) {
	t.Helper()
	l.rounds++
	l.ask(t, "telegram", "42", "echo hello", bailiff.Completed)
	l.ask(t, "cli", "43", leaves, bailiff.Completed)
	l.ask(t, "cli", "43", "echo on-trial", bailiff.Completed)
	l.ask(t, "slack", "U07A", "rm -rf /", bailiff.Refused)
	ofAgent := request("slack", "U07A", "rm -rf /")
	ofAgent.Session.Agent = bailiff.Agent{ID: "helper", Depth: 1}
	l.Ask(t, ofAgent, bailiff.Refused)
	l.ask(t, "telegram", "slow", "echo asked-about", bailiff.Expired)
	l.ask(t, "telegram", "away", "echo asked-about", bailiff.Expired)
	l.answered(t)
	l.chatted(t)
	l.hurried(t)
	_, err := l.Operators(t).BreakGlass(t.Context(), request("cli", "1000", "rm -rf /nothing/is/here"), "the load of a test")
	must(t, err)
	_, err = l.Client(t).EndSession(t.Context(), l.session("telegram", "42"))
	must(t, err)
	l.reload(t)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// session is a user's of this round.
func (l *load) session(platform, user string) string { return fmt.Sprint(platform, user, l.rounds) }

func request(platform, user, command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Env: []string{"TZ", "AWS_SECRET_ACCESS_KEY"},
		Session: bailiff.Session{ID: "s", Platform: platform, UserID: user, ChatType: "dm"}, WaitSeconds: 20}
}

func (l *load) ask(t *testing.T, platform, user, command string, want bailiff.Status) {
	t.Helper()
	req := request(platform, user, command)
	req.Session.ID = l.session(platform, user)
	l.Ask(t, req, want)
}

// answered has one question approved for a session, with all that match a pattern, of which there is one, and another one denied
// while its user asks more than may wait.
func (l *load) answered(t *testing.T) {
	t.Helper()
	for user, answer := range map[string]func(context.Context, *client.Client, string) error{
		"yes": func(ctx context.Context, c *client.Client, id string) error {
			_, err := c.ApproveAs(ctx, id, api.Approving{Scope: bailiff.ScopeSession, Match: "echo asked-about *"})
			return err
		},
		"no": func(ctx context.Context, c *client.Client, id string) error {
			l.ask(t, "discord", "no", "echo asked-about twice", bailiff.Unavailable)
			_, err := c.Deny(ctx, id, "no")
			return err
		},
	} {
		ended := make(chan api.Answer, 1)
		req := request("discord", user, "echo asked-about once")
		req.Session.ID = l.session("discord", user)
		agent := l.Client(t)
		go func() {
			answer, _ := agent.Execute(t.Context(), req, client.News{})
			ended <- answer
		}()
		must(t, answer(t.Context(), l.Operators(t), l.Pending(t)))
		if got, want := (<-ended).Status, map[string]bailiff.Status{"yes": bailiff.Completed, "no": bailiff.Refused}[user]; got != want {
			t.Fatalf("after a %s it ended as %q", user, got)
		}
	}
	l.ask(t, "discord", "yes", "echo asked-about again", bailiff.Completed)
}

// chatted has a command given by chat, approved in the group, and answered.
func (l *load) chatted(t *testing.T) {
	t.Helper()
	user, command := fmt.Sprint(1000+l.rounds), fmt.Sprint("echo asked-about by chat ", l.rounds)
	l.telegram.Write(user, user, "", command)
	var question string
	l.telegram.Await(approvers, func(shown []telegramtest.Message) bool {
		at := slices.IndexFunc(shown, func(m telegramtest.Message) bool { return strings.Contains(m.Text, command) && len(m.Buttons) > 0 })
		if at >= 0 {
			question = shown[at].ID
		}
		return at >= 0
	})
	l.telegram.Click(ana, approvers, question, "Approve once")
	l.telegram.Await(user, func(shown []telegramtest.Message) bool {
		return slices.ContainsFunc(shown, func(m telegramtest.Message) bool {
			return strings.Contains(m.Text, fmt.Sprint("asked-about by chat ", l.rounds))
		})
	})
}

// hurried brings more requests than a session may.
func (l *load) hurried(t *testing.T) {
	t.Helper()
	backendtest.Await(t, "a request is kept out", func() bool {
		req := request("slack", "eager", "rm -rf /")
		req.Session.ID = l.session("slack", "eager")
		answer, err := l.Client(t).Execute(t.Context(), req, client.News{})
		must(t, err)
		return strings.Contains(answer.Message, "requests_per_minute")
	})
}

// reload has a faulty rule refused and the good ones put into force anew.
func (l *load) reload(t *testing.T) {
	t.Helper()
	rules := filepath.Join(l.policies, "house.rego")
	for _, c := range []struct {
		text string
		ok   bool
	}{{"package bailiff\n\nnonsense", false}, {fmt.Sprintf("package bailiff\n\n%s\n# round %d\n", apptest.AskedAbout, l.rounds), true}} {
		must(t, os.WriteFile(rules, []byte(c.text), 0o600))
		backendtest.Await(t, "the policies are read", func() bool {
			status, err := l.Operators(t).Status(t.Context())
			return err == nil && status.Policies.OK == c.ok
		})
	}
}
