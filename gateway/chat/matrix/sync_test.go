package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

func TestATokenThatIsTakenBackEndsTheAccount(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		in := &inbox{}
		m := h.open(t, h.config())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(t.Context(), in) }()
		in.await(t, "the connection", func() bool { return in.connected > 0 })
		h.bailiff.Do("POST", "client/v3/logout", struct{}{}, nil)
		err := <-ended
		var refused *chat.Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "matrix.token") || strings.Contains(err.Error(), h.bailiff.Token) {
			t.Errorf("it ended in %v", err)
		}
		if len(in.broken) != 1 {
			t.Errorf("told is %v", in.broken)
		}
		if _, err := m.Post(t.Context(), chat.Place{Chat: "!x"}, say("x"), "k"); !errors.As(err, &refused) {
			t.Errorf("a post is %v", err)
		}
	})
}

func TestARoomInWhichBailiffIsNotIsRefused(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		m := h.open(t, h.config())
		_, err := m.Post(t.Context(), chat.Place{Chat: h.person("ana").NewRoom("ops")}, say("x"), "k")
		var refused *chat.Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "invite it") {
			t.Errorf("it is %v", err)
		}
	})
}

func TestAHomeserverThatIsBusySaysForHowLong(t *testing.T) {
	t.Parallel()
	server := matrixtest.New(t)
	h := home{server.Bailiff(), server.Person, &server.Faults}
	room := h.room("ops", h.person("ana"))
	m := h.open(t, h.config())
	server.Limit(h.bailiff.ID, 1)
	if _, err := m.Post(t.Context(), chat.Place{Chat: room}, say("one"), "k1"); err != nil {
		t.Fatal(err)
	}
	_, err := m.Post(t.Context(), chat.Place{Chat: room}, say("two"), "k2")
	var busy *chat.Busy
	if !errors.As(err, &busy) || busy.After != 3*time.Second || server.Calls("send") != 2 {
		t.Errorf("after %d calls it is %v", server.Calls("send"), err)
	}
	if _, err := m.Post(t.Context(), chat.Place{Chat: room}, say("one"), "k1"); err != nil {
		t.Errorf("what it has already is %v", err)
	}
}

func TestAPlaceInARoomThatTheHomeserverForgotIsBegunAnew(t *testing.T) {
	t.Parallel()
	h := ours(t)
	ana := h.person("ana")
	room := h.room("ops", ana)
	c := h.config()
	_, stop := h.start(t, c)
	stop()
	c.Memory.(*memory).all.Range(func(key, _ any) bool { // a place of a database that it went back from
		c.Memory.(*memory).all.Store(key, "s999999")
		return true
	})
	r, _ := h.start(t, c)
	ana.Write(room, "", "ls")
	if said := words(r.hears(t, 1)); !slices.Equal(said, []string{"ls"}) {
		t.Errorf("told is %q", said)
	}
}

func TestAnAnswerThatIsTooLongIsAskedForInParts(t *testing.T) {
	t.Parallel()
	h := ours(t)
	ana := h.person("ana")
	room := h.room("ops", ana)
	c := h.config()
	_, stop := h.start(t, c)
	stop()
	long := strings.Repeat("x", 60_000)
	for i := range 90 { // 5 MB, of which 3 would come at once, and 4 are read at most
		ana.Write(room, "", fmt.Sprintf("%d %s", i, long))
	}
	for i := range 60 {
		ana.Write(h.room(fmt.Sprint("room ", i), ana), "", "ls "+long)
	}
	r, _ := h.start(t, c)
	said := r.hears(t, 150)
	for i, s := range slices.DeleteFunc(said, func(s chat.Said) bool { return s.Chat != room }) {
		if !strings.HasPrefix(s.Text, fmt.Sprintf("%d x", i)) {
			t.Fatalf("the %dth is %.10s", i, s.Text)
		}
	}
}

func TestWhatCannotBeHadKeepsNothingElseFromBeingTold(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		fault  matrixtest.Fault
	}{
		"what was written meanwhile is not shown": {"messages", matrixtest.Forbidden},
		"nor who is in a room":                    {"joined_members", matrixtest.Forbidden},
		"nor what an answer is to":                {"event", matrixtest.Forbidden},
		"which always fails":                      {"event", matrixtest.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := ours(t)
			ana := h.person("ana")
			room := h.room("ops", ana)
			config := h.config()
			_, stop := h.start(t, config)
			stop()
			h.faults.Fail(func(method string) matrixtest.Fault {
				if method == c.method {
					return c.fault
				}
				return matrixtest.Fine
			})
			first := ana.Write(room, "", "first")
			ana.React(room, first, "✅")
			for range 60 {
				ana.Write(room, "", "ls")
			}
			ana.Write(room, "", "last")
			r, _ := h.start(t, config)
			r.await(t, "the last", func() bool { return len(r.said) > 0 && r.said[len(r.said)-1].Text == "last" })
		})
	}
}

func TestWhatRelatesToWhatCannotBeIsNoAnswer(t *testing.T) {
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		r, _ := h.start(t, h.config())
		before := h.faults.Calls("event")
		for i, id := range []string{"", "$", "..", "../joined_members", "$a b", "$\x00", "$é", "$" + strings.Repeat("x", 255),
			"!room:example.test"} {
			reply := map[string]any{"msgtype": "m.text", "body": "approve",
				"m.relates_to": map[string]any{"m.in_reply_to": map[string]any{"event_id": id}}}
			ana.Try("PUT", fmt.Sprintf("client/v3/rooms/%s/send/m.room.message/r%d", room, i), reply, nil)
			thread := map[string]any{"msgtype": "m.text", "body": "approve",
				"m.relates_to": map[string]any{"rel_type": "m.thread", "event_id": id}}
			ana.Try("PUT", fmt.Sprintf("client/v3/rooms/%s/send/m.room.message/t%d", room, i), thread, nil)
		}
		last := ana.Write(room, "", "last")
		r.await(t, "the last", func() bool { return len(r.said) > 0 && r.said[len(r.said)-1].Message == last })
		if len(r.said) < 9 || len(r.clicks) > 0 || h.faults.Calls("event") != before {
			t.Errorf("told is %+v and %+v after %d questions", r.said, r.clicks, h.faults.Calls("event")-before)
		}
		for _, s := range r.said {
			if s.Thread != "" {
				t.Errorf("in a thread is %+v", s)
			}
		}
	})
}

func TestAnInboxThatPanicsLosesOneEvent(t *testing.T) {
	t.Parallel()
	h := ours(t)
	ana := h.person("ana")
	room := h.room("ops", ana)
	m := h.open(t, h.config())
	in := &fragile{inbox: &inbox{}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx, in) }()
	in.await(t, "the connection", func() bool { return in.connected > 0 })
	ana.Write(room, "", "panic")
	ana.Write(room, "", "ls")
	if said := words(in.hears(t, 1)); !slices.Equal(said, []string{"ls"}) {
		t.Errorf("told is %q", said)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type fragile struct{ *inbox }

func (f *fragile) Said(ctx context.Context, s chat.Said) {
	if s.Text == "panic" {
		panic("as ordered")
	}
	f.inbox.Said(ctx, s)
}
