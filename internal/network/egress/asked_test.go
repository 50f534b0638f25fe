package egress

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// approved is a yes of people.
func approved() (bailiff.Approval, error) {
	return bailiff.Approval{ID: "a-1", State: bailiff.ApprovalApproved}, nil
}

func TestAConnectionThatIsAskedAboutWaitsForAYes(t *testing.T) {
	const connect = "CONNECT new.test:443 HTTP/1.1\r\nHost: new.test:443\r\n\r\n"
	for name, c := range map[string]struct {
		people func(*world) (bailiff.Approval, error)
		status string
		says   []string
	}{
		"a yes": {func(*world) (bailiff.Approval, error) { return approved() }, "200", nil},
		"a no": {func(*world) (bailiff.Approval, error) {
			return bailiff.Approval{ID: "a-1", State: bailiff.ApprovalDenied, Message: "Ana denied it"}, nil
		}, "403", []string{`"message":"Is it new? Ana denied it."`, `"approval":"a-1"`}},
		"no answer yet": {func(*world) (bailiff.Approval, error) {
			return bailiff.Approval{ID: "a-1", State: bailiff.ApprovalPending}, nil
		}, "403", []string{`"instead":"Run it again once a-1 is approved."`, `"approval":"a-1"`}},
		"a store that is down": {func(*world) (bailiff.Approval, error) { return bailiff.Approval{}, errors.New("the disk is full") },
			"403", []string{"People cannot be asked: the disk is full."}},
		"a yes to policies that deny now": {func(w *world) (bailiff.Approval, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.asks = nil
			return approved()
		}, "403", []string{`"rule":"egress.not_in_table"`}},
		"a yes to policies that ask something else now": {func(w *world) (bailiff.Approval, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.asks = map[string]string{"https new.test": "something else"}
			return approved()
		}, "403", []string{"for another reason"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.NotFoundHandler())
			defer server.Close()
			w := &world{private: true, at: server.Listener.Addr().String(), names: map[string][]string{"new.test": {"10.1.2.3"}},
				asks: map[string]string{"https new.test": "new.test:443"}}
			w.people = func() (bailiff.Approval, error) { return c.people(w) }
			got := said(t, proxied(t, w, "127.0.0.1:1"), connect)
			if !strings.HasPrefix(got, "HTTP/1.1 "+c.status+" ") {
				t.Errorf("got %q", got)
			}
			for _, want := range c.says {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			steps := w.done()
			asked := slices.Index(steps, "ask new.test:443")
			resolved := slices.Index(steps, "resolve new.test.")
			if asked < 0 || resolved >= 0 && (resolved < asked || c.status != "200") {
				t.Errorf("it did %q", steps)
			}
		})
	}
}

// A tunnel comes before the requests in it, and what a yes was said to is not asked again by
// who hears of them.
func TestRequestsThatAreAskedAboutWaitForAYes(t *testing.T) {
	w, server := secured(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	w.asks = map[string]string{"https allowed.test PUT": "put"}
	w.people = approved
	host := "allowed.test:" + port(server.Listener.Addr().String())
	client := program(t, proxied(t, w, server.Listener.Addr().String()), true)
	if status, rule, body := answered(t, client, asking(t, "PUT", "https://"+host+"/a")); status != http.StatusNoContent {
		t.Errorf("got %d %s %q", status, rule, body)
	}
	w.mu.Lock()
	w.people = func() (bailiff.Approval, error) { return bailiff.Approval{State: bailiff.ApprovalDenied}, nil }
	w.mu.Unlock()
	if status, rule, body := answered(t, client, asking(t, "PUT", "https://"+host+"/a")); status != http.StatusForbidden ||
		rule != "egress.new_host" {
		t.Errorf("got %d %s %q", status, rule, body)
	}
}
