package slack

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// attempt is what is known of a message that was to be posted, for when it is to be posted
// again.
type attempt struct {
	since time.Time
	// ref is the message, if it is known to be shown; unsure says that it may be.
	ref    chat.Ref
	unsure bool
	// file is the id of its file at Slack; shareUnsure says that it may be shown.
	file, title string
	shareUnsure bool
}

func (a *attempt) shown() bool { return a.ref.Message != "" }

// attempts are the last ones, by their messages' keys.
type attempts struct{ byKey *recent.Map[string, *attempt] }

// mostAttempts bounds what is remembered; whoever posts gives up on the oldest long before.
const mostAttempts = 4096

// take returns what is known of a message, which is for the caller alone then.
func (t *attempts) take(key string) *attempt {
	if a, known := t.byKey.Take(key); known {
		return a
	}
	return &attempt{since: time.Now()}
}

func (t *attempts) keep(key string, a *attempt) {
	if key != "" {
		t.byKey.Put(key, a)
	}
}

// shown are the messages that were there already when a chat was first posted to, by their
// keys.
type shown struct {
	lock sync.Mutex
	at   map[chat.Place]map[string]string
}

func (s *shown) find(at chat.Place, key string) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.at[at][key]
}

func (s *shown) knows(at chat.Place) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.at[at] != nil
}

func (s *shown) learn(at chat.Place, keys map[string]string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.at == nil {
		s.at = map[chat.Place]map[string]string{}
	}
	s.at[at] = keys
}

// keyed is the metadata's type under which a message has its key.
const keyed = "bailiff_message"

// stored is of a message what a look at a chat needs.
type stored struct {
	TS       string `json:"ts"`
	User     string `json:"user"`
	Metadata struct {
		EventType string `json:"event_type"`
		Payload   struct {
			Key string `json:"key"`
		} `json:"event_payload"`
	} `json:"metadata"`
	Blocks []struct {
		ID string `json:"block_id"`
	} `json:"blocks"`
	Files []struct {
		ID string `json:"id"`
	} `json:"files"`
}

// key is a message's own. It is in the metadata, and in the id of the first block as well:
// Slack does not say whether an app sees its own metadata in a history without the right to
// see everybody's.
func (m stored) key() string {
	if m.Metadata.EventType == keyed {
		return m.Metadata.Payload.Key
	}
	if len(m.Blocks) == 0 {
		return ""
	}
	key, ours := strings.CutPrefix(m.Blocks[0].ID, actionPrefix)
	if !ours {
		return ""
	}
	return key
}

const (
	// pageSize and mostPages bound a look at a chat.
	pageSize  = 100
	mostPages = 5
	// clocks is how much this machine's clock and Slack's may differ.
	clocks = 10 * time.Minute
)

// recent goes through the last messages of a place until it was enough. A chat is read from
// its end; a thread can only be read from a time on.
func (c *call) recent(ctx context.Context, at chat.Place, since time.Time, enough func(stored) bool) error {
	oldest := strconv.FormatInt(since.Add(-clocks).Unix(), 10) + ".000000"
	method, arguments := "conversations.history", url.Values{"channel": {at.Chat}, "limit": {strconv.Itoa(pageSize)}, "include_all_metadata": {"true"}}
	if at.Thread != "" {
		method = "conversations.replies"
		arguments.Set("ts", at.Thread)
		arguments.Set("oldest", oldest)
	}
	for range mostPages {
		var page struct {
			Messages []stored `json:"messages"`
			Next     struct {
				Cursor string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := c.ask(ctx, method, arguments, &page); err != nil {
			return err
		}
		for _, m := range page.Messages {
			if at.Thread == "" && m.TS < oldest || enough(m) {
				return nil
			}
		}
		if page.Next.Cursor == "" {
			return nil
		}
		arguments.Set("cursor", page.Next.Cursor)
	}
	return nil
}
