package telegram

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

func TestACheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	ana := []chat.Person{{ID: "42", Name: "ana"}}
	for name, c := range map[string]struct {
		before    func(*telegramtest.Server)
		approvals string
		people    []chat.Person
		// faults are what each fault says, in this order; what is not named is well.
		faults []string
	}{
		"all is well":             {nil, group, ana, nil},
		"all is well, in private": {func(s *telegramtest.Server) { s.Write("42", "42", "", "/start") }, "42", ana, nil},
		"approvals go elsewhere":  {nil, "", ana, nil},
		"privacy mode is off":     {func(s *telegramtest.Server) { s.Privacy(false) }, group, ana, nil},
		"no token": {func(s *telegramtest.Server) { s.Fail(failing("getMe", telegramtest.Fault{Code: 401})) }, group, ana,
			[]string{"BotFather"}},
		"a group that is none": {nil, "-10077", ana, []string{"add the bot to it"}},
		"a group without the bot": {func(s *telegramtest.Server) { s.Remove(group, "7000000001") }, group, ana,
			[]string{"the bot is not in it: add it"}},
		"a group where none writes": {func(s *telegramtest.Server) { s.Mute(group) }, group, ana,
			[]string{"allow it in the group's permissions"}},
		"a group that has moved": {func(s *telegramtest.Server) { s.Upgrade(group, "-1005") }, group, ana, []string{"-1005"}},
		"somebody who is not in it": {func(s *telegramtest.Server) { s.Remove(group, "42") }, group, ana,
			[]string{"add them to the group"}},
		"somebody whom nobody knows": {nil, group, []chat.Person{{ID: "4242", Name: "bo"}, {ID: "@ana", Name: "ana"}},
			[]string{"look whether the id is theirs", `"@ana" is nobody's id`}},
		"in private, to somebody who never began": {nil, "42", ana, []string{"can't initiate conversation"}},
		"in private, to somebody who blocks it": {func(s *telegramtest.Server) { s.Write("42", "42", "", "/start"); s.Block("42") }, "42",
			ana,
			[]string{"blocked", "pressed Start"}},
		"in private, to somebody else": {func(s *telegramtest.Server) { s.Write("42", "42", "", "/start") }, "42",
			[]chat.Person{{ID: "43", Name: "bo"}},
			[]string{"put the id of a group"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := telegramtest.New(t)
			s.Group(group, "42")
			if c.before != nil {
				c.before(s)
			}
			b := made(t, s, func(cfg *Config) { cfg.Approvals = c.approvals })
			var faults []string
			for _, f := range b.Check(t.Context(), c.people) {
				if f.What == "" {
					t.Errorf("nothing is said of %v", f.Err)
				}
				if f.Err != nil {
					faults = append(faults, f.Err.Error())
				}
			}
			if len(faults) != len(c.faults) {
				t.Fatalf("found is %q, want %q", faults, c.faults)
			}
			for i, want := range c.faults {
				if !strings.Contains(faults[i], want) {
					t.Errorf("found is %q, want %q", faults[i], want)
				}
			}
			for _, where := range []string{group, "42"} {
				if shown := s.Messages(where); len(shown) > 0 {
					t.Errorf("the check showed %+v", shown)
				}
			}
		})
	}
}

func TestACheckTellsWhatTheBotIsToldInGroups(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	for privacy, want := range map[bool]string{true: "privacy mode is on", false: "privacy mode is off"} {
		s.Privacy(privacy)
		if all := made(t, s).Check(t.Context(), nil); !strings.Contains(whats(all), want) {
			t.Errorf("found is %s", whats(all))
		}
	}
}

func whats(all []chat.Finding) (text string) {
	for _, f := range all {
		text += f.What + "\n"
	}
	return text
}

func TestACheckLooksAtTheWebhook(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	where, hook := hooked(t)
	b := made(t, s, hook)
	if all := b.Check(t.Context(), nil); !strings.Contains(whats(all), "which the sidecar sets when it starts") {
		t.Errorf("found is %s", whats(all))
	}
	response, err := http.Get(s.URL() + "/bot" + s.Token + "/setWebhook?url=" + where) // where nobody listens
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	s.Write("42", "42", "", "ls")
	s.Until(s.Unreachable)
	found := b.Check(t.Context(), nil)[2]
	if found.What != "webhook" || found.Err == nil || !strings.Contains(found.Err.Error(), "Connection refused; 1 updates wait") {
		t.Errorf("found is %+v", found)
	}
}

func TestAWebhookThatCannotBeCalledIsTold(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t)
	_, hook := hooked(t)
	_, inbox := running(t, s, hook)
	s.Hang(true)
	s.Write("42", "42", "", "ls")
	if err := chattest.Next(t, inbox.Connections); err == nil || !strings.Contains(err.Error(), "Telegram cannot call") {
		t.Errorf("it told %v", err)
	}
	s.Hang(false)
	chattest.Next(t, inbox.Messages)
	if err := chattest.Next(t, inbox.Connections); err != nil {
		t.Errorf("it told %v", err)
	}
}
