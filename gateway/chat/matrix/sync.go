package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

const (
	// listen is how long the homeserver may hold a sync.
	listen = 30 * time.Second
	// page is how many events of a room come at once.
	page = 50
	// maxMissed events of a room are fetched that a sync left out.
	maxMissed = 2000
)

// eventTypes are the types of the events that are used.
var eventTypes = []string{"m.room.message", "m.reaction", "m.room.member", "m.room.name", "m.room.encryption", "m.room.encrypted"}

// syncResponse is the answer to a sync: what is new since the one before.
type syncResponse struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join   map[string]joinedRoom `json:"join"`
		Invite map[string]invitation `json:"invite"`
	} `json:"rooms"`
}

type joinedRoom struct {
	Timeline struct {
		Events  []event `json:"events"`
		Limited bool    `json:"limited"`
		Before  string  `json:"prev_batch"`
	} `json:"timeline"`
}

type invitation struct {
	State struct {
		Events []event `json:"events"`
	} `json:"invite_state"`
}

// Run receives what people do until ctx ends.
func (m *Matrix) Run(ctx context.Context, in chat.Inbox) error {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.background.run(ctx, func(err error) { m.cfg.Log.Info("something small was left undone at the homeserver", "error", err) })
	}()
	defer func() { end(); <-done }()
	pauses := chat.NewBackoff(firstPause)
	for {
		err := m.follow(ctx, in, pauses.Reset)
		if ctx.Err() != nil {
			return nil
		}
		in.Connected(err)
		if isRefused(err) {
			return err
		}
		if !pauses.Wait(ctx, err) {
			return nil
		}
	}
}

// reader hands the events of one connection to an inbox.
type reader struct {
	*Matrix
	in   chat.Inbox
	self account
	// page is how many events of a room come at once.
	page int
}

// follow syncs until that fails, and calls works after each sync.
func (m *Matrix) follow(ctx context.Context, in chat.Inbox, works func()) error {
	self, err := m.whoami(ctx)
	if err != nil {
		return err
	}
	r := reader{Matrix: m, in: in, self: self, page: page}
	for wait := time.Duration(0); ; wait = listen {
		err := r.step(ctx, wait)
		for errors.Is(err, httpapi.ErrTooLong) && r.page > 1 {
			r.page /= 2
			err = r.step(ctx, 0)
		}
		if err != nil {
			return err
		}
		r.page = page
		works()
		if wait == 0 {
			in.Connected(nil)
		}
	}
}

func (m *Matrix) whoami(ctx context.Context) (self account, err error) {
	if err := m.get(ctx, &self, nil, "client", "v3", "account", "whoami"); err != nil {
		return self, err
	}
	if self.ID == "" {
		return self, errors.New("the homeserver does not say whose the access token is")
	}
	err = m.get(ctx, &self, nil, "client", "v3", "profile", self.ID, "displayname")
	if isUnknown(err) { // it has none
		err = nil
	}
	return self, err
}

// step syncs once, hands the events on, and then remembers how far it read.
func (r reader) step(ctx context.Context, wait time.Duration) error {
	key := sinceKey(r.self.ID)
	since := r.cfg.Memory.Recall(key)
	b, err := r.sync(ctx, since, wait)
	if err != nil && since != "" && httpapi.Status(err) == http.StatusBadRequest {
		r.cfg.Log.Warn("the homeserver does not know how far its messages were read; what was written meanwhile is not told", "error", err)
		since = ""
		b, err = r.sync(ctx, since, wait)
	}
	if err != nil {
		return err
	}
	r.acceptInvitations(b.Rooms.Invite, r.self)
	if since != "" { // messages before the first sync are not for bailiff
		for id, room := range b.Rooms.Join {
			if err := r.handleRoom(ctx, id, room, since); err != nil {
				return err
			}
		}
	}
	if b.Next == since {
		return nil
	}
	return r.cfg.Memory.Remember(key, b.Next)
}

// sinceKey is the key under which it is remembered how far an account has read. Keys are
// letters, digits and a few signs.
func sinceKey(account string) string {
	sum := sha256.Sum256([]byte(account))
	return "since-" + hex.EncodeToString(sum[:16])
}

