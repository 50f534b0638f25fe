package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// threadsSince is the version of Matrix's that has threads, 1.4.
const threadsSince = 4

// Check looks whether the account can do what it must.
func (m *Matrix) Check(ctx context.Context, people []chat.Person) []chat.Finding {
	found := []chat.Finding{{What: "homeserver", Err: m.checkServer(ctx)}}
	self, err := m.whoami(ctx)
	if found = append(found, chat.Finding{What: "token", Err: err}); err != nil {
		return found
	}
	for _, id := range m.configuredRooms() {
		err := m.checkRoom(ctx, self, id)
		found = append(found, chat.Finding{What: "room " + id, Err: err})
	}
	if m.cfg.Approvals == "" {
		return found
	}
	return append(found, m.checkPeople(ctx, people)...)
}

// configuredRooms are the rooms of the configuration.
func (m *Matrix) configuredRooms() []string {
	all := slices.Clone(m.cfg.Rooms)
	if m.cfg.Approvals != "" && !slices.Contains(all, m.cfg.Approvals) {
		all = append([]string{m.cfg.Approvals}, all...)
	}
	return all
}

func (m *Matrix) checkServer(ctx context.Context) error {
	var speaks struct {
		Versions []string `json:"versions"`
	}
	if err := m.get(ctx, &speaks, nil, "client", "versions"); err != nil {
		return err
	}
	for _, version := range speaks.Versions {
		minor, is := strings.CutPrefix(version, "v1.")
		if n, err := strconv.Atoi(minor); is && err == nil && n >= threadsSince {
			return nil
		}
	}
	return fmt.Errorf("it speaks none of the versions from 1.%d on of Matrix's client-server API, which have threads: update it",
		threadsSince)
}

func (m *Matrix) checkRoom(ctx context.Context, self account, id string) error {
	people, err := m.people(ctx, id)
	if _, there := people[self.ID]; isRefused(err) || isUnknown(err) || err == nil && !there {
		return fmt.Errorf("%s is not in the room: invite it there, and it comes as soon as bailiff runs", self.ID)
	}
	if err != nil {
		return err
	}
	var encryption struct{}
	if err := m.state(ctx, &encryption, id, "m.room.encryption", ""); err == nil {
		return errors.New("the room is encrypted, which bailiff cannot read, and stays so for good: make another one without encryption")
	} else if !isUnknown(err) {
		return err
	}
	return m.checkPower(ctx, self, id)
}

// powers are what a room asks for.
type powers struct {
	Users   map[string]power `json:"users"`
	Default power            `json:"users_default"`
	Events  map[string]power `json:"events"`
	Event   power            `json:"events_default"`
}

// power may be a text in old rooms.
type power int

func (p *power) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(text), `" `), 64)
	*p = power(n)
	return err
}

func (m *Matrix) checkPower(ctx context.Context, self account, id string) error {
	var of powers
	err := m.state(ctx, &of, id, "m.room.power_levels", "")
	if isUnknown(err) {
		return nil
	}
	var odd *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &odd) {
		return err
	}
	have, given := of.Users[self.ID]
	if !given {
		have = of.Default
	}
	for _, kind := range []string{"m.room.message", "m.reaction"} {
		want, given := of.Events[kind]
		if !given {
			want = of.Event
		}
		if have < want {
			return fmt.Errorf("%s has power %d in the room and needs %d to send events of the type %s: raise its power in the room's "+
				"settings", self.ID, have, want, kind)
		}
	}
	return nil
}

// checkPeople looks which people would see an approval.
func (m *Matrix) checkPeople(ctx context.Context, people []chat.Person) (found []chat.Finding) {
	there, err := m.people(ctx, m.cfg.Approvals)
	for _, p := range people {
		f := chat.Finding{What: fmt.Sprintf("%s (%s) sees %s", p.Name, p.ID, m.cfg.Approvals), Err: err}
		if _, sees := there[p.ID]; err == nil && !sees {
			f.Err = fmt.Errorf("%s is not in the room: invite them there", p.ID)
		}
		found = append(found, f)
	}
	return found
}
