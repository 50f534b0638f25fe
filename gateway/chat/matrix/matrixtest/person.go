package matrixtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Person is a person's client at a homeserver. What it cannot do ends the test.
type Person struct {
	ID, URL, Token string
	tb             testing.TB
}

// NewPerson is the client of an account that there is.
func NewPerson(tb testing.TB, url, id, token string) *Person {
	return &Person{ID: id, URL: url, Token: token, tb: tb}
}

var transactions atomic.Int64

// Do asks the homeserver for something.
func (p *Person) Do(method, path string, body, into any) {
	p.tb.Helper()
	if status, text := p.Try(method, path, body, into); status != http.StatusOK {
		p.tb.Fatalf("%s: %s %s: %d %s", p.ID, method, path, status, text)
	}
}

// Try asks for something that may be refused.
func (p *Person) Try(method, path string, body, into any) (status int, text string) {
	p.tb.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		p.tb.Fatal(err)
	}
	r, err := http.NewRequest(method, p.URL+"/_matrix/"+path, bytes.NewReader(sent)) //nolint:noctx // of a test
	if err != nil {
		p.tb.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.tb.Fatal(err)
	}
	defer answer.Body.Close()
	content, _ := io.ReadAll(answer.Body)
	if into != nil && answer.StatusCode == http.StatusOK {
		if err := json.Unmarshal(content, into); err != nil {
			p.tb.Fatalf("%s %s: %v: %s", method, path, err, content)
		}
	}
	return answer.StatusCode, string(content)
}

// NewRoom makes a room with a name, or without, and invites others into it.
func (p *Person) NewRoom(name string, others ...string) (id string) {
	p.tb.Helper()
	return p.create(map[string]any{"name": name, "preset": "private_chat", "invite": append([]string{}, others...)})
}

// NewDirect makes a direct room with a person.
func (p *Person) NewDirect(other string) (id string) {
	p.tb.Helper()
	return p.create(map[string]any{"preset": "trusted_private_chat", "is_direct": true, "invite": []string{other}})
}

// NewEncrypted makes a room that is encrypted.
func (p *Person) NewEncrypted(others ...string) (id string) {
	p.tb.Helper()
	return p.create(map[string]any{"name": "secret", "invite": append([]string{}, others...), "initial_state": []any{map[string]any{
		"type": "m.room.encryption", "state_key": "", "content": map[string]any{"algorithm": "m.megolm.v1.aes-sha2"}}}})
}

func (p *Person) create(order map[string]any) string {
	p.tb.Helper()
	var made struct {
		ID string `json:"room_id"`
	}
	p.Do("POST", "client/v3/createRoom", order, &made)
	return made.ID
}

// Join accepts an invitation, and Invite makes one.
func (p *Person) Join(room string) {
	p.tb.Helper()
	p.Do("POST", "client/v3/rooms/"+url.PathEscape(room)+"/join", struct{}{}, nil)
}

// Leave leaves a room.
func (p *Person) Leave(room string) {
	p.tb.Helper()
	p.Do("POST", "client/v3/rooms/"+url.PathEscape(room)+"/leave", struct{}{}, nil)
}

// Invite invites a person into a room.
func (p *Person) Invite(room, other string) {
	p.tb.Helper()
	p.Do("POST", "client/v3/rooms/"+url.PathEscape(room)+"/invite", map[string]any{"user_id": other}, nil)
}

// SetState sets what holds in a room.
func (p *Person) SetState(room, kind string, content any) {
	p.tb.Helper()
	p.Do("PUT", "client/v3/rooms/"+url.PathEscape(room)+"/state/"+kind+"/", content, nil)
}

// Send adds any event to a room.
func (p *Person) Send(room, kind string, content any) (id string) {
	p.tb.Helper()
	var sent struct {
		ID string `json:"event_id"`
	}
	txn := strconv.FormatInt(transactions.Add(1), 10) + "." + strconv.FormatInt(time.Now().UnixNano(), 36)
	p.Do("PUT", "client/v3/rooms/"+url.PathEscape(room)+"/send/"+kind+"/"+txn, content, &sent)
	return sent.ID
}

// Write writes a text, in a thread if one is given.
func (p *Person) Write(room, thread, text string, mentioned ...string) (id string) {
	p.tb.Helper()
	content := map[string]any{"msgtype": "m.text", "body": text, "m.mentions": map[string]any{}}
	if len(mentioned) > 0 {
		content["m.mentions"] = map[string]any{"user_ids": mentioned}
	}
	if thread != "" {
		content["m.relates_to"] = map[string]any{"rel_type": "m.thread", "event_id": thread, "is_falling_back": true,
			"m.in_reply_to": map[string]any{"event_id": thread}}
	}
	return p.Send(room, "m.room.message", content)
}

// Reply answers a message by words.
func (p *Person) Reply(room, message, text string) (id string) {
	p.tb.Helper()
	return p.Send(room, "m.room.message", map[string]any{"msgtype": "m.text", "body": text, "m.mentions": map[string]any{},
		"m.relates_to": map[string]any{"m.in_reply_to": map[string]any{"event_id": message}}})
}

