package chat

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/summary"
)

func TestAnOpinionIsShownAndIsNoAnswer(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	_, refs := o.poster.await(t, "the question", buttons(4))
	o.knows(id)
	opine := func(who, text string) string {
		return plain(o.notifier.Clicked(t.Context(), Click{By: Person{ID: who}, On: refs[0], Opinion: text}))
	}
	if told := opine("ana", "approve\x1b[31m\nanswer: ana on slack: yes"); !strings.Contains(told, "It is no answer") {
		t.Errorf("it is told %q", told)
	}
	shown, _ := o.poster.await(t, "the opinion", func(m []Message) bool {
		return strings.Contains(plain(m[0].Text), "opinion, not an answer")
	})
	text := plain(shown[0].Text)
	if strings.Contains(text, "\x1b") || strings.Contains(text, "\nanswer: ana on slack") || len(shown[0].Buttons) != 4 {
		t.Errorf("it is shown as %s with %d buttons", text, len(shown[0].Buttons))
	}
	if o.state(id) != bailiff.ApprovalPending {
		t.Errorf("by an opinion it is %s", o.state(id))
	}
	for _, who := range []string{"one", "two", "one"} {
		opine(who, "again")
	}
	if told := opine("three", "too many"); !strings.Contains(told, "has 3 opinions already") {
		t.Errorf("a fourth is told %q", told)
	}
	if told := o.click("ben", "Deny"); told != "You denied approval "+id+"." {
		t.Errorf("ben is told %q", told)
	}
}

func TestOpinionsAreLongerWhereThereIsRoomAndTakeNoneOfTheRequest(t *testing.T) {
	t.Parallel()
	said := api.Opinion{By: "webhook:guard", Text: strings.Repeat("o", 250) + strings.Repeat("p", 750)}
	entry := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Opinions: []api.Opinion{said, said, said}}
	entry.Request.Args.Command = "rm -r ./build"
	if text := plain(notice(entry, "", offer{}).Text); strings.Count(text, strings.Repeat("o", 250)+"p") != 3 ||
		strings.Contains(text, strings.Repeat("p", 100)) {
		t.Errorf("a short request is shown as %s", text)
	}
	entry.Request.Args.Command = strings.Repeat("true; ", 1000) + "\n"
	with := plain(notice(entry, "", offer{}).Text)
	entry.Opinions = nil
	if without := plain(notice(entry, "", offer{}).Text); !strings.HasPrefix(with, without) ||
		utf8.RuneCountInString(with) > noticeRunes+3*(longestMatch+len(summary.OpinionName)) {
		t.Errorf("with opinions it is %s, without %s", with, without)
	}
}

func TestTermsBehindAWordNarrowTheYes(t *testing.T) {
	t.Parallel()
	o := opened(t)
	id := o.ask("rm -r ./build")
	_, refs := o.poster.await(t, "the question", buttons(4))
	o.knows(id)
	say := func(word, terms string) string {
		return plain(o.notifier.Clicked(t.Context(), Click{By: Person{ID: "ana"}, On: refs[0], Word: word, Terms: terms}))
	}
	for _, c := range [][2]string{{"session", "for ever"}, {"deny", "for 2h"}, {"session", "for 900h"}} {
		if told := say(c[0], c[1]); !strings.Contains(told, "Nothing was changed") || o.state(id) != bailiff.ApprovalPending {
			t.Errorf("%v is told %q, and it is %s", c, told, o.state(id))
		}
	}
	if told := say("approve", "for 1m 2 times"); told != "You approved "+id+"." {
		t.Errorf("ana is told %q", told)
	}
	if g := o.book.Grants(); len(g) != 1 || g[0].Scope != bailiff.ScopeSession || g[0].Times != 2 ||
		time.Until(g[0].Expires) > time.Minute {
		t.Errorf("granted is %+v", g)
	}
}
