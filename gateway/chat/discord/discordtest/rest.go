package discordtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// refusal is a no as Discord says it.
type refusal struct {
	status, code int
	message      string
}

var (
	unauthorized       = &refusal{401, 0, "401: Unauthorized"}
	unknownChannel     = &refusal{404, 10003, "Unknown Channel"}
	unknownGuild       = &refusal{404, 10004, "Unknown Guild"}
	unknownMember      = &refusal{404, 10007, "Unknown Member"}
	unknownMessage     = &refusal{404, 10008, "Unknown Message"}
	unknownWebhook     = &refusal{404, 10015, "Unknown Webhook"}
	unknownInteraction = &refusal{404, 10062, "Unknown interaction"}
	alreadyAnswered    = &refusal{400, 40060, "Interaction has already been acknowledged."}
	notAnothers        = &refusal{403, 50005, "Cannot edit a message authored by another user"}
	emptyMessage       = &refusal{400, 50006, "Cannot send an empty message"}
	notInThisChannel   = &refusal{400, 50024, "Cannot execute action on this channel type"}
	alreadyThread      = &refusal{400, 160004, "A thread has already been created for this message"}
)

func invalid(format string, a ...any) *refusal {
	return &refusal{400, 50035, "Invalid Form Body: " + fmt.Sprintf(format, a...)}
}

// handler does what is asked, with the server's lock held; a refusal is a panic.
type handler func(r *http.Request, body []byte) any

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(route string, open bool, h handler) {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" /api/v10"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, route, open, h) })
	}
	add("GET /gateway/bot", false, s.gatewayBot)
	add("GET /users/@me", false, func(*http.Request, []byte) any { return user(Bot) })
	add("GET /applications/@me", false, s.getApplication)
	add("GET /applications/{application}/commands", false, s.getCommands)
	add("PUT /applications/{application}/commands", false, s.putCommands)
	add("GET /channels/{channel}", false, s.getChannel)
	add("POST /channels/{channel}/messages", false, s.postMessage)
	add("PATCH /channels/{channel}/messages/{message}", false, s.patchMessage)
	add("POST /channels/{channel}/messages/{message}/threads", false, s.postThread)
	add("GET /guilds/{guild}", false, s.getGuild)
	add("GET /guilds/{guild}/members/{user}", false, s.getMember)
	add("POST /interactions/{id}/{token}/callback", true, s.postCallback)
	add("POST /webhooks/{application}/{token}", true, s.postFollowup)
	add("PATCH /webhooks/{application}/{token}/messages/@original", true, s.patchOriginal)
	add("DELETE /webhooks/{application}/{token}/messages/@original", true, s.deleteOriginal)
	mux.HandleFunc("GET /{$}", s.serveGateway)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.tb.Errorf("%s %s: Discord has no such method", r.Method, r.URL.Path)
		say(w, &refusal{404, 0, "404: Not Found"})
	})
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, route string, open bool, h handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Limit": "5", "Remaining": "0", "Reset-After": "3600", "Reset": "1700000000.5",
		"Bucket": "abcd"} {
		w.Header().Set("X-RateLimit-"+name, value) // nothing is left for an hour: who obeys it before it must is stuck
	}
	fault, token := s.Next(route), ""
	s.Read(func() { token = s.Token })
	switch {
	case fault.Drop && !fault.After:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		s.sayFault(w, fault)
	case !strings.HasPrefix(r.UserAgent(), "DiscordBot ("):
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "error code: 1010")
	case !open && r.Header.Get("Authorization") != "Bot "+token:
		say(w, unauthorized)
	default:
		answer, no := chattest.Answer[refusal](func() (answer any) {
			s.Change(func() { answer = h(r, body) })
			return answer
		})
		if fault.Drop {
			panic(http.ErrAbortHandler)
		}
		respond(w, answer, no)
	}
}

func respond(w http.ResponseWriter, answer any, no *refusal) {
	switch {
	case no != nil:
		say(w, no)
	case answer == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (s *Server) sayFault(w http.ResponseWriter, fault Fault) {
	if fault.Status != http.StatusTooManyRequests {
		w.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, "<html>upstream</html>")
		return
	}
	seconds := fault.RetryAfter.Seconds()
	w.Header().Set("Retry-After", strconv.Itoa(int(seconds+0.999)))
	w.WriteHeader(fault.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"message": "You are being rate limited.", "retry_after": seconds, "global": fault.Global})
}

func say(w http.ResponseWriter, no *refusal) {
	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"message": no.message, "code": no.code})
}

// read reads a body of JSON.
func read[T any](s *Server, r *http.Request, body []byte) (in T) {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		panic(&refusal{400, 50109, "The request body contains invalid JSON (" + kind + ")"})
	}
	s.decode(r, body, &in)
	return in
}

// decode reads JSON strictly: a field that Discord does not know is a mistake.
func (s *Server) decode(r *http.Request, body []byte, into any) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		s.tb.Errorf("%s %s: %v in %s", r.Method, r.URL.Path, err, body)
		panic(&refusal{400, 50109, "The request body contains invalid JSON."})
	}
}

