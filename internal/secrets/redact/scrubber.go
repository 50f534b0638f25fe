package redact

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
)

// Source holds values that must not be written down.
type Source interface {
	// Generation changes whenever Secrets would yield something else.
	Generation() uint64
	Secrets() iter.Seq2[string, bailiff.Secret]
}

// Scrubber redacts whole texts by what its source holds at the time. It may be
// used concurrently.
type Scrubber struct {
	source  Source
	current atomic.Pointer[snapshot]
	mu      sync.Mutex // held while a snapshot is made
}

type snapshot struct {
	generation uint64
	redactor   *Redactor
}

// NewScrubber returns a Scrubber that follows a source.
func NewScrubber(source Source) *Scrubber {
	s := &Scrubber{source: source}
	s.refresh()
	return s
}

// Scrub returns the text redacted; it may be text itself if nothing was found.
func (s *Scrubber) Scrub(text []byte) []byte {
	now := s.current.Load()
	if now.generation != s.source.Generation() {
		now = s.refresh()
	}
	return now.redactor.Redact(text)
}

func (s *Scrubber) refresh() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	generation := s.source.Generation()
	if now := s.current.Load(); now != nil && now.generation == generation {
		return now
	}
	next := &snapshot{generation: generation, redactor: newRedactor(s.source.Secrets())}
	s.current.Store(next)
	return next
}
