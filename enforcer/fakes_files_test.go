package enforcer

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// entriesInMemory is a ledger in memory.
type entriesInMemory[T records.Entry] struct {
	mu    sync.Mutex
	all   map[string]T
	fault error
}

func (s *entriesInMemory[T]) Keep(entry T) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.all[entry.Key()] = entry
	}
	return s.fault
}

func (s *entriesInMemory[T]) Drop(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
	return s.fault
}

func (s *entriesInMemory[T]) entries() []T {
	all, _ := s.All()
	return all
}

func (s *entriesInMemory[T]) All() ([]T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all)), s.fault
}

// workspaceKeeper is a fake backend that keeps workspaces until they are removed.
type keepingBackend struct {
	// stuck is why no workspace can be removed.
	stuck error
	*fakeBackend
	mu    sync.Mutex
	holds map[string]bool
	// meanwhile happens while a workspace is removed.
	meanwhile func()
	done      []string // what was done with workspaces
}

func newKeepingBackend(s *fakeBackend) *keepingBackend {
	return &keepingBackend{fakeBackend: s, holds: map[string]bool{}}
}

func (c *keepingBackend) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if spec.Workspace != "" {
		c.holds[spec.Workspace] = true
		c.done = append(c.done, "open")
	}
	return c.fakeBackend.Open(ctx, spec)
}

func (c *keepingBackend) Workspaces(context.Context, string) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.holds)), nil
}

func (c *keepingBackend) RemoveWorkspace(_ context.Context, _, workspace string) error {
	if c.meanwhile != nil {
		c.meanwhile()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck != nil {
		return c.stuck
	}
	delete(c.holds, workspace)
	c.done = append(c.done, "remove")
	return nil
}

// wantAfterSweep wants these workspaces and no others to be there once a sweep has
// been.
func (c *keepingBackend) wantAfterSweep(t *testing.T, b *bench, want ...string) {
	t.Helper()
	if _, err := b.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	got, _ := c.Workspaces(t.Context(), "")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the workspaces %q are there, want %q", got, want)
	}
}