func (s *Server) gatewayBot(*http.Request, []byte) any {
	return map[string]any{
		"url": "ws" + strings.TrimPrefix(s.http.URL, "http"), "shards": 1,
		"session_start_limit": map[string]any{"total": 1000, "remaining": s.left(), "reset_after": s.resetAfter.Milliseconds(),
			"max_concurrency": 1},
	}
}

func (s *Server) getApplication(*http.Request, []byte) any {
	return map[string]any{"id": application, "name": "bailiff", "flags": s.flags()}
}

func (s *Server) flags() int {
	if s.content {
		return 1 << 19
	}
	return 0
}

type command struct {
	ID           string `json:"id"`
	Type         int    `json:"type"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	Options      []any  `json:"options"`
	Contexts     []int  `json:"contexts"`
	Integrations []int  `json:"integration_types"`
}

func ownsApplication(r *http.Request) {
	if r.PathValue("application") != application {
		panic(&refusal{403, 20012, "You are not authorized to perform this action on this application"})
	}
}

func (s *Server) getCommands(r *http.Request, _ []byte) any {
	ownsApplication(r)
	return append([]command{}, s.offered...)
}

func (s *Server) putCommands(r *http.Request, body []byte) any {
	ownsApplication(r)
	all := read[[]command](s, r, body)
	for i, c := range all {
		if c.Name == "" || c.Name != strings.ToLower(c.Name) || len(c.Name) > 32 || c.Description == "" || len(c.Description) > 100 {
			panic(invalid("[%d]: a name of 1 to 32 small letters and a description of 1 to 100", i))
		}
		all[i].ID = s.newID()
	}
	s.offered, s.offers = all, s.offers+1
	return all
}

func (s *Server) channel(r *http.Request) *channel {
	c := s.channels[r.PathValue("channel")]
	if c == nil {
		panic(unknownChannel)
	}
	s.may(c, ViewChannel)
	return c
}

func (s *Server) getChannel(r *http.Request, _ []byte) any {
	return s.channel(r).json()
}

func (s *Server) roles() []any {
	return []any{
		map[string]any{"id": Guild, "name": "@everyone", "permissions": strconv.FormatInt(everybodyMay, 10)},
		map[string]any{"id": Role, "name": "bailiff", "permissions": "0", "managed": true, "tags": map[string]any{"bot_id": Bot}},
	}
}

func (s *Server) getGuild(r *http.Request, _ []byte) any {
	if r.PathValue("guild") != Guild {
		panic(unknownGuild)
	}
	return map[string]any{"id": Guild, "name": "Guild", "owner_id": owner, "roles": s.roles()}
}

func (s *Server) getMember(r *http.Request, _ []byte) any {
	id := r.PathValue("user")
	switch {
	case r.PathValue("guild") != Guild:
		panic(unknownGuild)
	case id == Bot:
		return map[string]any{"user": user(Bot), "roles": []string{Role}}
	case !s.people[id]:
		panic(unknownMember)
	}
	return map[string]any{"user": user(id), "roles": []string{}}
}

func (s *Server) postThread(r *http.Request, body []byte) any {
	c := s.channel(r)
	in := read[struct {
		Name    string `json:"name"`
		Archive int    `json:"auto_archive_duration"`
	}](s, r, body)
	from := c.message(r.PathValue("message"))
	switch {
	case c.kind != textChannel:
		panic(notInThisChannel)
	case from == nil:
		panic(unknownMessage)
	case strings.TrimSpace(in.Name) == "" || characters(in.Name) > 100:
		panic(invalid("name: Must be between 1 and 100 in length."))
	case in.Archive != 60 && in.Archive != 1440 && in.Archive != 4320 && in.Archive != 10080:
		panic(invalid("auto_archive_duration: Value must be one of {60, 1440, 4320, 10080}."))
	}
	s.may(c, CreatePublicThreads)
	if s.channels[from.id] != nil {
		panic(alreadyThread)
	}
	return s.makeThread(c, from.id, in.Name).json()
}

func (s *Server) makeThread(c *channel, id, name string) *channel {
	thread := &channel{id: id, parent: c.id, kind: publicThread, name: name}
	s.channels[id] = thread
	s.tell("THREAD_CREATE", thread.json(), intentGuilds)
	return thread
}

// characters are counted as Discord's clients do.
func characters(text string) int { return len(utf16.Encode([]rune(text))) }

// payload is what a message is made of, by JSON or in the parts of a form.
func (s *Server) payload(r *http.Request, body []byte) (in written, file *File) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return read[written](s, r, body), nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err := r.ParseMultipartForm(fileBytes); err != nil || len(r.MultipartForm.Value) != 1 {
		panic(invalid("a form of %d values: %v", len(r.PostForm), err))
	}
	for name, files := range r.MultipartForm.File {
		if name != "files[0]" || len(files) != 1 || files[0].Size > fileBytes {
			panic(invalid("files: %d as %s", len(files), name))
		}
		from, err := files[0].Open()
		if err != nil {
			panic(invalid("%v", err))
		}
		content, _ := io.ReadAll(from)
		file = &File{files[0].Filename, string(content)}
	}
	s.decode(r, []byte(r.FormValue("payload_json")), &in)
	return in, file
}

// fileBytes is how long a file may be.
const fileBytes = 10 << 20

// nonceTime is how long a nonce is known: "a few minutes".
const nonceTime = 3 * time.Minute
