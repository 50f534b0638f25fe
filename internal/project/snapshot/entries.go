package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Entry is one command, or an undoing, with the snapshots before it and after it.
type Entry struct {
	// ID is the decision's, Request the request's if it had one.
	ID      string    `json:"id"`
	Request string    `json:"request,omitempty"`
	Caller  string    `json:"caller,omitempty"`
	Session string    `json:"session,omitempty"`
	Text    string    `json:"text"`
	Time    time.Time `json:"time"`
	// Undoes is the ID of the command that this one undid.
	Undoes  string `json:"undoes,omitempty"`
	Folders []Kept `json:"folders"`
}

// Kept is a folder before and after a command, by the digests of the trees.
type Kept struct {
	Folder string `json:"folder"`
	Before string `json:"before"`
	// After is empty where it is not known.
	After  string   `json:"after,omitempty"`
	Unkept []Unkept `json:"unkept,omitempty"`
	// Earlier is the time from the last snapshot of all to the one before the command, and Spans are those from then to the one after it.
	Earlier Span   `json:"earlier,omitzero"`
	Spans   []Span `json:"spans,omitempty"`

	taken time.Time // when the one before was
}

// Key is the entry's name on disk.
func (e Entry) Key() string { return e.ID }

func (e Entry) scrubbed(scrub func([]byte) []byte) Entry {
	if scrub != nil {
		e.Text = string(scrub([]byte(e.Text)))
	}
	return e
}

// Entries are those of a session, the newest first; all if session is empty.
func (s *Store) Entries(session string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Entry
	for _, e := range s.kept {
		if session == "" || e.Session == session {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// Find is the newest of a decision's or a request's id, once what the command changed is known.
func (s *Store) Find(ctx context.Context, id string) (Entry, error) {
	e, is := s.entry(id)
	if is {
		var paths []string
		for _, k := range e.Folders {
			paths = append(paths, k.Folder)
		}
		if err := s.Settle(ctx, paths); err != nil {
			return e, err
		}
		e, is = s.entry(e.ID)
	}
	if !is {
		return e, fmt.Errorf("%w was taken for %s, or it is older than %d days", ErrUnknown, id, int(Lasting.Hours())/24)
	}
	return e, nil
}

func (s *Store) entry(id string) (Entry, bool) {
	s.mu.Lock()
	e, is := s.kept[id]
	s.mu.Unlock()
	if is {
		return e, true
	}
	for _, e := range s.Entries("") {
		if e.Request == id && id != "" {
			return e, true
		}
	}
	return Entry{}, false
}

func (s *Store) keep(e Entry) error {
	if err := s.entries.Keep(e); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[e.ID] = e.scrubbed(s.config.Scrub)
	return nil
}

// treesOf are the snapshots of a folder that something needs.
func (s *Store) treesOf(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{}
	for _, e := range s.kept {
		for _, k := range e.Folders {
			if k.Folder == path {
				all = append(all, k.Before, k.After, k.Earlier.From)
				for _, span := range k.Spans {
					all = append(all, span.From, span.To)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(tree string) bool { return tree == "" })
}
