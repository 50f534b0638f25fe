package matrix

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Config says which account bailiff has, and where it is used.
type Config struct {
	// URL is the homeserver's address.
	URL string
	// Token reads the account's access token; it is asked for it at each call.
	Token func() (bailiff.Secret, error)
	// Roots are the authorities that may certify the homeserver; nil are this machine's.
	Roots *x509.CertPool
	// Approvals is the id of the room in which approvals are posted; empty if none are.
	Approvals string
	// Rooms are the ids of further rooms of the configuration. An invitation into them, and
	// into the room of approvals, is accepted from everyone.
	Rooms []string
	// AllowedUsers are the ids of users whose invitations are accepted; "*" is all users.
	AllowedUsers []string
	// Memory keeps how far the account has read.
	Memory chat.Memory
	Log    *slog.Logger
}

// How much is known at least of messages that ask, and of rooms.
const (
	mostAsking = 4096
	mostRooms  = 1024
)

// Matrix is an account at a homeserver.
type Matrix struct {
	cfg    Config
	client *httpapi.Client
	// asking are messages with what can be answered to them.
	asking *recent.Map[string, question]
	rooms  *recent.Map[string, room]
	// direct are the rooms of people, by their ids.
	direct     *directRooms
	background backgroundCalls
	failing    *recent.Map[string, int]      // how often events failed
	informed   *recent.Map[string, struct{}] // the rooms of which it was said that they are encrypted
}

var (
	_ chat.Platform = (*Matrix)(nil)
	_ chat.Checker  = (*Matrix)(nil)
)

// account is bailiff's account at the homeserver.
type account struct {
	ID   string `json:"user_id"`
	Name string `json:"displayname"`
}

// New makes the account's client, without a call to the homeserver.
func New(cfg Config) (*Matrix, error) {
	absent := map[string]bool{"URL": cfg.URL == "", "Token": cfg.Token == nil, "Memory": cfg.Memory == nil, "Log": cfg.Log == nil}
	if err := required.Fields("matrix", absent); err != nil {
		return nil, err
	}
	for _, id := range append(slices.Clone(cfg.Rooms), cfg.Approvals) {
		if id != "" && !strings.HasPrefix(id, "!") {
			return nil, errors.New("matrix names the room " + bailiff.Foreign(id) +
				", want its id, which begins with \"!\": it stands in the room's settings, under Advanced")
		}
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	return &Matrix{
		cfg: cfg,
		client: httpapi.New(httpapi.Config{Name: "the homeserver", Credential: cfg.Token, Roots: cfg.Roots, Reason: reason,
			After: after}),
		asking:     recent.New[string, question](mostAsking),
		rooms:      recent.New[string, room](mostRooms),
		informed:   recent.New[string, struct{}](mostRooms),
		failing:    recent.New[string, int](mostRooms),
		direct:     &directRooms{known: recent.New[string, string](mostRooms)},
		background: make(backgroundCalls, maxBackgroundCalls),
	}, nil
}

// Post shows a message, and its file as a message that answers it. The signs of its
// buttons follow later: a homeserver takes only so many events at a time, and the message
// can be answered without them.
func (m *Matrix) Post(ctx context.Context, at chat.Place, msg chat.Message, key string) (ref chat.Ref, err error) {
	var uri string
	if msg.File != nil { // first, since no member sees it yet should the homeserver refuse it
		if uri, err = m.upload(ctx, *msg.File); err != nil {
			return ref, err
		}
	}
	id, err := m.send(ctx, at.Chat, "m.room.message", transaction("message", key), messageContent(msg, at.Thread))
	if err != nil {
		return ref, err
	}
	ref = chat.Ref{Place: at, Message: id}
	if msg.File != nil {
		_, err := m.send(ctx, at.Chat, "m.room.message", transaction("file", key), fileContent(ref, *msg.File, uri))
		if err != nil { // neither busy nor refused, which would say that nothing is shown
			return chat.Ref{}, errors.New("showing the file of a message that is shown: " + err.Error())
		}
	}
	if answers := answersOf(msg.Buttons); len(answers) > 0 {
		m.asking.Put(at.Chat+id, question{ref: ref, answers: answers})
		m.addReactions(ref, answers, key)
	}
	return ref, nil
}

// addReactions reacts to a message with each sign that answers it, as long as it asks.
func (m *Matrix) addReactions(to chat.Ref, answers []answer, key string) {
	m.background.add(func(ctx context.Context) error {
		for _, a := range answers {
			q, _ := m.asking.Get(to.Chat + to.Message)
			if q.over || a.Sign == "" {
				continue
			}
			_, err := m.send(ctx, to.Chat, "m.reaction", transaction("sign", key+"\x00"+a.Sign), reaction(to.Message, a.Sign))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Edit shows another message in the place of one. The homeserver keeps both; it would
// also take an edit of what is no more, so that is looked up.
func (m *Matrix) Edit(ctx context.Context, at chat.Ref, msg chat.Message) error {
	e, err := m.event(ctx, at.Chat, at.Message)
	switch {
	case isUnknown(err) || err == nil && e.isRedacted():
		return chat.ErrGone
	case err != nil:
		return err
	}
	if len(msg.Buttons) == 0 {
		m.asking.Put(at.Chat+at.Message, question{ref: at, answers: e.answers(), over: true})
	}
	_, err = m.send(ctx, at.Chat, "m.room.message", unique(), editContent(at.Message, msg))
	return err
}

// Thread is the one that a message is in, or begins.
func (m *Matrix) Thread(_ context.Context, from chat.Ref, _ string) (chat.Place, error) {
	if from.Thread != "" {
		return from.Place, nil
	}
	return chat.Place{Chat: from.Chat, Thread: from.Message}, nil
}

// isOurs says whether a room is one of the configuration.
func (m *Matrix) isOurs(room string) bool {
	return room == m.cfg.Approvals || slices.Contains(m.cfg.Rooms, room)
}

// isAllowed says whether a user may give commands.
func (m *Matrix) isAllowed(user string) bool {
	return slices.Contains(m.cfg.AllowedUsers, user) || slices.Contains(m.cfg.AllowedUsers, "*")
}

// address is the URL of a call, with its parts escaped.
func (m *Matrix) address(parts ...string) string {
	all := m.cfg.URL + "/_matrix"
	for _, part := range parts {
		all += "/" + url.PathEscape(part)
	}
	return all
}
