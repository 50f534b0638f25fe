package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// maxNames is how many people a room may have whose names are kept.
const maxNames = 200

// room is what is known of a room.
type room struct {
	// direct says that bailiff is there with one person only.
	direct bool
	// names are the names that people have there.
	names map[string]string
}

// kind is the kind of a conversation in it.
func (r room) kind(thread string) string {
	switch {
	case r.direct:
		return "dm"
	case thread != "":
		return "thread"
	}
	return "group"
}

// room looks a room up; one that the account has left is empty.
func (m *Matrix) room(ctx context.Context, id string) (room, error) {
	if r, known := m.rooms.Get(id); known {
		return r, nil
	}
	people, err := m.people(ctx, id)
	if isFinal(err) {
		return room{}, nil
	}
	if errors.Is(err, httpapi.ErrTooLong) { // so many people are there
		people, err = nil, nil
	}
	if err != nil {
		return room{}, err
	}
	var r room
	if r.direct, err = m.isDirect(ctx, id, people); err != nil {
		return room{}, err
	}
	if len(people) <= maxNames {
		r.names = people
	}
	m.rooms.Put(id, r)
	return r, nil
}

// isDirect says whether a room is a direct message: two are in it, and it has no name or is
// in the account's list of direct rooms.
func (m *Matrix) isDirect(ctx context.Context, id string, people map[string]string) (bool, error) {
	if len(people) != 2 {
		return false, nil
	}
	if named, err := m.isNamed(ctx, id); err != nil || !named {
		return !named, err
	}
	self, err := m.whoami(ctx)
	if err != nil {
		return false, err
	}
	noted, err := m.directRooms(ctx, self)
	for person, rooms := range noted {
		if _, there := people[person]; there && slices.Contains(rooms, id) {
			return true, nil
		}
	}
	return false, err
}

// people are those in a room, with their names there.
func (m *Matrix) people(ctx context.Context, id string) (map[string]string, error) {
	var in struct {
		Joined map[string]struct {
			Name string `json:"display_name"`
		} `json:"joined"`
	}
	if err := m.get(ctx, &in, nil, "client", "v3", "rooms", id, "joined_members"); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for user, about := range in.Joined {
		names[user] = about.Name
	}
	return names, nil
}

func (m *Matrix) isNamed(ctx context.Context, id string) (bool, error) {
	var state struct {
		Name string `json:"name"`
	}
	err := m.state(ctx, &state, id, "m.room.name", "")
	if isFinal(err) {
		return false, nil
	}
	return state.Name != "", err
}

// state reads a state event of a room.
func (m *Matrix) state(ctx context.Context, into any, room, kind, key string) error {
	return m.get(ctx, into, nil, "client", "v3", "rooms", room, "state", kind, key)
}

// acceptInvitations accepts invitations of users who may give commands, and into rooms of
// the configuration.
func (m *Matrix) acceptInvitations(invitations map[string]invitation, self account) {
	for id, invitation := range invitations {
		by, direct := invitation.by(self)
		if !m.isOurs(id) && !m.isAllowed(by) {
			m.cfg.Log.Info("an invitation was not accepted: only people of matrix.allowed_users invite bailiff into other rooms than "+
				"those of the configuration", "room", id, "by", by)
			continue
		}
		m.background.add(func(ctx context.Context) error { return m.accept(ctx, self, id, by, direct) })
	}
}

// by is the user who invites, and whether to a direct room. It is empty if there is more than
// one: our homeserver checks only the invitation itself, not what another says of the room.
func (i invitation) by(self account) (user string, direct bool) {
	for _, e := range i.State.Events {
		if e.Type != "m.room.member" || e.StateKey == nil || *e.StateKey != self.ID {
			continue
		}
		var how struct {
			Direct bool `json:"is_direct"`
		}
		_ = json.Unmarshal(e.Content, &how)
		if user != "" && user != e.Sender {
			return "", false
		}
		user, direct = e.Sender, how.Direct
	}
	return user, direct
}

func (m *Matrix) accept(ctx context.Context, self account, room, by string, direct bool) error {
	if err := m.do(ctx, http.MethodPost, struct{}{}, nil, "client", "v3", "rooms", room, "join"); err != nil || !direct {
		return err
	}
	return m.remember(ctx, self, by, room)
}

