package telegramtest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// The bot.
const (
	BotID   = 7000000001
	BotName = "bailiff_test_bot"
)

// Server is the service.
type Server struct {
	// Token is the bot's.
	Token string

	tb   testing.TB
	http *httptest.Server

	chattest.Faults[Fault]
	chattest.Signal

	closed  bool
	chats   map[int64]*room
	queries map[string]*query
	told    map[int64][]string
	privacy bool
	menu    []string
	updates
}

// Fault is how a call fails. The zero value is that it does not.
type Fault struct {
	// Code is what is answered instead, as 429 or 502, After what retry_after says, Words
	// the description, if that is not the usual one.
	Code, After int
	Words       string
	// HTML says that the answer is not the Bot API's, but of something in between.
	HTML bool
	// Drop breaks the connection without an answer.
	Drop bool
	// Late says that the call has its effect all the same.
	Late bool
}

// New starts a server, which ends with the test.
func New(tb testing.TB) *Server {
	s := &Server{
		Token: fmt.Sprintf("%d:AAtest-TOKEN_of-a-bot-%x", BotID, 0xbeefcafe), tb: tb,
		chats: map[int64]*room{}, queries: map[string]*query{}, told: map[int64][]string{}, privacy: true,
		updates: updates{next: 81000001},
	}
	tb.Cleanup(s.deliveries.Wait)
	s.http = chattest.Serve(tb, s, func() { s.Change(func() { s.closed = true }) })
	return s
}

// URL is the Bot API's address.
func (s *Server) URL() string { return s.http.URL }

// call is one of a method.
type call struct {
	method string
	values map[string]string
	files  map[string]file
	gone   <-chan struct{}
}

type file struct {
	name    string
	content []byte
}

// refusal is how the service says no.
type refusal struct {
	code    int
	words   string
	after   int
	migrate int64
}

func bad(words string, args ...any) *refusal {
	return &refusal{code: 400, words: "Bad Request: " + fmt.Sprintf(words, args...)}
}

var path = regexp.MustCompile(`^/bot([^/]+)/([A-Za-z]+)$`)

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found := path.FindStringSubmatch(r.URL.Path)
	switch {
	case found == nil:
		refuse(w, &refusal{code: 404, words: "Not Found"})
		return
	case found[1] != s.Token:
		refuse(w, &refusal{code: 401, words: "Unauthorized"})
		return
	case r.Method != http.MethodGet && r.Method != http.MethodPost:
		refuse(w, &refusal{code: 405, words: "Method Not Allowed"})
		return
	}
	m, known := methods[found[2]]
	if !known {
		refuse(w, &refusal{code: 404, words: "Not Found: method not found"})
		return
	}
	c, err := read(r)
	if err != nil {
		refuse(w, bad("%v", err))
		return
	}
	c.method = found[2]
	s.hold(c, m)
	s.answer(w, c, m)
}

// hold fails the test where a call has what its method does not.
func (s *Server) hold(c *call, m method) {
	for name := range c.values {
		if !slices.Contains(m.takes, name) {
			s.tb.Errorf("telegram: %s was called with %s, which it does not have", c.method, name)
		}
	}
	for name := range c.files {
		if !slices.Contains(m.takes, name) {
			s.tb.Errorf("telegram: %s was called with a file %s, which it does not have", c.method, name)
		}
	}
}

func (s *Server) answer(w http.ResponseWriter, c *call, m method) {
	f := s.Next(c.method)
	fails := f.Code != 0 || f.Drop
	if fails && !f.Late {
		fault(w, f)
		return
	}
	result, no := chattest.Answer[refusal](func() (result any) {
		s.Change(func() { result = m.do(s, c) })
		return result
	})
	switch {
	case fails:
		fault(w, f)
	case no != nil:
		refuse(w, no)
	default:
		reply(w, 200, map[string]any{"ok": true, "result": result})
	}
}

func fault(w http.ResponseWriter, f Fault) {
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = io.WriteString(w, "<html><body>"+f.Words+"</body></html>")
		return
	case f.Words == "" && f.Code == 429:
		f.Words = fmt.Sprintf("Too Many Requests: retry after %d", f.After)
	case f.Words == "":
		f.Words = http.StatusText(f.Code)
	}
	refuse(w, &refusal{code: f.Code, words: f.Words, after: f.After})
}

func refuse(w http.ResponseWriter, no *refusal) {
	body := map[string]any{"ok": false, "error_code": no.code, "description": no.words}
	parameters := map[string]any{}
	if no.after > 0 {
		parameters["retry_after"] = no.after
	}
	if no.migrate != 0 {
		parameters["migrate_to_chat_id"] = no.migrate
	}
	if len(parameters) > 0 {
		body["parameters"] = parameters
	}
	reply(w, no.code, body)
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// read takes the parameters of a call from wherever they may be.
func read(r *http.Request) (*call, error) {
	c := &call{values: map[string]string{}, files: map[string]file{}, gone: r.Context().Done()}
	c.take(r.URL.Query())
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "multipart/form-data":
		return c, c.form(r)
	case "application/json":
		return c, c.json(r.Body)
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		c.take(r.PostForm)
	}
	return c, nil
}

func (c *call) take(values url.Values) {
	for name, value := range values {
		c.values[name] = value[0]
	}
}

func (c *call) form(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return nil // as of a form without any part, which the service takes as empty
		}
		content, err := io.ReadAll(io.LimitReader(part, 50<<20))
		if err != nil {
			return err
		}
		if part.FileName() != "" {
			c.files[part.FormName()] = file{part.FileName(), content}
			continue
		}
		c.values[part.FormName()] = string(content)
	}
}

func (c *call) json(body io.Reader) error {
	var values map[string]json.RawMessage
	if err := json.NewDecoder(body).Decode(&values); err != nil {
		return fmt.Errorf("can't parse request: %w", err)
	}
	for name, raw := range values {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		c.values[name] = text
	}
	return nil
}

// part reads a parameter that is JSON; one that is missing changes nothing.
func (c *call) part(name string, into any) {
	if c.values[name] == "" {
		return
	}
	if err := json.NewDecoder(strings.NewReader(c.values[name])).Decode(into); err != nil {
		panic(bad("can't parse %s JSON object", name))
	}
}
