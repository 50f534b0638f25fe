package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// updates are what the bot is to be told.
type updates struct {
	next    int64
	waiting []update
	// again says that the next ones to be confirmed are given once more.
	again   bool
	allowed []string
	poller  *poller
	waits   []int
	hook    hook
	hung    bool

	deliveries sync.WaitGroup
}

type update struct {
	id   int64
	kind string
	body json.RawMessage
}

// poller is who waits in getUpdates.
type poller struct{ ousted chan struct{} }

// hook is a webhook.
type hook struct {
	url, secret string
	since       int // counts the webhooks that there were
	failed      string
	failedAt    int64
}

// Deliver tells the bot an update, whatever it is: of what kind, and its content. It may
// be nonsense.
func (s *Server) Deliver(kind string, content any) { s.Change(func() { s.queue(kind, content) }) }

// queue adds an update; the lock is held.
func (s *Server) queue(kind string, content any) {
	if s.allowed != nil && !slices.Contains(s.allowed, kind) {
		return
	}
	id := s.next
	s.next++
	body, err := json.Marshal(map[string]any{"update_id": id, kind: content})
	if err != nil {
		panic(fmt.Sprintf("an update that is no JSON: %v", err))
	}
	s.waiting = append(s.waiting, update{id, kind, body})
	s.Wake()
}

const conflict = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

func getUpdates(s *Server, c *call) any {
	offset, limit, wait := c.window()
	if s.hook.url != "" {
		panic(&refusal{code: 409,
			words: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"})
	}
	s.allow(c)
	me := s.oust()
	s.waits = append(s.waits, wait)
	s.confirm(offset)
	late := time.After(time.Duration(wait) * time.Second)
	for len(s.waiting) == 0 && wait > 0 && !s.closed {
		changed := s.Changes()
		s.Unlock()
		select {
		case <-changed:
		case <-late:
			wait = 0
		case <-me.ousted:
		case <-c.gone:
			wait = 0
		}
		s.Lock()
		if s.poller != me {
			panic(&refusal{code: 409, words: conflict})
		}
	}
	s.poller = nil
	given := []json.RawMessage{}
	for _, u := range s.waiting[:min(limit, len(s.waiting))] {
		given = append(given, u.body)
	}
	return given
}

// oust ends the poll that is under way, as the service does.
func (s *Server) oust() *poller {
	if s.poller != nil {
		close(s.poller.ousted)
	}
	s.poller = &poller{make(chan struct{})}
	s.Wake()
	return s.poller
}

// confirm forgets what was given before an offset.
func (s *Server) confirm(offset int) {
	n := 0
	for n < len(s.waiting) && offset > 0 && s.waiting[n].id < int64(offset) {
		n++
	}
	if n > 0 && s.again {
		s.again = false // as if this call had not come
	} else if n > 0 {
		s.waiting = slices.Clone(s.waiting[n:])
		s.Wake()
	}
}

func (c *call) window() (offset, limit, wait int) {
	limit = 100
	for name, into := range map[string]*int{"offset": &offset, "limit": &limit, "timeout": &wait} {
		if text := c.values[name]; text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				panic(bad("can't parse %s", name))
			}
			*into = n
		}
	}
	return offset, min(max(limit, 1), 100), min(wait, 50)
}

func (s *Server) allow(c *call) {
	if c.values["allowed_updates"] == "" {
		return
	}
	var kinds []string
	c.part("allowed_updates", &kinds)
	s.allowed = kinds
}

var secrets = regexp.MustCompile(`^[A-Za-z0-9_-]{0,256}$`)

func setWebhook(s *Server, c *call) any {
	address, err := url.Parse(c.values["url"])
	switch {
	case err != nil || c.values["url"] != "" && address.Scheme != "https" && address.Hostname() != "127.0.0.1":
		panic(bad("bad webhook: An HTTPS URL must be provided for webhook"))
	case !secrets.MatchString(c.values["secret_token"]):
		panic(bad("secret token contains unallowed characters"))
	}
	s.allow(c)
	s.setHook(c.values["url"], c.values["secret_token"])
	return true
}

