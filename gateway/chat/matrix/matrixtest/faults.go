package matrixtest

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// Fault is how a request fails.
type Fault int

// The faults. Busy, Broken and Forbidden have no effect; after Dropped it was done, and
// no answer tells of it; Lost was not even heard.
const (
	Fine Fault = iota
	Busy
	Broken
	Forbidden
	Dropped
	Lost
)

// Faults fail requests to a homeserver.
type Faults struct{ chattest.Faults[Fault] }

// Around puts the faults before what answers.
func (f *Faults) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f.Next(asksFor(r)) {
		case Busy:
			w.Header().Set("Retry-After", "1")
			(&refusal{status: http.StatusTooManyRequests, code: "M_LIMIT_EXCEEDED", text: "Too Many Requests", after: 1}).write(w)
		case Broken:
			no(http.StatusInternalServerError, "M_UNKNOWN", "Internal server error").write(w)
		case Forbidden:
			no(http.StatusForbidden, "M_FORBIDDEN", "You are not allowed to do that").write(w)
		case Dropped:
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case Lost:
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// asksFor is a word for what a request asks for: the last of its path's that is no name.
func asksFor(r *http.Request) string {
	for _, word := range []string{"sync", "send", "upload", "event", "messages", "joined_members", "joined_rooms", "state", "account_data",
		"createRoom", "join", "invite", "whoami", "displayname", "versions"} {
		for part := range strings.SplitSeq(r.URL.EscapedPath(), "/") {
			if part == word {
				return word
			}
		}
	}
	return r.URL.Path
}
