package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

func TestWhatIsWrittenIsToldWithItsPlace(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana, ben := h.person("ana"), h.person("ben")
		ops, alone, named := h.room("ops", ana, ben), h.room("", ana), h.room("ours", ana)
		c := h.config()
		c.AllowedUsers = []string{ana.ID}
		r, _ := h.start(t, c)
		direct := ana.NewDirect(h.bailiff.ID)
		awaitJoined(t, h, direct)
		var root string
		for i, one := range []struct {
			write  func() string
			thread func() string
			chat   string
			kind   string
			text   string
			named  bool
		}{
			{func() string { root = ana.Write(ops, "", "ls 'a  b' && echo <x> \"y\" — “z”"); return root }, nil, ops, "group",
				"ls 'a  b' && echo <x> \"y\" — “z”", false},
			{func() string { return ben.Write(ops, root, "bailiff: ls", h.bailiff.ID) }, func() string { return root }, ops, "thread", "ls",
				true},
			{func() string { return ana.Write(alone, "", "ls") }, nil, alone, "dm", "ls", false},
			{func() string { return ana.Write(named, "", "!status") }, nil, named, "group", "/status", false},
			{func() string { return ana.Write(direct, "", "@bailiff !stop now") }, nil, direct, "dm", "/stop now", true},
			{func() string { return ana.Write(ops, "", "```\nprint(1)\n```") }, nil, ops, "group", "```\nprint(1)\n```", false},
			{func() string { return ana.Write(ops, "", "!history") }, nil, ops, "group", "!history", false},
		} {
			id := one.write()
			said := r.hears(t, i+1)[i]
			want := chat.Ref{Place: chat.Place{Chat: one.chat}, Message: id}
			if one.thread != nil {
				want.Thread = one.thread()
			}
			if said.Ref != want || said.Kind != one.kind || said.Text != one.text || said.Mentioned != one.named || said.Ephemeral != nil ||
				said.By.ID != ana.ID && said.By.ID != ben.ID || said.By.Name != "ana" && said.By.Name != "ben" {
				t.Errorf("told is %+v, want %v in a %s: %q, named %v", said, want, one.kind, one.text, one.named)
			}
		}
	})
}

// awaitJoined waits until bailiff has come into a room.
func awaitJoined(t *testing.T, h home, room string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !slices.Contains(h.bailiff.Rooms(), room); {
		if time.Now().After(deadline) {
			t.Fatalf("bailiff did not come into %s", room)
		}
	}
}

func TestADirectRoomIsNoneAnyMoreWhenAThirdComes(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana, ben := h.person("ana"), h.person("ben")
		room := h.room("", ana)
		r, _ := h.start(t, h.config())
		for i, one := range []struct {
			before func()
			kind   string
		}{
			{func() {}, "dm"},
			{func() { ana.Invite(room, ben.ID); ben.Join(room) }, "group"},
			{func() { ben.Leave(room) }, "dm"},
			{func() { ana.SetState(room, "m.room.name", map[string]any{"name": "a name"}) }, "group"},
		} {
			one.before()
			ana.Write(room, "", "ls")
			if said := r.hears(t, i+1)[i]; said.Kind != one.kind {
				t.Errorf("%d: it is a %s, want a %s", i, said.Kind, one.kind)
			}
		}
	})
}

func TestWhatNobodyTypedToOthersIsNotTold(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		r, _ := h.start(t, h.config())
		text := func(kind, body string) map[string]any { return map[string]any{"msgtype": kind, "body": body} }
		first := ana.Write(room, "", "first")
		edit := text("m.text", "* second")
		edit["m.new_content"], edit["m.relates_to"] = text("m.text", "second"), map[string]any{"rel_type": "m.replace", "event_id": first}
		ana.Send(room, "m.room.message", edit)
		ana.Send(room, "m.room.message", text("m.notice", "of a program"))
		ana.Send(room, "m.room.message", text("m.emote", "waves"))
		ana.Send(room, "m.room.message", text("m.location", "here"))
		ana.Send(room, "dev.example.other", text("m.text", "of another type"))
		ana.SetState(room, "m.room.topic", map[string]any{"topic": "a topic"})
		ana.React(room, first, "👍")
		h.bailiff.Write(room, "", "by bailiff's own account")
		ana.Try("PUT", "client/v3/rooms/"+room+"/send/m.room.message/odd",
			map[string]any{"msgtype": "m.text", "body": "odd", "info": "no object", "m.relates_to": map[string]any{"rel_type": 7}}, nil)
		ana.Write(room, "", "last")
		if said := words(r.hears(t, 2)); !slices.Equal(said, []string{"first", "last"}) {
			t.Errorf("told is %q", said)
		}
		if len(r.clicks) > 0 {
			t.Errorf("answers are %+v", r.clicks)
		}
	})
}

