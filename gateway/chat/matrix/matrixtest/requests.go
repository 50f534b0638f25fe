package matrixtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func versions(s *Server, _ *request) (any, *refusal) {
	return map[string]any{"versions": s.versions}, nil
}

func whoami(_ *Server, r *request) (any, *refusal) {
	return map[string]any{"user_id": r.as.id, "device_id": "DEVICE", "is_guest": false}, nil
}

func logout(s *Server, r *request) (any, *refusal) {
	delete(s.users, r.as.token)
	s.wake()
	return struct{}{}, nil
}

func displayName(s *Server, r *request) (any, *refusal) {
	for _, u := range s.users {
		if u.id == r.args["user"] && u.name != "" {
			return map[string]any{"displayname": u.name}, nil
		}
	}
	return nil, no(404, "M_NOT_FOUND", "No row found")
}

func setDisplayName(s *Server, r *request) (any, *refusal) {
	var name struct {
		Name string `json:"displayname"`
	}
	if no := r.object(&name); no != nil {
		return nil, no
	}
	if r.args["user"] != r.as.id {
		return nil, no(400, "M_UNKNOWN", "Cannot set another user's displayname")
	}
	r.as.name = name.Name
	for _, room := range s.rooms {
		if room.membership(r.as.id) == "join" {
			s.member(room, r.as.id, r.as.id, "join", map[string]any{"displayname": name.Name})
		}
	}
	return struct{}{}, nil
}

func joinedRooms(s *Server, r *request) (any, *refusal) {
	in := []string{}
	for id, room := range s.rooms {
		if room.membership(r.as.id) == "join" {
			in = append(in, id)
		}
	}
	return map[string]any{"joined_rooms": in}, nil
}

func createRoom(s *Server, r *request) (any, *refusal) {
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
	if no := r.object(&order); no != nil {
		return nil, no
	}
	if !slices.Contains([]string{"", "private_chat", "trusted_private_chat", "public_chat"}, order.Preset) {
		return nil, no(400, "M_BAD_JSON", "'%s' is not a valid preset", order.Preset)
	}
	if strings.Contains(string(r.body), `"invite":null`) {
		return nil, no(500, "M_UNKNOWN", "Internal server error") // as a real one
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
		if !slices.ContainsFunc(s.known(), func(known string) bool { return known == id }) {
			return nil, no(404, "M_NOT_FOUND", "User %s does not exist", id)
		}
		s.member(room, r.as.id, id, "invite", map[string]any{"is_direct": order.Direct})
	}
	return map[string]any{"room_id": room.id}, nil
}

func (s *Server) known() (ids []string) {
	for _, u := range s.users {
		ids = append(ids, u.id)
	}
	return ids
}

func join(s *Server, r *request) (any, *refusal) {
	room := s.rooms[r.args["room"]]
	if room == nil {
		return nil, no(404, "M_NOT_FOUND", "No known servers")
	}
	switch room.membership(r.as.id) {
	case "join":
	case "invite":
		s.member(room, r.as.id, r.as.id, "join", map[string]any{"displayname": r.as.name})
	default:
		return nil, no(403, "M_FORBIDDEN", "You are not invited to this room.")
	}
	return map[string]any{"room_id": room.id}, nil
}

func leave(s *Server, r *request) (any, *refusal) {
	if _, no := s.in(r); no != nil {
		return nil, no
	}
	s.member(s.rooms[r.args["room"]], r.as.id, r.as.id, "leave", nil)
	return struct{}{}, nil
}

func invite(s *Server, r *request) (any, *refusal) {
	room, no_ := s.in(r)
	var whom struct {
		User string `json:"user_id"`
	}
	no_ = cmp.Or(no_, r.object(&whom))
	switch {
	case no_ != nil:
		return nil, no_
	case whom.User == "":
		return nil, no(400, "M_MISSING_PARAM", "Missing params: ['user_id']")
	case room.membership(whom.User) == "join":
		return nil, no(403, "M_FORBIDDEN", "%s is already in the room.", whom.User)
	}
	s.member(room, r.as.id, whom.User, "invite", nil)
	return struct{}{}, nil
}

func state(s *Server, r *request) (any, *refusal) {
	room, no_ := s.in(r)
	if no_ != nil {
		return nil, no_
	}
	e := room.state[[2]string{r.args["type"], r.args["key"]}]
	if e == nil {
		return nil, no(404, "M_NOT_FOUND", "Event not found.")
	}
	return e.Content, nil
}

func setState(s *Server, r *request) (any, *refusal) {
	room, no := s.in(r)
	content := map[string]any{}
	if no = cmp.Or(no, r.object(&content)); no != nil {
		return nil, no
	}
	key := r.args["key"]
	return map[string]any{"event_id": s.add(room, r.as.id, r.args["type"], &key, content).ID}, nil
}

func joinedMembers(s *Server, r *request) (any, *refusal) {
	room, no := s.in(r)
	if no != nil {
		return nil, no
	}
	in := map[string]any{}
	for key, e := range room.state {
		if h := e.held(); key[0] == "m.room.member" && h.Membership == "join" {
			in[key[1]] = map[string]any{"display_name": h.Name}
		}
	}
	return map[string]any{"joined": in}, nil
}

func data(_ *Server, r *request) (any, *refusal) {
	if r.args["user"] != r.as.id {
		return nil, no(403, "M_FORBIDDEN", "Cannot get account data for other users.")
	}
	content, known := r.as.data[r.args["type"]]
	if !known {
		return nil, no(404, "M_NOT_FOUND", "Account data not found")
	}
	return content, nil
}

func setData(_ *Server, r *request) (any, *refusal) {
	if r.args["user"] != r.as.id {
		return nil, no(403, "M_FORBIDDEN", "Cannot add account data for other users.")
	}
	content := map[string]any{}
	if no := r.object(&content); no != nil {
		return nil, no
	}
	r.as.data[r.args["type"]] = r.body
	return struct{}{}, nil
}

func upload(s *Server, r *request) (any, *refusal) {
	if r.Header.Get("Content-Type") == "" || len(r.body) == 0 {
		return nil, no(400, "M_UNKNOWN", "Request must specify a Content-Length and a Content-Type")
	}
	id := fmt.Sprintf("file%d", len(s.files)+1)
	s.files[id] = r.body
	return map[string]any{"content_uri": "mxc://" + Host + "/" + id}, nil
}

func download(s *Server, r *request) (any, *refusal) {
	content, known := s.files[r.args["file"]]
	if !known || r.args["host"] != Host {
		return nil, no(404, "M_NOT_FOUND", "Not found")
	}
	return content, nil
}
