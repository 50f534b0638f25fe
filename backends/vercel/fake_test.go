package vercel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// fake is Vercel as far as a backend can tell: an account whose machines are places
// on this kernel. Every request that Vercel's own client would not make fails the
// test.
type fake struct {
	tb     testing.TB
	server *httptest.Server

	mu        sync.Mutex
	sandboxes map[string]*lent
	sessions  map[string]*lent
	drives    map[string]*fakeDrive
	numbers   int
	faults    []*injected
	asked     []string // what was asked, as "METHOD /path"
	bodies    map[string][]map[string]any
	// most is how long a machine may run.
	most time.Duration
}

const (
	fakeToken   = "token-of-the-team"
	fakeTeam    = "team_1"
	fakeProject = "prj_1"
	fakeImage   = "vercel/sandbox/universal"
	fakeDigest  = "@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
)

// injected is a fault that a request meets: an answer, or a function that does what
// it likes and says whether the request is still to be done.
type injected struct {
	call  string
	times int
	meet  func(w http.ResponseWriter, r *http.Request) (goOn bool)
}

func newFake(tb testing.TB) *fake {
	tb.Helper()
	machine.Needs(tb)
	f := &fake{tb: tb, sandboxes: map[string]*lent{}, sessions: map[string]*lent{}, drives: map[string]*fakeDrive{},
		bodies: map[string][]map[string]any{}, most: 24 * time.Hour}
	f.server = httptest.NewServer(f)
	tb.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
	})
	return f
}

// inject has the next requests of a call, such as "POST /v3/sandboxes" or "fs/write",
// meet a fault.
func (f *fake) inject(call string, times int, meet func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &injected{call, times, meet})
}

// answering is the fault that Vercel does nothing but answer so.
func answering(status int, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		refuse(w, status, "injected", "A fault of the test.")
		return false
	}
}

// unheard is the fault that it is done and not answered.
func (f *fake) unheard(_ http.ResponseWriter, r *http.Request) bool {
	f.serve(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

func (f *fake) fault(r *http.Request) *injected {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.faults {
		if strings.Contains(r.Method+" "+r.URL.Path, fault.call) {
			if fault.times--; fault.times == 0 {
				f.faults = slices.Delete(f.faults, i, i+1)
			}
			return fault
		}
	}
	return nil
}

// count is how often something was asked.
func (f *fake) count(call string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, asked := range f.asked {
		if strings.Contains(asked, call) {
			n++
		}
	}
	return n
}

// names are the sandboxes that there are, by what they are.
func (f *fake) names(status string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for name, l := range f.sandboxes {
		if status == "" || l.status == status {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	f.mu.Unlock()
	if fault := f.fault(r); fault != nil && !fault.meet(w, r) {
		return
	}
	f.serve(w, r)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	s, known := shapeOf(r)
	if !known {
		f.tb.Errorf("Vercel has no %s %s", r.Method, r.URL.Path)
		refuse(w, http.StatusNotFound, "not_found", "There is no such call.")
		return
	}
	body, faults := s.faults(r)
	if len(faults) > 0 {
		f.tb.Errorf("%s %s: %s", s.method, s.path, strings.Join(faults, "; "))
		refuse(w, http.StatusBadRequest, "bad_request", strings.Join(faults, "; "))
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+fakeToken || r.URL.Query().Get("teamId") != fakeTeam {
		refuse(w, http.StatusForbidden, "forbidden", "Not authorized.")
		return
	}
	f.note(s, body)
	f.route(w, r, s, body)
}

// note keeps the bodies of calls for comparison.
func (f *fake) note(s shape, body []byte) {
	var fields map[string]any
	if s.body == nil || json.Unmarshal(body, &fields) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies[s.method+" "+s.path] = append(f.bodies[s.method+" "+s.path], fields)
}

func (f *fake) route(w http.ResponseWriter, r *http.Request, s shape, body []byte) {
	parts := strings.Split(r.URL.Path, "/")
	name := parts[len(parts)-1]
	switch s.method + " " + s.path {
	case "POST /v3/sandboxes":
		f.create(w, body)
	case "GET /v2/sandboxes":
		f.list(w, r)
	case "GET /v2/sandboxes/{sandbox}":
		f.withSandbox(w, name, func(l *lent) { answer(w, l.whole()) })
	case "DELETE /v2/sandboxes/{sandbox}":
		f.withSandbox(w, name, func(l *lent) {
			l.stop()
			f.mu.Lock()
			delete(f.sandboxes, name)
			f.mu.Unlock()
			answer(w, map[string]any{"sandbox": l.named()})
		})
	case "GET /v2/sandboxes/drives":
		f.listDrives(w, r)
	case "POST /v2/sandboxes/drives/{drive}":
		f.drive(w, name, body)
	case "DELETE /v2/sandboxes/drives/{drive}":
		f.removeDrive(w, name)
	default:
		f.inSession(w, r, s, parts, body)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func (f *fake) number(prefix string) string {
	f.numbers++
	return fmt.Sprintf("%s_%d", prefix, f.numbers)
}