// directRooms are the rooms in which the account is with one person only.
type directRooms struct {
	mu          sync.Mutex                  // held while one is looked for, so that there are not two
	accountData sync.Mutex                  // for as long as the account's note of them changes
	known       *recent.Map[string, string] // by the person
}

func (d *directRooms) forget(room string) {
	d.known.ForgetAll(func(of string) bool { return of == room })
}

// sendPrivately replies to a person in a direct room, or, if that is refused, where they are.
func (m *Matrix) sendPrivately(ctx context.Context, person string, t chat.Text, key string, on chat.Ref) error {
	msg := chat.Message{Text: t}
	at, err := m.privatePlace(ctx, person, on.Place)
	if err == nil {
		_, err = m.Post(ctx, at, msg, key)
	}
	if !isRefused(err) {
		return err
	}
	c := messageContent(msg, on.Thread)
	c.Relates = &relation{InReply: &inReply{on.Message}}
	if on.Thread != "" {
		c.Relates.Type, c.Relates.Event = inThread, on.Thread
	}
	_, err = m.send(ctx, on.Chat, "m.room.message", transaction("reply", key), c)
	return err
}

// privatePlace is a place that only a person reads: where they are, or a direct room.
func (m *Matrix) privatePlace(ctx context.Context, person string, at chat.Place) (chat.Place, error) {
	here, err := m.room(ctx, at.Chat)
	if err != nil || here.direct {
		return at, err
	}
	room, err := m.directRoom(ctx, person)
	return chat.Place{Chat: room}, err
}

// directRoom is the direct room with a person, an existing or a new one.
func (m *Matrix) directRoom(ctx context.Context, person string) (string, error) {
	m.direct.mu.Lock()
	defer m.direct.mu.Unlock()
	if room, known := m.direct.known.Get(person); known {
		return room, nil
	}
	self, err := m.whoami(ctx)
	if err != nil {
		return "", err
	}
	all, err := m.directRooms(ctx, self)
	if err != nil {
		return "", err
	}
	room := ""
	for _, id := range all[person] {
		if room, err = m.isDirectWith(ctx, id, person); err != nil || room != "" {
			break
		}
	}
	if err == nil && room == "" {
		room, err = m.makeDirect(ctx, self, person)
	}
	if err == nil {
		m.direct.known.Put(person, room)
	}
	return room, err
}

// directRooms are those that the account has noted.
func (m *Matrix) directRooms(ctx context.Context, self account) (all map[string][]string, err error) {
	err = m.get(ctx, &all, nil, "client", "v3", "user", self.ID, "account_data", "m.direct")
	if isUnknown(err) || all == nil && err == nil {
		return map[string][]string{}, nil
	}
	return all, err
}

// isDirectWith returns the room if only the person is in it or invited, and else nothing.
func (m *Matrix) isDirectWith(ctx context.Context, id, person string) (string, error) {
	var member struct {
		Membership string `json:"membership"`
	}
	err := m.state(ctx, &member, id, "m.room.member", person)
	if isFinal(err) {
		return "", nil
	}
	if err != nil || member.Membership != "join" && member.Membership != "invite" {
		return "", err
	}
	people, err := m.people(ctx, id)
	delete(people, person)
	if len(people) > 1 {
		return "", err
	}
	return id, err
}

func (m *Matrix) makeDirect(ctx context.Context, self account, person string) (string, error) {
	var made struct {
		ID string `json:"room_id"`
	}
	order := map[string]any{"is_direct": true, "preset": "trusted_private_chat", "invite": []string{person}}
	if err := m.do(ctx, http.MethodPost, order, &made, "client", "v3", "createRoom"); err != nil {
		return "", err
	}
	return made.ID, m.remember(ctx, self, person, made.ID)
}

// remember adds a room to the account's list of direct rooms.
func (m *Matrix) remember(ctx context.Context, self account, person, room string) error {
	m.direct.accountData.Lock()
	defer m.direct.accountData.Unlock()
	all, err := m.directRooms(ctx, self)
	if err != nil || slices.Contains(all[person], room) {
		return err
	}
	all[person] = append(all[person], room)
	return m.do(ctx, http.MethodPut, all, nil, "client", "v3", "user", self.ID, "account_data", "m.direct")
}