// sync asks for new events. Of the first answer only its end and the invitations are used.
func (r reader) sync(ctx context.Context, since string, wait time.Duration) (b syncResponse, err error) {
	query := url.Values{"timeout": {strconv.FormatInt(wait.Milliseconds(), 10)}, "set_presence": {"offline"}}
	most := r.page
	if since == "" {
		most = 1
		query.Set("timeout", "0")
	} else {
		query.Set("since", since)
	}
	query.Set("filter", filter(most))
	err = r.get(ctx, &b, query, "client", "v3", "sync")
	if err == nil && b.Next == "" {
		err = errors.New("the homeserver does not say where its answer ends")
	}
	return b, err
}

// filter leaves out what is not used.
func filter(most int) string {
	none := map[string]any{"types": []string{}}
	text, _ := json.Marshal(map[string]any{
		"presence": none, "account_data": none,
		"room": map[string]any{
			"account_data": none, "ephemeral": none, "state": none,
			"timeline": map[string]any{"types": eventTypes, "limit": most},
		},
	})
	return string(text)
}

// handleRoom hands on the new events of a room.
func (r reader) handleRoom(ctx context.Context, room string, new joinedRoom, since string) error {
	events := new.Timeline.Events
	if new.Timeline.Limited {
		r.rooms.Take(room) // changes of members may have been left out
		older, err := r.fetchMissed(ctx, room, new.Timeline.Before, since, events)
		if err != nil {
			return err
		}
		events = append(older, events...)
	}
	for _, e := range events[max(0, r.self.arrival(events)):] {
		if err := r.handleSafely(ctx, room, e); err != nil && r.tryAgain(e.ID) {
			return err
		} else if err != nil {
			r.cfg.Log.Warn("an event of a room of Matrix's is skipped, since what belongs to it cannot be had", "room", room, "event", e.ID,
				"error", err)
		}
	}
	return nil
}

// maxTries is how often an event is tried, so that none holds up the others for good.
const maxTries = 4

// tryAgain counts a failure of an event, and says whether to try it again.
func (r reader) tryAgain(id string) bool {
	failed, _ := r.failing.Get(id)
	r.failing.Put(id, failed+1)
	return failed+1 < maxTries
}

// fetchMissed fetches the events that a sync left out: those since the last sync, or since
// the account joined the room.
func (r reader) fetchMissed(ctx context.Context, room, from, since string, came []event) (older []event, err error) {
	types, _ := json.Marshal(map[string]any{"types": eventTypes})
	for from != "" && r.self.arrival(came) < 0 {
		if len(older) >= maxMissed {
			r.warnMissed(room, nil)
			break
		}
		var read struct {
			Chunk []event `json:"chunk"`
			End   string  `json:"end"`
		}
		query := url.Values{"dir": {"b"}, "from": {from}, "to": {since}, "limit": {strconv.Itoa(r.page)}, "filter": {string(types)}}
		if err := r.get(ctx, &read, query, "client", "v3", "rooms", room, "messages"); isFinal(err) {
			r.warnMissed(room, err)
			break
		} else if err != nil {
			return nil, err
		}
		slices.Reverse(read.Chunk)
		came, older = read.Chunk, append(read.Chunk, older...)
		if from == read.End {
			break
		}
		from = read.End
	}
	return older, nil
}

func (r reader) warnMissed(room string, err error) {
	r.cfg.Log.Warn("more was written in a room of Matrix's than can be read again; the oldest of it is not told", "room", room, "error",
		err)
}

// arrival is the index of the account's latest join; -1 if it is not among the events.
// Earlier events are not for bailiff.
func (a account) arrival(events []event) int {
	for i, e := range slices.Backward(events) {
		if e.Type == "m.room.member" && e.StateKey != nil && *e.StateKey == a.ID && membership(e.Content) == "join" &&
			membership(e.About.Before) != "join" {
			return i
		}
	}
	return -1
}

func membership(content json.RawMessage) string {
	var of struct {
		Membership string `json:"membership"`
	}
	_ = json.Unmarshal(content, &of)
	return of.Membership
}

// handleSafely handles an event, so that a panic in one does not hold up the others.
func (r reader) handleSafely(ctx context.Context, room string, e event) error {
	defer chat.LogPanic(r.cfg.Log, "telling an event of a room panicked", "room", room, "event", e.ID)
	return r.handle(ctx, room, e)
}
