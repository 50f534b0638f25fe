package matrixtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Fault is how a request fails.
type Fault int

// The faults. Busy, Broken and Forbidden have no effect; after Dropped it was done, and
// nobody hears of it; Lost was not even heard.
const (
	Fine Fault = iota
	Busy
	Broken
	Forbidden
	Dropped
	Lost
)

// Faults fail requests to a homeserver.
type Faults struct {
	mu    sync.Mutex
	how   func(method string) Fault
	calls map[string]int
}

// Fail has requests fail as how says of what each asks for; nil lets all pass.
func (f *Faults) Fail(how func(method string) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.how = how
}

// Calls are how many requests there were for something.
func (f *Faults) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *Faults) of(method string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[method]++
	if f.how == nil {
		return Fine
	}
	return f.how(method)
}

// Around puts the faults before what answers.
func (f *Faults) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f.of(asksFor(r)) {
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
