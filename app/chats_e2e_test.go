package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// guildhall is a sidecar at which nobody may answer for themselves, with a group in which
// ana and ben approve, and chats in which both give commands.
func guildhall(tb testing.TB) (*telegramtest.Server, *running) {
	tb.Helper()
	return hall(tb, bothWays)
}

// bothWays are the keys of a section of a service that is for approvals and commands.
var bothWays = fmt.Sprintf(`approvals: %q, allowed_users: ["42", "43"]`, approvers)

// hall is one whose section telegram says this of approvals and commands.
func hall(tb testing.TB, telegramKeys string, sections ...string) (*telegramtest.Server, *running) {
	tb.Helper()
	telegram := telegramtest.New(tb)
	telegram.Group(approvers, "42", "43", "44")
	folder := openDir(tb)
	return telegram, serveGuild(tb, folder, guild(tb, folder, telegram, telegramKeys)+strings.Join(sections, "\n"))
}

// guild is its configuration, in a folder that holds the bot's token.
func guild(tb testing.TB, folder string, telegram *telegramtest.Server, telegramKeys string) string {
	tb.Helper()
	save(tb, filepath.Join(folder, "telegram.token"), telegram.Token)
	_, house := withHouse(tb, houseAsksAboutMarked)
	return fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242], platforms: [discord]}]}