// setHook begins to deliver, or ends it; the lock is held.
func (s *Server) setHook(to, secret string) {
	s.hook = hook{url: to, secret: secret, since: s.hook.since + 1}
	if to != "" {
		since := s.hook.since
		s.deliveries.Go(func() { s.deliver(since) })
	}
	s.Wake()
}

func deleteWebhook(s *Server, c *call) any {
	if c.values["drop_pending_updates"] == "true" {
		s.waiting = nil
	}
	s.setHook("", "")
	return true
}

func getWebhookInfo(s *Server, _ *call) any {
	info := map[string]any{"url": s.hook.url, "has_custom_certificate": false, "pending_update_count": len(s.waiting)}
	if s.hook.failed != "" {
		info["last_error_date"], info["last_error_message"] = s.hook.failedAt, s.hook.failed
	}
	return info
}

// deliver calls a webhook as long as it is the one, with each update until it takes it.
func (s *Server) deliver(since int) {
	client := &http.Client{Timeout: 60 * time.Second}
	pause := 10 * time.Millisecond
	for {
		s.Lock()
		if s.closed || s.hook.since != since {
			s.Unlock()
			return
		}
		changed, h := s.Changes(), s.hook
		var next *update
		if len(s.waiting) > 0 {
			next = &s.waiting[0]
		}
		s.Unlock()
		if next == nil {
			<-changed
			continue
		}
		if failed := s.knock(client, h, next.body); failed != "" {
			s.hookFailed(since, failed)
			time.Sleep(pause) // as the service does, a little longer each time
			pause = min(2*pause, time.Second)
			continue
		}
		pause = 10 * time.Millisecond
		s.delivered(next.id)
	}
}

func (s *Server) knock(client *http.Client, h hook, body []byte) (failed string) {
	s.Lock()
	hung := s.hung
	s.Unlock()
	if hung {
		return "Connection timed out"
	}
	request, err := http.NewRequest(http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return "Wrong URL"
	}
	request.Header.Set("Content-Type", "application/json")
	if h.secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", h.secret)
	}
	response, err := client.Do(request)
	if err != nil {
		return "Connection refused"
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return "Wrong response from the webhook: " + response.Status
	}
	return ""
}

func (s *Server) hookFailed(since int, words string) {
	s.Lock()
	defer s.Unlock()
	if s.hook.since == since {
		s.hook.failed, s.hook.failedAt = words, time.Now().Unix()
		s.Wake()
	}
}

func (s *Server) delivered(id int64) {
	s.Lock()
	defer s.Unlock()
	if s.again {
		s.again = false // its answer was lost, so it comes again
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(u update) bool { return u.id == id })
	s.Wake()
}

// Pending is how many updates the bot has not confirmed.
func (s *Server) Pending() int {
	s.Lock()
	defer s.Unlock()
	return len(s.waiting)
}

// Again has what is confirmed next come once more, as if that had not arrived.
func (s *Server) Again() { s.Change(func() { s.again = true }) }

// Unreachable says whether the last call of the webhook failed.
func (s *Server) Unreachable() bool {
	s.Lock()
	defer s.Unlock()
	return s.hook.failed != ""
}

// Hang has the service find no way to the webhook, until it is said otherwise.
func (s *Server) Hang(on bool) { s.Change(func() { s.hung = on }) }

// Waits are how many seconds each poll was ready to wait.
func (s *Server) Waits() []int {
	s.Lock()
	defer s.Unlock()
	return slices.Clone(s.waits)
}

// Polling says whether the bot waits for updates right now.
func (s *Server) Polling() bool {
	s.Lock()
	defer s.Unlock()
	return s.poller != nil
}
