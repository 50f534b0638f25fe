package egress

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// takeCounts takes the events that were written down, each with its host and how many more it stands for.
func takeCounts(w *world) (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		all = append(all, fmt.Sprint(e.What, " ", e.Connection.Host, " ", e.More))
	}
	w.events = nil
	return all
}

func TestRefusalsThatAreAlikeAreWrittenDownAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		s := NewSparing(w)
		record := func(what, host, rule string) {
			must(t, s.Record(t.Context(), Event{What: what, Rule: rule, Connection: bailiff.Connection{Sandbox: "s1", Host: host}}))
		}
		for range 1000 {
			record(Refused, "evil.test", "no")
			record(Opened, "good.test", "")
		}
		record(Refused, "evil.test", "another")
		if all := takeCounts(w); len(all) != 1002 || all[0] != "refused evil.test 0" || all[1001] != "refused evil.test 0" {
			t.Errorf("at once %d events were written down, the last is %s", len(all), all[len(all)-1])
		}
		time.Sleep(gatherTime + time.Second) // of the test's own clock
		synctest.Wait()
		if all := takeCounts(w); !slices.Equal(all, []string{"refused evil.test 998"}) {
			t.Errorf("then %q", all)
		}
		record(Refused, "evil.test", "no")
		record(Refused, "evil.test", "no")
		s.Flush()
		if all := takeCounts(w); !slices.Equal(all, []string{"refused evil.test 0", "refused evil.test 0"}) {
			t.Errorf("at the end %q", all)
		}
		time.Sleep(gatherTime + time.Second)
		if len(s.gathered) > 0 || len(s.apart) > 0 {
			t.Errorf("%d kinds of %d sandboxes are kept", len(s.gathered), len(s.apart))
		}
	})
}

// A program that tries another name each time fills the log no faster.
func TestRefusalsOfManyHostsAreWrittenDownTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		s := NewSparing(w)
		const tries = 5000
		for n := range tries {
			refused := bailiff.Connection{Sandbox: "s1", Host: fmt.Sprint("n", n, ".test")}
			must(t, s.Record(t.Context(), Event{What: Refused, Connection: refused}))
		}
		must(t, s.Record(t.Context(), Event{What: Refused, Connection: bailiff.Connection{Sandbox: "s2", Host: "other.test"}}))
		time.Sleep(gatherTime + time.Second) // of the test's own clock
		synctest.Wait()
		written, stoodFor := len(w.events), 0
		for _, e := range w.events {
			stoodFor += 1 + e.More
		}
		if written > mostApart+4 || stoodFor != tries+1 || !slices.Contains(takeCounts(w), "refused other.test 0") {
			t.Errorf("%d events were written down, which stand for %d refusals", written, stoodFor)
		}
	})
}

func TestASandboxSendsSoManyRequestsASecond(t *testing.T) {
	t.Parallel()
	const many = 90
	w, server := secured(t, func(http.ResponseWriter, *http.Request) {})
	w.most = Limits{100, 100, 1, 32}
	address := server.Listener.Addr().String()
	client := program(t, proxied(t, w, address), true)
	answered(t, client, asking(t, "DELETE", "https://allowed.test:"+port(address)+"/")) // which makes the one connection
	var mu sync.Mutex
	found := map[string]int{}
	var all sync.WaitGroup
	for range many { // of one connection
		all.Go(func() {
			status, rule, _ := answered(t, client, asking(t, "DELETE", "https://allowed.test:"+port(address)+"/"))
			mu.Lock()
			defer mu.Unlock()
			found[fmt.Sprint(status, " ", rule)]++
		})
	}
	all.Wait()
	if found["403 egress.not_in_table"] < burst*requestsEach || found["429 "+ruleTooMany] == 0 || len(found) != 2 {
		t.Errorf("of requests at once %v", found)
	}
}