operator: {listen: "unix://%[1]s/o.sock"}
people: [{name: ana, telegram: ["42"]}, {name: ben, telegram: ["43"]}]
telegram: {url: %[2]q, token: {file: telegram.token}, %[3]s}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[4]s}
backends: {bubblewrap: {}}
`, openDir(tb), telegram.URL(), telegramKeys, backendtest.Runner(tb)) + house + "\n"
}

func serveGuild(tb testing.TB, folder, text string) *running {
	tb.Helper()
	s, err := tryServe(tb, folder, text)
	must(tb, err)
	return s
}

const approvers = "-1001"

// theQuestion waits for so many approvals in the group, and returns the last.
func theQuestion(telegram *telegramtest.Server, n int) telegramtest.Message {
	shown := telegram.Await(approvers, func(m []telegramtest.Message) bool { return len(m) == n && len(m[n-1].Buttons) > 0 })
	return shown[n-1]
}

func shows(words ...string) func([]telegramtest.Message) bool {
	return func(all []telegramtest.Message) bool {
		return slices.ContainsFunc(all, func(m telegramtest.Message) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) })
		})
	}
}

func TestACommandGivenInAChatIsApprovedInAnotherAndAnswered(t *testing.T) {
	t.Parallel()
	telegram, _ := guildhall(t)
	telegram.Write("42", "42", "", "echo it ran # marked")
	question := theQuestion(telegram, 1)
	for _, want := range []string{"echo it ran # marked", "It is marked.", "telegram:42", "bubblewrap", "ben"} {
		if !strings.Contains(question.Text, want) {
			t.Errorf("the question does not say %q: %s", want, question.Text)
		}
	}
	for user, want := range map[string]string{"42": "ana asked for it; ask ben",
		"44": "telegram:44 belongs to no person in people; ask ben"} {
		telegram.Click(user, approvers, question.ID, "Approve once")
		telegram.Until(func() bool { return strings.Contains(strings.Join(telegram.Told(user), " "), want) })
	}
	telegram.Click("43", approvers, question.ID, "Approve once")
	telegram.Await("42", shows("it ran"))
	shown := telegram.Await(approvers, shows("approved by ben"))
	if len(shown) != 1 || len(shown[0].Buttons) != 0 {
		t.Errorf("shown are %+v", shown)
	}
}

func TestADenialInAChatSaysWhy(t *testing.T) {
	t.Parallel()
	telegram, _ := guildhall(t)
	telegram.Write("42", "42", "", "echo it ran # marked")
	question := theQuestion(telegram, 1)
	telegram.Click("43", approvers, question.ID, "Deny, and say why…")
	asks := telegram.Await(approvers, func(m []telegramtest.Message) bool { return len(m) == 2 && m[1].Asks })
	telegram.Reply("43", approvers, asks[1].ID, "not on a Monday")
	telegram.Await("42", shows("Denied by ben: not on a Monday"))
	telegram.Await(approvers, shows("denied by ben: not on a Monday"))
}

func TestAnApprovalWhoseEveryChannelIsDownIsUnavailableAtOnce(t *testing.T) {
	t.Parallel()
	telegram, s := guildhall(t)
	telegram.Write("42", "42", "", "true # connected")
	telegram.Await("42", func(m []telegramtest.Message) bool { return len(m) > 0 })
	telegram.Remove(approvers, fmt.Sprint(telegramtest.BotID))
	telegram.Write("42", "42", "", "echo it ran # marked")
	telegram.Await("42", shows("Nobody could be asked", "telegram (")) // found out by it
	telegram.Write("42", "42", "", "echo it ran # marked again")
	telegram.Await("42", shows("nobody can be asked now")) // known before
	status := s.Status(t.Context())
	if !slices.ContainsFunc(status.Warnings, func(w string) bool { return strings.Contains(w, "chat service telegram reaches nobody: ") }) {
		t.Errorf("the status warns of %q", status.Warnings)
	}
}

func TestStatusSaysWhatAChatServiceIsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys string
		want api.ServiceStatus
	}{
		"both":      {`approvals: "-1001", allowed_users: ["42"]`, api.ServiceStatus{Approvals: true, At: approvers, Commands: true}},
		"approvals": {`approvals: "-1001"`, api.ServiceStatus{Approvals: true, At: approvers}},
		"commands":  {`allowed_users: ["42"]`, api.ServiceStatus{Commands: true}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := hall(t, c.keys)
			status := s.Status(t.Context())
			if c.want.Service = "telegram"; !slices.Equal(status.Chat, []api.ServiceStatus{c.want}) {
				t.Errorf("the services are %+v, want %+v", status.Chat, c.want)
			}
		})
	}
}

func TestAfterARestartWhatWaitsStandsThereOnceAndIsAnswered(t *testing.T) {
	t.Parallel()
	telegram := telegramtest.New(t)
	telegram.Group(approvers, "42", "43")
	folder := openDir(t)
	text := guild(t, folder, telegram, bothWays)
	first := serveGuild(t, folder, text)
	telegram.Write("42", "42", "", "echo it ran # marked")
	before := theQuestion(telegram, 1)
	first.stop()
	second := serveGuild(t, folder, text)
	telegram.Write("42", "42", "", "echo connected")
	telegram.Await("42", shows("connected"))
	if now := theQuestion(telegram, 1); now.ID != before.ID {
		t.Errorf("it stands there as %+v", now)
	}
	telegram.Click("43", approvers, before.ID, "Approve once")
	telegram.Await(approvers, shows("approved by ben"))
	telegram.Write("42", "42", "", "echo it ran # marked")
	telegram.Await("42", shows("it ran"))
	if e, _ := second.approvals.List(api.Query{}); len(e) != 1 {
		t.Errorf("there are %d approvals", len(e))
	}
}

func TestChatCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	telegram := telegramtest.New(t)
	telegram.Group(approvers, "42")
	folder := openDir(t)
	check := func() string {
		cfg, err := config.Parse(filepath.Join(folder, "bailiff.yaml"), []byte(guild(t, folder, telegram, bothWays)), catalogue.All())
		must(t, err)
		var said []string
		for _, f := range checkChats(t.Context(), cfg) {
			if f.Fault != "" {
				said = append(said, f.Service+": "+f.What+": "+f.Fault)
			}
		}
		return strings.Join(said, "\n")
	}
	if said := check(); strings.Contains(said, "ana") || !strings.Contains(said, "ben (43)") {
		t.Errorf("of ben, who is not in the group, it says %s", said)
	}
	telegram.Group(approvers, "42", "43")
	if said := check(); said != "" {
		t.Errorf("where all is well it says %s", said)
	}
	telegram.Fail(func(string) telegramtest.Fault { return telegramtest.Fault{Code: 401, Words: "Unauthorized"} })
	if said := check(); !strings.Contains(said, "telegram: token") || strings.Contains(said, telegram.Token) {
		t.Errorf("where the token is unknown it says %s", said)
	}
}

func TestWhoIsTakenOutOfAllowedUsersGivesNoCommandFromThenOn(t *testing.T) {
	t.Parallel()
	telegram := telegramtest.New(t)
	folder := openDir(t)
	telegram.Group(approvers, "42", "43")
	text := guild(t, folder, telegram, bothWays)
	s := serveGuild(t, folder, text)
	telegram.Write("42", "42", "", "echo first")
	telegram.Await("42", shows("first"))
	next, err := config.Parse(filepath.Join(folder, "bailiff.yaml"),
		[]byte(strings.Replace(text, `allowed_users: ["42", "43"]`, `allowed_users: ["43"]`, 1)), catalogue.All())
	must(t, err)
	next.Policies.EvalTimeout = s.cfg.Policies.EvalTimeout
	if waiting, err := s.reload(t.Context(), next); err != nil || len(waiting) > 0 {
		t.Fatalf("waiting for a restart are %v, %v", waiting, err)
	}
	telegram.Write("42", "42", "", "echo second")
	telegram.Await("42", shows("You may not give commands here"))
	if shows("second")(telegram.Messages("42")) {
		t.Errorf("it ran: %+v", telegram.Messages("42"))
	}
}

func TestTheStatusSaysWhyAServiceForCommandsAloneReachesNobody(t *testing.T) {
	t.Parallel()
	telegram, s := hall(t, `allowed_users: ["42"]`)
	telegram.Write("42", "42", "", "true # connected")
	telegram.Await("42", func(m []telegramtest.Message) bool { return len(m) > 0 })
	telegram.Fail(func(string) telegramtest.Fault { return telegramtest.Fault{Code: 401} })
	telegram.Write("42", "42", "", "true")
	backendtest.Await(t, "the status says why nobody is reached",
		func() bool { return strings.Contains(s.Status(t.Context()).Chat[0].Message, "token") })
	if text := get(t, s, "/metrics"); !strings.Contains(text, `bailiff_chat_down{service="telegram"} 1`) {
		t.Error("no metric says that it reaches nobody")
	}
}