// React answers a message by a sign.
func (p *Person) React(room, message, sign string) (id string) {
	p.tb.Helper()
	return p.Send(room, "m.reaction", map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": message,
		"key": sign}})
}

// Redact takes a message away.
func (p *Person) Redact(room, message string) {
	p.tb.Helper()
	p.Do("PUT", "client/v3/rooms/"+url.PathEscape(room)+"/redact/"+url.PathEscape(message)+"/"+strconv.FormatInt(transactions.Add(1), 10),
		struct{}{}, nil)
}

// Rooms are those that they are in.
func (p *Person) Rooms() []string {
	p.tb.Helper()
	var in struct {
		Rooms []string `json:"joined_rooms"`
	}
	p.Do("GET", "client/v3/joined_rooms", nil, &in)
	return in.Rooms
}

// Invitations are the rooms into which they are invited.
func (p *Person) Invitations() (rooms []string) {
	p.tb.Helper()
	var news struct {
		Rooms struct {
			Invite map[string]any `json:"invite"`
		} `json:"rooms"`
	}
	p.Do("GET", "client/v3/sync?timeout=0", nil, &news)
	for id := range news.Rooms.Invite {
		rooms = append(rooms, id)
	}
	return rooms
}

// Message is one, as people see it by now.
type Message struct {
	ID, By, Kind string
	// Thread is the one that it is in, On the message that it answers.
	Thread, On string
	// Text is plain, HTML the same with its styles.
	Text, HTML string
	// File is what is attached, Name its name.
	File []byte
	Name string
	// Mentions are those who are called by it; Silent says that the list is there.
	Mentions []string
	Silent   bool
	// Signs are those that it was answered by, with who did.
	Signs map[string][]string
	// Edits is how many times it was edited.
	Edits int
}

// Messages are those of a room, in their order.
func (p *Person) Messages(room string) (all []Message) {
	p.tb.Helper()
	var events []event
	for from := ""; ; {
		var page struct {
			Chunk []event `json:"chunk"`
			End   string  `json:"end"`
		}
		query := url.Values{"dir": {"b"}, "limit": {"500"}, "filter": {`{"types":["m.room.message","m.reaction"]}`}}
		if from != "" {
			query.Set("from", from)
		}
		p.Do("GET", "client/v3/rooms/"+url.PathEscape(room)+"/messages?"+query.Encode(), nil, &page)
		events = append(events, page.Chunk...)
		if from = page.End; from == "" {
			break
		}
	}
	slices.Reverse(events)
	return p.seen(events)
}

// seen are events as a client shows them.
func (p *Person) seen(events []event) (all []Message) {
	p.tb.Helper()
	at := map[string]int{}
	for _, e := range events {
		h := e.held()
		switch {
		case h.Relates != nil && h.Relates.Type == "m.replace":
			if i, known := at[h.Relates.Event]; known && all[i].By == e.Sender && h.New != nil {
				all[i].show(*h.New)
				all[i].Edits++
			}
		case e.Type == "m.reaction" && h.Relates != nil:
			if i, known := at[h.Relates.Event]; known {
				all[i].Signs[h.Relates.Key] = append(all[i].Signs[h.Relates.Key], e.Sender)
			}
		case e.Type == "m.room.message":
			m := Message{ID: e.ID, By: e.Sender, Signs: map[string][]string{}}
			m.show(h)
			m.relate(h)
			if h.URL != "" {
				m.File = p.file(h.URL)
			}
			at[e.ID], all = len(all), append(all, m)
		}
	}
	return all
}

func (m *Message) show(h held) {
	m.Kind, m.HTML, m.Silent, m.Mentions, m.Text = h.Type, h.Formatted, h.Mentions != nil, nil, ""
	if h.Body != nil {
		m.Text = *h.Body
	}
	if h.Mentions != nil {
		m.Mentions = h.Mentions.Users
	}
	if h.URL != "" {
		m.Name = m.Text
	}
}

func (m *Message) relate(h held) {
	if h.Relates == nil {
		return
	}
	if h.Relates.Type == "m.thread" {
		m.Thread = h.Relates.Event
	}
	if h.Relates.InReply != nil && !h.Relates.Fallback {
		m.On = h.Relates.InReply.Event
	}
}

// file is what lies at an address of a homeserver's.
func (p *Person) file(address string) []byte {
	p.tb.Helper()
	status, text := p.Try("GET", "client/v1/media/download/"+strings.TrimPrefix(address, "mxc://"), nil, nil)
	if status != http.StatusOK {
		p.tb.Fatalf("fetching %s: %d %s", address, status, text)
	}
	return []byte(text)
}

// Await waits until a room's messages are as they should be, and returns them.
func (p *Person) Await(room string, are func([]Message) bool) []Message {
	p.tb.Helper()
	var all []Message
	awaittest.UntilOr(p.tb, func() string { return fmt.Sprintf("the room %s has only %+v", room, all) }, func() bool {
		all = p.Messages(room)
		return are(all)
	})
	return all
}
