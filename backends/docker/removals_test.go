package docker

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// slowEngine removes nothing before it is told to.
type slowEngine struct {
	killed, asked atomic.Int64
	answer        chan struct{}
}

func (e *slowEngine) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		e.killed.Add(1)
	} else {
		e.asked.Add(1)
		<-e.answer
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

func TestAnEngineRemovesAFewSandboxesAtOnceAndTheOthersAreKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowEngine{answer: make(chan struct{})}
		b, err := New(Config{Runner: "/none"})
		backendtest.Must(t, err)
		b.engine, err = client.NewClientWithOpts(client.WithHTTPClient(&http.Client{Transport: slow}), client.WithVersion("1.41"))
		backendtest.Must(t, err)

		var removals sync.WaitGroup
		for range 4 * removalsAtOnce {
			removals.Go(func() { backendtest.NoError(t, b.remove(t.Context(), "some")) })
		}
		synctest.Wait()
		if n := slow.asked.Load(); n != removalsAtOnce {
			t.Errorf("the engine was asked to remove %d at once, want %d", n, removalsAtOnce)
		}
		if n := slow.killed.Load(); n != 3*removalsAtOnce {
			t.Errorf("%d of those that wait were killed, want %d", n, 3*removalsAtOnce)
		}
		close(slow.answer)
		removals.Wait()
		if n := slow.asked.Load(); n != 4*removalsAtOnce {
			t.Errorf("the engine was asked for %d removals in all, want %d", n, 4*removalsAtOnce)
		}
	})
}