func TestWhatWasWrittenMeanwhileIsToldOnceAfterARestart(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room, other := h.room("ops", ana), h.room("dev", ana)
		ana.Write(room, "", "before anything was read")
		c := h.config()
		var want []string
		for round := range 3 {
			r, stop := h.start(t, c)
			told := r.hears(t, len(want))
			if !slices.Equal(words(told), want) {
				t.Fatalf("in round %d %d were told, want %d: %q", round, len(told), len(want), words(told))
			}
			here := ana.Write(room, "", "here")
			if last := r.hears(t, len(want)+1); last[len(last)-1].Message != here {
				t.Errorf("told is %+v", last)
			}
			stop()
			want = nil
			for i := range 130 { // more than come at once
				text := fmt.Sprintf("round %d, %d", round, i)
				ana.Write(room, "", text)
				want = append(want, text)
			}
			_ = other
		}
	})
}

// To a homeserver a new name is another coming into each room.
func TestANewNameIsNoNewComing(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		c := h.config()
		_, stop := h.start(t, c)
		stop()
		var want []string
		for i := range 120 {
			want = append(want, fmt.Sprintf("message %d", i))
			ana.Write(room, "", want[i])
			if i == 30 || i == 110 {
				h.bailiff.Do("PUT", "client/v3/profile/"+h.bailiff.ID+"/displayname",
					map[string]any{"displayname": fmt.Sprintf("the %dth", i)}, nil)
			}
		}
		ana.Write(room, "", "the 110th: ls")
		r, _ := h.start(t, c)
		said := r.hears(t, len(want)+1)
		if !slices.Equal(words(said[:len(want)]), want) {
			t.Errorf("told is %q", words(said))
		}
		if last := said[len(want)]; last.Text != "ls" || !last.Mentioned {
			t.Errorf("by its new name it is told %+v", last)
		}
	})
}

func TestNoMessageIsLostWhileTheConnectionBreaks(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		room := h.room("ops", ana)
		r, _ := h.start(t, h.config())
		var mu sync.Mutex
		n := 0
		h.faults.Fail(func(method string) matrixtest.Fault {
			mu.Lock()
			defer mu.Unlock()
			if n++; method == "sync" && n%4 == 0 && n < 12 {
				return []matrixtest.Fault{matrixtest.Dropped, matrixtest.Broken, matrixtest.Lost}[n/4%3]
			}
			return matrixtest.Fine
		})
		var want []string
		for i := range 30 {
			want = append(want, fmt.Sprintf("message %d", i))
			ana.Write(room, "", want[i])
		}
		once := counted(words(r.hears(t, 30)))
		if !slices.Equal(sorted(once), slices.Sorted(slices.Values(want))) {
			t.Errorf("told is %v", once)
		}
		for text, times := range once {
			if times != 1 {
				t.Errorf("%s is told %d times", text, times)
			}
		}
	})
}

func TestWhatWasWrittenBeforeBailiffCameIsNotTold(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		c := h.config()
		c.AllowedUsers = []string{ana.ID}
		r, _ := h.start(t, c)
		room := ana.NewRoom("ops")
		for i := range 80 {
			ana.Write(room, "", fmt.Sprintf("%d: before bailiff was there", i))
		}
		ana.Invite(room, h.bailiff.ID)
		awaitJoined(t, h, room)
		ana.Write(room, "", "since")
		if said := words(r.hears(t, 1)); !slices.Equal(said, []string{"since"}) {
			t.Errorf("told is %q", said)
		}
	})
}

func TestOnlyWhoMayGiveCommandsInvites(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana, eve := h.person("ana"), h.person("eve")
		theirs, approvals, free := eve.NewRoom("trap"), eve.NewRoom("approvals"), eve.NewRoom("free")
		c := h.config()
		c.AllowedUsers, c.Approvals, c.Rooms = []string{ana.ID}, approvals, []string{free}
		r, _ := h.start(t, c)
		eve.Invite(theirs, h.bailiff.ID)
		direct := eve.NewDirect(h.bailiff.ID)
		eve.Invite(approvals, h.bailiff.ID)
		eve.Invite(free, h.bailiff.ID)
		room := ana.NewRoom("ops", h.bailiff.ID)
		for _, id := range []string{approvals, free, room} {
			awaitJoined(t, h, id)
		}
		eve.Write(theirs, "", "nobody hears this")
		ana.Write(room, "", "heard")
		r.hears(t, 1)
		if in := h.bailiff.Rooms(); slices.Contains(in, theirs) || slices.Contains(in, direct) {
			t.Errorf("it is in %q", in)
		}
	})
}

