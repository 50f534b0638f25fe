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

// delivery is the state of a message that is being posted, for when it is posted again.
type delivery struct {
	since time.Time
	// ref is the message, if it is known to be shown; unsure says that it may be.
	ref    chat.Ref
	unsure bool
	// file is the id of its file at Slack; shareUnsure says that it may be shown.
	file, title string
	shareUnsure bool
}

func (a *delivery) shown() bool { return a.ref.Message != "" }

// deliveries are the latest deliveries, by their messages' keys.
type deliveries struct {
	byKey *recent.Map[string, *delivery]
}

// maxDeliveries are remembered; package chat gives up on older ones long before.
const maxDeliveries = 4096

// take removes and returns a message's delivery, so that only the caller has it.
func (t *deliveries) take(key string) *delivery {
	if a, known := t.byKey.Take(key); known {
		return a
	}
	return &delivery{since: time.Now()}
}

func (t *deliveries) keep(key string, a *delivery) {
	if key != "" {
		t.byKey.Put(key, a)
	}
}

// history are the messages that were shown when a chat was first posted to, by their keys.
type history struct {
	lock sync.Mutex
	at   map[chat.Place]map[string]string
}

func (s *history) find(at chat.Place, key string) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.at[at][key]
}

func (s *history) knows(at chat.Place) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.at[at] != nil
}

func (s *history) learn(at chat.Place, keys map[string]string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.at == nil {
		s.at = map[chat.Place]map[string]string{}
	}
	s.at[at] = keys
}

// metadataType is the type of the metadata that hold a message's key.
const metadataType = "bailiff_message"

// historyMessage is a message in a chat's history.
type historyMessage struct {
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

// key is a message's own key. It is in the metadata and in the id of the first block: Slack
// does not say whether an app without the right to see all metadata sees its own.
func (m historyMessage) key() string {
	if m.Metadata.EventType == metadataType {
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
	pageSize = 100
	maxPages = 5
	// clockSkew is how much this machine's clock and Slack's may differ.
	clockSkew = 10 * time.Minute
)

// recent reads the latest messages of a place until enough says so. A chat is read from its
// end; a thread can only be read from a time on.
func (c *call) recent(ctx context.Context, at chat.Place, since time.Time, enough func(historyMessage) bool) error {
	oldest := strconv.FormatInt(since.Add(-clockSkew).Unix(), 10) + ".000000"
	method, arguments := "conversations.history", url.Values{"channel": {at.Chat}, "limit": {strconv.Itoa(pageSize)},
		"include_all_metadata": {"true"}}
	if at.Thread != "" {
		method = "conversations.replies"
		arguments.Set("ts", at.Thread)
		arguments.Set("oldest", oldest)
	}
	for range maxPages {
		var page struct {
			Messages []historyMessage `json:"messages"`
			Next     struct {
				Cursor string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := c.do(ctx, method, arguments, &page); err != nil {
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
