package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestSlowBodiesHoldNoOtherClientUp(t *testing.T) {
	t.Parallel()
	const slow, ordinary = maxRequests + 50, 100
	d := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("t"), BodyTimeout: time.Minute},
		agentHandler(t, agentOf(&enforcer{})))
	for range slow {
		_, _ = io.WriteString(from(t, d, "127.0.0.3"), slowly)
	}
	awaittest.Until(t, "all slots to be taken", func() bool { return arriving(d) == maxRequests })
	for range ordinary {
		if status := decideAt(t, d); status != http.StatusOK {
			t.Fatalf("beside %d slow bodies a request is answered %d", slow, status)
		}
	}
}

// slowly begins a request and never goes on.
var slowly = strings.Replace(rawPost("/v1/decide", `{`, 100), "\r\n", "\r\nAuthorization: Bearer t\r\n", 1)

// arriving counts the requests whose bodies still arrive.
func arriving(d *Listener) (n int) {
	d.slots.mu.Lock()
	defer d.slots.mu.Unlock()
	for _, all := range d.slots.arriving {
		n += len(all)
	}
	return n
}

func TestARequestThatLosesItsSlotIsToldSo(t *testing.T) {
	t.Parallel()
	d := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("t"), MaxRequests: 1,
		BodyTimeout: time.Minute}, agentHandler(t, agentOf(&enforcer{})))
	c := from(t, d, "127.0.0.3")
	_, _ = io.WriteString(c, slowly)
	awaittest.Until(t, "its body to begin", func() bool { return arriving(d) == 1 })
	if status := decideAt(t, d); status != http.StatusOK {
		t.Errorf("the request that needs the slot is answered %d", status)
	}
	answer, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") || !strings.Contains(string(answer), `"code":"busy"`) {
		t.Errorf("the one that lost it is answered %q", answer)
	}
}

// decideAt sends a request of its own to a listener on TCP; it is the status of the answer.
func decideAt(t *testing.T, d *Listener) int {
	t.Helper()
	url := "http://" + strings.TrimPrefix(d.Address(), "tcp://") + "/v1/decide"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(telegramRequest))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer t")
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestTheOldestBodyOfThePeerWithMostOfThemMakesRoom(t *testing.T) {
	t.Parallel()
	s := newSlots(4)
	var ended []string
	take := func(peer, name string) *slot {
		t.Helper()
		own, ok := s.take(peer, func() { ended = append(ended, name) })
		if !ok {
			t.Fatalf("%s gets no slot", name)
		}
		return own
	}
	few, oldest, arrived := take("few", "few"), take("many", "oldest"), take("many", "arrived")
	if !arrived.keep() {
		t.Error("a body that arrives in time lost its slot")
	}
	take("many", "second")
	late := take("late", "late")
	if strings.Join(ended, " ") != "oldest" || oldest.keep() || !few.keep() || !late.keep() {
		t.Errorf("ended are %v, want the oldest of the peer that has most", ended)
	}
	take("late", "last")
	if strings.Join(ended, " ") != "oldest second" {
		t.Errorf("ended are %v, want the one body that still arrives, too", ended)
	}
	if own, ok := s.take("", nil); !ok || strings.Join(ended, " ") != "oldest second last" {
		t.Errorf("a request without a body gets %v, ended are %v", own, ended)
	}
	if _, ok := s.take("", nil); ok {
		t.Error("a fifth request got a slot, although all bodies have arrived")
	}
	oldest.leave() // which has none any more
	if _, ok := s.take("", nil); ok {
		t.Error("a slot that was lost is given back")
	}
	few.leave()
	if _, ok := s.take("", nil); !ok {
		t.Error("a slot that was given back is not given to another")
	}
}
