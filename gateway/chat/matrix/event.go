package matrix

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// event is one of a room, as the homeserver tells it. What it holds is as its sender
// made it, and may be anything.
type event struct {
	ID       string          `json:"event_id"`
	Type     string          `json:"type"`
	Sender   string          `json:"sender"`
	StateKey *string         `json:"state_key"`
	Content  json.RawMessage `json:"content"`
	About    struct {
		Redacted json.RawMessage `json:"redacted_because"`
		Before   json.RawMessage `json:"prev_content"`
	} `json:"unsigned"`
}

// content is what it holds; nothing, where that cannot be read.
func (e event) content() (c content) {
	if json.Unmarshal(e.Content, &c) != nil {
		return content{}
	}
	return c
}

func (e event) isRedacted() bool { return len(e.About.Redacted) > 0 }

// answers are what can be answered to it.
func (e event) answers() []answer { return e.content().Answers }

// thread is the one that it is in; empty outside of threads.
func (c content) thread() string {
	if c.Relates == nil || c.Relates.Type != inThread || !isEvent(c.Relates.Event) {
		return ""
	}
	return c.Relates.Event
}

// isEvent says whether a text can be an event's id. What others relate their events to may
// be any.
func isEvent(id string) bool {
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	return len(id) > 1 && len(id) <= 255 && id[0] == '$' && !strings.ContainsFunc(id, odd)
}

// on is the message to which it is an answer: the one that is quoted, or else that in
// whose thread it is.
func (c content) on() string {
	if c.Relates == nil {
		return ""
	}
	if r := c.Relates.InReply; r != nil && !(c.Relates.Type == inThread && c.Relates.Fallback) {
		return r.Event
	}
	return c.thread()
}

// isTyped says whether a person wrote it for others to read: neither a program nor as
// another wording of an earlier message.
func (c content) isTyped() bool {
	return c.Type == "m.text" && (c.Relates == nil || c.Relates.Type != replaces)
}

// words are what was typed, without the words that are answered, which older clients put
// before it.
func (c content) words() string {
	if c.Relates == nil || c.Relates.InReply == nil || !strings.HasPrefix(c.Body, "> <") {
		return c.Body
	}
	_, rest, _ := strings.Cut(c.Body, "\n\n")
	return rest
}

// command is a text that was typed for bailiff. Some clients keep a line that begins with "/" to
// themselves, so commands are taken with "!" too.
func command(text string) string {
	name, _, _ := strings.Cut(text, " ")
	if bare, is := strings.CutPrefix(name, "!"); is && chat.IsCommand(bare) {
		return "/" + text[1:]
	}
	return text
}

// addressee returns what was typed to an account, without its name at the beginning, and
// whether it was named.
func (a account) addressee(c content) (text string, named bool) {
	text = strings.TrimSpace(c.words())
	told := c.Mentions != nil && slices.Contains(c.Mentions.Users, a.ID)
	local, _, _ := strings.Cut(strings.TrimPrefix(a.ID, "@"), ":")
	if _, rest, is := strings.Cut(text, "](https://matrix.to/#/"+a.ID+")"); is && strings.HasPrefix(text, "[") && told {
		return afterName(rest), true
	}
	for _, name := range []string{a.ID, "@" + a.Name, a.Name, "@" + local, local} {
		if len(name) < 2 || len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
			continue
		}
		rest := text[len(name):]
		if rest == "" || strings.ContainsAny(rest[:1], ":,") || strings.ContainsAny(rest[:1], " \n\t") &&
			(name[0] == '@' || told || c.Mentions == nil) {
			return afterName(rest), true
		}
	}
	return text, told
}

// afterName is what follows a name.
func afterName(rest string) string {
	rest = strings.TrimSpace(rest)
	if rest != "" && strings.ContainsAny(rest[:1], ":,") {
		rest = rest[1:]
	}
	return strings.TrimSpace(rest)
}

// personIn is a user, with their name in a room.
func personIn(r room, id string) chat.Person {
	name := r.names[id]
	if name == "" {
		name, _, _ = strings.Cut(strings.TrimPrefix(id, "@"), ":")
	}
	return chat.Person{ID: id, Name: name}
}
