package proxy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// serverState is what is known of a server that has started. What is in it is replaced, never
// changed.
type serverState struct {
	files []bailiff.File
	offer []string // of the policies
	// info, instructions and listsTools are what it answered to initialize.
	info         implementation
	instructions string
	listsTools   bool
	// tools are those that it listed last, by their names; nil where that is not known any more.
	tools   map[string]*tool
	order   []string
	trusted bool
}

// implementation is how a program names itself.
type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Title   string `json:"title,omitzero"`
}

// start starts the server in its sandbox, or reaches it, and returns once it reads.
func (s *session) start(ctx context.Context) *fault {
	req := s.request(bailiff.Args{Workdir: s.opening.Workdir, Background: true})
	req.Tool, req.Env = bailiff.Terminal, s.opening.Env
	up := make(chan []bailiff.File, 1)
	if isURL(s.opening.Command) {
		req.Args.Command, req.Args.URL = fetching(s.opening.Command[0]), s.opening.Command[0]
		s.running.Go(func() { s.reach(req, up) })
	} else {
		req.Args.Command = shellquote.Join(s.opening.Command...)
		s.running.Go(func() { s.host(req, up) })
	}
	select {
	case files := <-up:
		offer, err := s.sidecar.OfferedByMCP(ctx, s.request(bailiff.Args{Arguments: "{}"}))
		if err != nil {
			return &fault{Code: codeRefused, Message: bailiff.Sentence("asking the policies: " + err.Error())}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.server = &serverState{files: files, offer: offer}
		return nil
	case <-s.ended:
		return &fault{Code: codeRefused, Message: s.lastWords()}
	case <-ctx.Done():
		return &fault{Code: codeRefused, Message: "The start of the server was given up."}
	}
}

// host has the server run in its sandbox, to its end.
func (s *session) host(req bailiff.Request, up chan<- []bailiff.File) {
	answer, err := s.sidecar.ServeMCP(s.ctx, req, func(p bailiff.Progress) {
		switch {
		case p.Say != nil:
			s.running.Go(func() { s.speak(p.Say) })
			up <- p.Files
		case p.Line != nil:
			s.takeFromServer(p.Line)
		case p.LongLine != nil:
			s.takeLongLine(p.LongLine)
		case len(p.Output) > 0:
			s.log.Debug("an MCP server printed", "session", s.id, "text", bailiff.Beginning(string(p.Output), 1000))
		}
	})
	s.over(answer, err)
}

// speak passes lines on to the server until it ends.
func (s *session) speak(say func([]byte) error) {
	for {
		select {
		case line := <-s.outbox:
			if say(line) != nil {
				return // it is ending
			}
		case <-s.ended:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// over notes how the server ended, or why it never started. Its client learns of it by the end
// of the connection, once what it waits for is answered.
func (s *session) over(answer bailiff.Answer, err error) {
	words := answer.Message
	switch {
	case err != nil:
		words = bailiff.Sentence(err.Error())
	case answer.Status == bailiff.Refused && len(answer.Decision.Denials) > 0:
		words = "The policies do not let it start: " + bailiff.Sentences(answer.Decision.ForSender().Denials)
	case answer.Status == bailiff.Completed:
		words = fmt.Sprintf("The MCP server ended with status %d. %s", answer.ExitCode, bailiff.Sentence(tail(string(answer.Output))))
	}
	s.mu.Lock()
	s.words = strings.TrimSpace(words)
	wasUp := s.server != nil
	s.mu.Unlock()
	close(s.ended)
	if wasUp && s.ctx.Err() == nil {
		s.log.Info("an MCP server ended", "session", s.id, "words", s.words)
		go s.hangUp()
	}
}

// tail is the end of what a server printed.
func tail(text string) string {
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[max(0, len(text)-500):], "")
}

// hangUp ends the connection once what runs is answered.
func (s *session) hangUp() {
	for range maxCalls {
		select {
		case s.places <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
	}
	s.writing.Lock() // with the last place an answer began to be written
	defer s.writing.Unlock()
	s.cancel()
}

func (s *session) lastWords() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.words
}

// takeFromServer takes one line of the server.
func (s *session) takeFromServer(line []byte) {
	m, k, f := read(line)
	switch {
	case f != nil:
		s.log.Debug("a line of an MCP server that is no message was dropped", "session", s.id, "error", f.Message)
	case k == response:
		s.deliver(s.atServer, m)
	case k == request:
		s.takeWish(m)
	case k == notification:
		s.takeServerNotice(m)
	}
}

var (
	idAtHead = regexp.MustCompile(`^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*([0-9]{1,18})\s*[,}]`)
	idAtTail = regexp.MustCompile(`,\s*"id"\s*:\s*([0-9]{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// takeLongLine fails the request that a line which was too long answers, as far as its ends tell
// which. A server that lies about it fails another request of the same client.
func (s *session) takeLongLine(line *bailiff.LongLine) {
	id := idAtHead.FindSubmatch(line.Head)
	if id == nil {
		id = idAtTail.FindSubmatch(line.Tail)
	}
	s.log.Info("an MCP server said a line of more than 8 MiB, which was dropped", "session", s.id, "answer", id != nil)
	if id != nil {
		s.deliver(s.atServer, message{ID: id[1], Error: faultOf(codeRefused, "The server's answer has more than 8 MiB, and was dropped: "+
			"ask for less.")})
	}
}

// takeWish answers a request of the server, if need be by asking the client.
func (s *session) takeWish(m message) {
	if m.Method == "ping" {
		s.offer(message{ID: m.ID, Result: jsontext.Value("{}")})
		return
	}
	st := s.state()
	if st == nil || fromServer[m.Method] == "" || !slices.Contains(st.offer, m.Method) {
		s.offer(message{ID: m.ID, Error: faultOf(codeMethod, "The client does not take %s.", bailiff.Beginning(m.Method, 64))})
		return
	}
	select {
	case s.wishes <- struct{}{}:
	default:
		s.offer(message{ID: m.ID, Error: faultOf(codeRefused, "Too many requests wait for the client.")})
		return
	}
	s.running.Go(func() {
		defer func() { <-s.wishes }()
		result, f := s.carryMethod(s.ctx, m.Method, withoutMeta(m.Params), func(ctx context.Context) (jsontext.Value, *fault) {
			return s.askClient(ctx, m.Method, withoutMeta(m.Params))
		})
		if f != nil {
			result = nil
		}
		s.say(s.ctx, message{ID: m.ID, Result: result, Error: f})
	})
}

// takeServerNotice passes on what the client may hear of.
func (s *session) takeServerNotice(m message) {
	st := s.state()
	switch {
	case st == nil:
	case m.Method == "notifications/tools/list_changed":
		s.recheck()
	case m.Method == "notifications/progress":
		s.passProgress(m.Params)
	case notices[m.Method] != "" && st.trusted && hasBeginning(st.offer, notices[m.Method]):
		s.notify(message{Method: m.Method, Params: withoutMeta(m.Params)})
	}
}

const (
	// maxNotice bounds the parameters of a notification of the server, in bytes.
	maxNotice = 16 << 10
	// maxNotices bounds those of all that the client is told between two of its requests.
	maxNotices = 256 << 10
)

// notify tells the client what the server notifies it of, as far as that is bounded.
func (s *session) notify(m message) {
	line := len(m.line())
	s.mu.Lock()
	passes := line <= maxNotice && s.noticeBytes+line <= maxNotices
	if passes {
		s.noticeBytes += line
	}
	s.mu.Unlock()
	if !passes {
		s.log.Debug("a notification of an MCP server was dropped: it says too much", "session", s.id, "method", m.Method)
		return
	}
	s.tell(m)
}

// passProgress tells the client of a call that it wants to hear of.
func (s *session) passProgress(params jsontext.Value) {
	var of struct {
		Token    jsontext.Value `json:"progressToken"`
		Progress float64        `json:"progress"`
		Total    float64        `json:"total,omitzero"`
		Message  string         `json:"message,omitzero"`
	}
	if json.Unmarshal(params, &of) != nil {
		return
	}
	id, err := strconv.ParseInt(string(of.Token), 10, 64)
	s.mu.Lock()
	p := s.atServer[id]
	s.mu.Unlock()
	if err != nil || p == nil || len(p.token) == 0 {
		return
	}
	of.Token = p.token
	s.notify(message{Method: "notifications/progress", Params: jsonOf(of)})
}

// forget forgets the tools, so that they are read anew before anything is called, and returns
// whether the client should hear of it: it did already where they were forgotten before.
func (s *session) forget() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil || s.server.info.Name == "" {
		return false
	}
	next, isListed := *s.server, s.server.tools != nil
	next.tools, next.trusted = nil, false
	s.server = &next
	return isListed
}

// recheck has the client list the tools anew.
func (s *session) recheck() {
	if s.forget() {
		s.tellOfTools()
	}
}

func (s *session) tellOfTools() { s.tell(message{Method: "notifications/tools/list_changed"}) }

// withoutMeta are parameters without what programs add for themselves, which nothing judges.
func withoutMeta(params jsontext.Value) jsontext.Value { return jsonOf(members(params)) }

// members are those of parameters, but for what programs add for themselves; none of what is no
// object.
func members(params jsontext.Value) map[string]any {
	var all map[string]jsontext.Value
	if len(params) == 0 || json.Unmarshal(params, &all) != nil {
		return map[string]any{}
	}
	delete(all, "_meta")
	values := make(map[string]any, len(all))
	for name, value := range all {
		values[name] = value
	}
	return values
}