func TestAnEncryptedRoomIsToldOfOnce(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		var log lines
		c := h.config()
		c.Log, c.AllowedUsers = slog.New(slog.NewTextHandler(&log, nil)), []string{ana.ID}
		r, _ := h.start(t, c)
		room, plain := ana.NewEncrypted(h.bailiff.ID), ana.NewRoom("plain", h.bailiff.ID)
		awaitJoined(t, h, room)
		awaitJoined(t, h, plain)
		for range 2 {
			ana.Send(room, "m.room.encrypted", map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"})
		}
		ana.Write(plain, "", "ls")
		r.hears(t, 1)
		if n := strings.Count(log.String(), "is encrypted"); n != 1 {
			t.Errorf("it is said %d times:\n%s", n, log.String())
		}
	})
}

// lines are those of a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestATokenThatIsTakenBackEndsTheAccount(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		in := newInbox()
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
	server := matrixtest.New(t)
	h := home{server.Bailiff(), server.Person, server.Faults()}
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
	h := ours(t)
	ana := h.person("ana")
	room := h.room("ops", ana)
	m := h.open(t, h.config())
	in := &fragile{inbox: newInbox()}
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

func TestACheckNamesWhatIsMissing(t *testing.T) {
	atEach(t, func(t *testing.T, h home) {
		ana, ben := h.person("ana"), h.person("ben")
		fine, without, secret, quiet := h.room("ops", ana), ana.NewRoom("not there"), ana.NewEncrypted(h.bailiff.ID), h.room("quiet", ana)
		h.bailiff.Join(secret)
		var levels map[string]any
		ana.Do("GET", "client/v3/rooms/"+quiet+"/state/m.room.power_levels/", nil, &levels)
		levels["events_default"] = 50
		ana.SetState(quiet, "m.room.power_levels", levels)
		c := h.config()
		c.Approvals, c.Rooms = fine, []string{without, secret, quiet}
		found := h.open(t, c).Check(t.Context(), []chat.Person{{ID: ana.ID, Name: "ana"}, {ID: ben.ID, Name: "ben"}})
		want := []struct{ what, fault string }{
			{"homeserver", ""}, {"token", ""}, {"room " + fine, ""}, {"room " + without, "is not in the room: invite it there"},
			{"room " + secret, "is encrypted"}, {"room " + quiet, "needs 50 to send events of the type m.room.message"},
			{"ana (" + ana.ID + ") sees " + fine, ""}, {"ben (" + ben.ID + ") sees " + fine, "is not in the room: invite them"},
		}
		if len(found) != len(want) {
			t.Fatalf("found is %v", found)
		}
		for i, f := range found {
			if f.What != want[i].what || (f.Err == nil) != (want[i].fault == "") || f.Err != nil &&
				!strings.Contains(f.Err.Error(), want[i].fault) {
				t.Errorf("found is %q: %v, want %q", f.What, f.Err, want[i])
			}
		}
	})
}

func TestACheckNamesATokenAndAHomeserverOfNoUse(t *testing.T) {
	server := matrixtest.New(t)
	server.Speaks("r0.6.1", "v1.3")
	c := home{server.Bailiff(), nil, nil}.config()
	c.Token = func() (bailiff.Secret, error) { return bailiff.NewSecret("wrong-4711"), nil }
	m, err := matrix.New(c)
	if err != nil {
		t.Fatal(err)
	}
	found := m.Check(t.Context(), []chat.Person{{ID: "@ana:example.test"}})
	if len(found) != 2 || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), "1.4") || found[1].Err == nil ||
		!strings.Contains(found[1].Err.Error(), "matrix.token") || strings.Contains(fmt.Sprint(found), "4711") {
		t.Errorf("found is %v", found)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	if _, err := matrix.New(matrix.Config{}); err == nil || err.Error() != "matrix config lacks Log, Memory, Token, URL" {
		t.Errorf("it says %v", err)
	}
	c := home{bailiff: &matrixtest.Person{URL: "http://127.0.0.1:1"}}.config()
	c.Approvals = "#ops:example.com"
	if _, err := matrix.New(c); err == nil || !strings.Contains(err.Error(), "want its id") {
		t.Errorf("of an alias it says %v", err)
	}
}
