package matrixtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func versions(s *Server, _ *request) any {
	return map[string]any{"versions": s.versions}
}

func whoami(_ *Server, r *request) any {
	return map[string]any{"user_id": r.as.id, "device_id": "DEVICE", "is_guest": false}
}

func logout(s *Server, r *request) any {
	delete(s.users, r.as.token)
	s.Wake()
	return struct{}{}
}

func displayName(s *Server, r *request) any {
	u := s.byID(r.PathValue("user"))
	if u == nil || u.name == "" {
		refuse(404, "M_NOT_FOUND", "No row found")
	}
	return map[string]any{"displayname": u.name}
}

func setDisplayName(s *Server, r *request) any {
	var name struct {
		Name string `json:"displayname"`
	}
	r.object(&name)
	if r.PathValue("user") != r.as.id {
		refuse(400, "M_UNKNOWN", "Cannot set another user's displayname")
	}
	r.as.name = name.Name
	for _, room := range s.rooms {
		if room.membership(r.as.id) == "join" {
			s.member(room, r.as.id, r.as.id, "join", map[string]any{"displayname": name.Name})
		}
	}
	return struct{}{}
}

func joinedRooms(s *Server, r *request) any {
	in := []string{}
	for id, room := range s.rooms {
		if room.membership(r.as.id) == "join" {
			in = append(in, id)
		}
	}
	return map[string]any{"joined_rooms": in}
}

func createRoom(s *Server, r *request) any {
	var order struct {
		Name, Preset string
		Direct       bool `json:"is_direct"`
		Invite       []string
		State        []struct {
			Type    string
			Key     string `json:"state_key"`
			Content json.RawMessage
		} `json:"initial_state"`
	}
	r.object(&order)
	if !slices.Contains([]string{"", "private_chat", "trusted_private_chat", "public_chat"}, order.Preset) {
		refuse(400, "M_BAD_JSON", "'%s' is not a valid preset", order.Preset)
	}
	if strings.Contains(string(r.body), `"invite":null`) {
		refuse(500, "M_UNKNOWN", "Internal server error") // as a real one
	}
	room := &room{id: fmt.Sprintf("!room%d:%s", len(s.rooms)+1, Host), state: map[[2]string]*event{}}
	s.rooms[room.id] = room
	none := ""
	s.add(room, r.as.id, "m.room.create", &none, map[string]any{"room_version": "11"})
	s.member(room, r.as.id, r.as.id, "join", map[string]any{"displayname": r.as.name})
	s.add(room, r.as.id, "m.room.power_levels", &none,
		map[string]any{"users": map[string]int{r.as.id: 100}, "users_default": 0, "events_default": 0, "state_default": 50})
	for _, state := range order.State {
		s.add(room, r.as.id, state.Type, &state.Key, state.Content)
	}
	if order.Name != "" {
		s.add(room, r.as.id, "m.room.name", &none, map[string]any{"name": order.Name})
	}
	for _, id := range order.Invite {
		if s.byID(id) == nil {
			refuse(404, "M_NOT_FOUND", "User %s does not exist", id)
		}
		s.member(room, r.as.id, id, "invite", map[string]any{"is_direct": order.Direct})
	}
	return map[string]any{"room_id": room.id}
}

func join(s *Server, r *request) any {
	room := s.rooms[r.PathValue("room")]
	if room == nil {
		refuse(404, "M_NOT_FOUND", "No known servers")
	}
	switch room.membership(r.as.id) {
	case "join":
	case "invite":
		s.member(room, r.as.id, r.as.id, "join", map[string]any{"displayname": r.as.name})
	default:
		refuse(403, "M_FORBIDDEN", "You are not invited to this room.")
	}
	return map[string]any{"room_id": room.id}
}

func leave(s *Server, r *request) any {
	s.member(s.in(r), r.as.id, r.as.id, "leave", nil)
	return struct{}{}
}

func invite(s *Server, r *request) any {
	room := s.in(r)
	var whom struct {
		User string `json:"user_id"`
	}
	r.object(&whom)
	switch {
	case whom.User == "":
		refuse(400, "M_MISSING_PARAM", "Missing params: ['user_id']")
	case room.membership(whom.User) == "join":
		refuse(403, "M_FORBIDDEN", "%s is already in the room.", whom.User)
	}
	s.member(room, r.as.id, whom.User, "invite", nil)
	return struct{}{}
}

func state(s *Server, r *request) any {
	room := s.in(r)
	e := room.state[[2]string{r.PathValue("type"), r.PathValue("key")}]
	if e == nil {
		refuse(404, "M_NOT_FOUND", "Event not found.")
	}
	return e.Content
}

func setState(s *Server, r *request) any {
	room := s.in(r)
	content := map[string]any{}
	r.object(&content)
	key := r.PathValue("key")
	return map[string]any{"event_id": s.add(room, r.as.id, r.PathValue("type"), &key, content).ID}
}

func joinedMembers(s *Server, r *request) any {
	room := s.in(r)
	in := map[string]any{}
	for key, e := range room.state {
		if h := e.held(); key[0] == "m.room.member" && h.Membership == "join" {
			in[key[1]] = map[string]any{"display_name": h.Name}
		}
	}
	return map[string]any{"joined": in}
}

func data(_ *Server, r *request) any {
	if r.PathValue("user") != r.as.id {
		refuse(403, "M_FORBIDDEN", "Cannot get account data for other users.")
	}
	content, known := r.as.data[r.PathValue("type")]
	if !known {
		refuse(404, "M_NOT_FOUND", "Account data not found")
	}
	return content
}

func setData(_ *Server, r *request) any {
	if r.PathValue("user") != r.as.id {
		refuse(403, "M_FORBIDDEN", "Cannot add account data for other users.")
	}
	content := map[string]any{}
	r.object(&content)
	r.as.data[r.PathValue("type")] = r.body
	return struct{}{}
}

func upload(s *Server, r *request) any {
	if r.Header.Get("Content-Type") == "" || len(r.body) == 0 {
		refuse(400, "M_UNKNOWN", "Request must specify a Content-Length and a Content-Type")
	}
	id := fmt.Sprintf("file%d", len(s.files)+1)
	s.files[id] = r.body
	return map[string]any{"content_uri": "mxc://" + Host + "/" + id}
}

func download(s *Server, r *request) any {
	content, known := s.files[r.PathValue("file")]
	if !known || r.PathValue("host") != Host {
		refuse(404, "M_NOT_FOUND", "Not found")
	}
	return content
}
