package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// workspace is a sidecar with an app at Slack: approvals in C1, where ana and ben answer, and
// commands in C2, from ana.
func workspace(t *testing.T, way string) *slacktest.Server {
	t.Helper()
	folder := openDir(t)
	server := slacktest.New(t)
	server.Channel("C1", slacktest.Bot, "UANA", "UBEN", "UEVE")
	server.Channel("C2", slacktest.Bot, "UANA", "UEVE")
	for name, secret := range map[string]string{"bot": slacktest.Token, "app": slacktest.AppToken, "signing": slacktest.SigningSecret} {
		save(t, filepath.Join(folder, name), secret)
	}
	_, house := withHouse(t, houseAsksAboutMarked)
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242], platforms: [discord]}]}
operator: {listen: "unix://%[1]s/o.sock"}
people: [{name: ana, slack: [UANA]}, {name: ben, slack: [UBEN]}]
slack: {url: %[2]q, bot_token: {file: bot}, %[3]s, approvals: C1, allowed_users: [UANA]}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[4]s}
backends: {bubblewrap: {}}
`, openDir(t), server.URL(), way, backendtest.Runner(t)) + house
	if _, err := tryServe(t, folder, text); err != nil {
		t.Fatal(err)
	}
	return server
}

func TestAtSlackACommandInAThreadIsApprovedInAChannelAndAnswered(t *testing.T) {
	t.Parallel()
	at := porttest.Address(t)
	for way, section := range map[string]string{"Socket Mode": "app_token: {file: app}",
		"HTTP": fmt.Sprintf("listen: %q, signing_secret: {file: signing}", at)} {
		t.Run(way, func(t *testing.T) {
			server := workspace(t, section)
			if way == "HTTP" {
				server.CallAt("http://" + at + "/")
			}
			testAtSlack(t, server)
		})
	}
}

func testAtSlack(t *testing.T, server *slacktest.Server) {
	root := server.Write("UANA", "C2", "", "@bailiff echo '<it>' & echo ran # marked")
	var question slacktest.Message
	server.Until(func() bool {
		shown := server.Messages("C1")
		if len(shown) == 1 {
			question = shown[0]
		}
		return len(question.Buttons) > 0
	})
	for _, want := range []string{"\necho '<it>' & echo ran # marked\n", "It is marked.", "slack:UANA", "bubblewrap", "ben"} {
		if !strings.Contains(question.Text, want) {
			t.Errorf("the question does not say %q: %s", want, question.Text)
		}
	}
	for user, want := range map[string]string{"UANA": "ana asked for it; ask ben",
		"UEVE": "slack:UEVE belongs to no person in people; ask ben"} {
		server.Click(user, "C1", question.ID, "Approve once")
		server.Until(func() bool { return strings.Contains(strings.Join(server.Told(user), " "), want) })
	}
	server.Click("UBEN", "C1", question.ID, "Approve once")
	server.Until(func() bool {
		for _, m := range server.Messages("C2") {
			if m.Thread == root && m.By == slacktest.Bot && strings.Contains(m.Text, "<it>") && strings.Contains(m.Text, "ran") {
				return true
			}
		}
		return false
	})
	server.Until(func() bool {
		shown := server.Messages("C1")
		return len(shown) == 1 && strings.Contains(shown[0].Text, "approved by ben") && len(shown[0].Buttons) == 0
	})
	server.Write("UANA", "C2", root, "echo it ran again # marked")
	server.Until(func() bool { return len(server.Messages("C1")) == 2 && len(server.Messages("C1")[1].Buttons) > 0 })
	server.Click("UBEN", "C1", server.Messages("C1")[1].ID, "Deny, and say why…")
	server.Until(func() bool { return server.Question("UBEN") != "" })
	server.Answer("UBEN", "not on a Monday")
	server.Until(func() bool {
		last := server.Messages("C2")[len(server.Messages("C2"))-1]
		return last.Thread == root && strings.Contains(last.Text, "Denied by ben: not on a Monday")
	})
	server.Write("UEVE", "C2", "", "@bailiff ls")
	server.Until(func() bool { return strings.Contains(strings.Join(server.Told("UEVE"), " "), "allowed_users") })
	server.Command("UANA", "C2", "/bailiff approvals")
	server.Until(func() bool { return strings.Contains(strings.Join(server.Told("UANA"), " "), "No approval is pending") })
}
