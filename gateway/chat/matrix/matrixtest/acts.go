package matrixtest

import "strings"

// Room makes a room in which people are with bailiff, and returns its id. People are named
// by their ids or the first part of them; the first one made it.
func (s *Server) Room(name string, people ...string) string {
	s.tb.Helper()
	first := s.client(people[0])
	id := first.NewRoom(name, Bot)
	s.Bailiff().Join(id)
	for _, other := range people[1:] {
		first.Invite(id, s.client(other).ID)
		s.client(other).Join(id)
	}
	return id
}

// Bailiff is a client of bailiff's own account.
func (s *Server) Bailiff() *Person { return s.Person("bailiff") }

func (s *Server) client(user string) *Person {
	local, _, _ := strings.Cut(strings.TrimPrefix(user, "@"), ":")
	return s.Person(local)
}

// Click has a person answer a message by a sign.
func (s *Server) Click(user, room, message, sign string) {
	s.tb.Helper()
	s.client(user).React(room, message, sign)
}

// Messages are the messages of a room in which bailiff is, as people see them by now.
func (s *Server) Messages(room string) []Message {
	s.tb.Helper()
	return s.Bailiff().Messages(room)
}
