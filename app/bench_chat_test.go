package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/slack/slacktest"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"
)

// clicked is a service with a chat of approvals, in which ana has the id.
type clicked struct {
	ana, section string
	token        string
	// await returns the message that holds a word, once it has buttons.
	await func(word string) string
	click func(message string)
}

// BenchmarkClick times the way from a click at a chat service to the end of the "true" that
// waited for it, over the service's own protocol, and that from an operator's yes in the
// same run.
func BenchmarkClick(b *testing.B) {
	for name, open := range map[string]func(*testing.B) clicked{"slack": clickSlack, "discord": clickDiscord, "telegram": clickTelegram} {
		b.Run(name, func(b *testing.B) { benchClick(b, name, open(b)) })
	}
}

func benchClick(b *testing.B, service string, at clicked) {
	folder := openDir(b)
	save(b, filepath.Join(folder, "token"), at.token)
	_, house := withHouse(b, houseAsksAboutMarked)
	config := strings.Replace(onePerson(b, house, "backends: {bubblewrap: {}}", at.section), "people: [{name: ana,",
		fmt.Sprintf("people: [{name: ana, %s: [%q],", service, at.ana), 1)
	o := startOffice(b, folder, config)
	mustComplete(b, o.agent, inChat("bench", "true")) // which makes the sandbox
	n := 0
	once := func(answer func(id string) time.Time) time.Duration {
		n++
		e := send(b.Context(), o.agent, waiting(inChat("bench", fmt.Sprintf("true # marked %d", n))))
		start := answer(e.question(b))
		wants(b, e.end(b), bailiff.Completed, "")
		return time.Since(start)
	}
	var clicks, yeses []time.Duration
	for b.Loop() {
		clicks = append(clicks, once(func(id string) time.Time {
			message := at.await(id)
			start := time.Now()
			go at.click(message)
			return start
		}))
		yeses = append(yeses, once(func(id string) time.Time {
			start := time.Now()
			go func() { mustApprove(b, o.operator, id, "") }()
			return start
		}))
	}
	b.ReportMetric(milliseconds(median(clicks)), "click-ms")
	b.ReportMetric(milliseconds(clicks[len(clicks)*95/100]), "click-p95-ms")
	b.ReportMetric(milliseconds(median(yeses)), "operator-ms")
	b.ReportMetric(milliseconds(yeses[len(yeses)*95/100]), "operator-p95-ms")
	b.ReportMetric(float64(median(clicks))/float64(median(yeses)), "click/operator")
}

func clickSlack(b *testing.B) clicked {
	s := slacktest.New(b)
	s.Channel("C1", slacktest.Bot, "UANA")
	app := filepath.Join(openDir(b), "app")
	save(b, app, slacktest.AppToken)
	return clicked{ana: "UANA", token: slacktest.Token,
		section: fmt.Sprintf("slack: {url: %q, bot_token: {file: token}, app_token: {file: %q}, approvals: C1}", s.URL(), app),
		await: func(word string) (id string) {
			s.Await("the question", func() bool {
				for _, m := range s.Messages("C1") {
					if strings.Contains(m.Text, word) && len(m.Buttons) > 0 {
						id = m.ID
					}
				}
				return id != ""
			})
			return id
		}, click: func(message string) { s.Click("UANA", "C1", message, "Approve once") }}
}

func clickDiscord(b *testing.B) clicked {
	s := discordtest.New(b)
	const ana = "800000000000000001"
	return clicked{ana: ana, token: s.Token, section: fmt.Sprintf("discord: {url: %q, token: {file: token}, approvals: %q}",
		s.URL(), discordtest.Channel),
		await: func(word string) (id string) {
			s.Await(discordtest.Channel, func(all []discordtest.Message) bool {
				for _, m := range all {
					if strings.Contains(m.Text, word) && len(m.Buttons) > 0 {
						id = m.ID
					}
				}
				return id != ""
			})
			return id
		}, click: func(message string) { s.Click(ana, discordtest.Channel, message, "Approve once") }}
}

func clickTelegram(b *testing.B) clicked {
	s := telegramtest.New(b)
	s.Group(approvers, "42")
	return clicked{ana: "42", token: s.Token, section: fmt.Sprintf("telegram: {url: %q, token: {file: token}, approvals: %q}",
		s.URL(), approvers),
		await: func(word string) (id string) {
			s.Await(approvers, func(all []telegramtest.Message) bool {
				for _, m := range all {
					if strings.Contains(m.Text, word) && len(m.Buttons) > 0 {
						id = m.ID
					}
				}
				return id != ""
			})
			return id
		}, click: func(message string) { s.Click("42", approvers, message, "Approve once") }}
}
