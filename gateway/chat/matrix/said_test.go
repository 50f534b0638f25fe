package matrix_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestWhatIsWrittenIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
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
	awaittest.Until(t, "bailiff is in "+room, func() bool { return slices.Contains(h.bailiff.Rooms(), room) })
}

func TestADirectRoomIsNoneAnyMoreWhenAThirdComes(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
	atEach(t, func(t *testing.T, h home) {
		ana := h.person("ana")
		var log chattest.Log
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
