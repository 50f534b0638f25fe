package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Span is the time between two snapshots of a folder.
type Span struct {
	From  string    `json:"from"`
	To    string    `json:"to"`
	Began time.Time `json:"began"`
	// Ran are the sessions of which something ran in a sandbox that shows the folder.
	Ran []Ran `json:"ran,omitempty"`
	// Gap says that the sidecar did not run all the time, so that nothing is known of what did.
	Gap bool `json:"gap,omitempty"`
}

// Ran are the commands of a session that ran, by their decisions; an empty one is a background process.
type Ran struct {
	Caller   string   `json:"caller,omitempty"`
	Session  string   `json:"session,omitempty"`
	Commands []string `json:"commands"`
}

// mostRan is how many commands of a session a span names, and mostSpans how many spans a folder remembers.
const mostRan, mostSpans = 20, 32

// session is of a caller.
type session struct{ caller, id string }

// watch is what is known of who ran in a folder.
type watch struct {
	spans []Span
	// ran ran since the last snapshot, by session; running still does.
	ran       map[session][]string
	running   map[*session]string
	residents map[session]func() bool
	isWatched bool // since the last snapshot
}

// Begin notes that a command begins to run in a sandbox that shows folders, until end is called, and as long as processes says afterwards
// that background processes of its session run.
func (s *Store) Begin(e Entry, folders []string, processes func() bool) (end func()) {
	by := session{e.Caller, e.Session}
	var all []*folder
	for _, path := range folders {
		f := s.folder(path)
		all = append(all, f)
		f.mu.Lock()
		f.watch.running[&by] = e.ID
		f.watch.add(by, e.ID)
		f.mu.Unlock()
	}
	return sync.OnceFunc(func() {
		goesOn := len(all) > 0 && processes()
		for _, f := range all {
			f.mu.Lock()
			delete(f.watch.running, &by)
			if goesOn {
				f.watch.residents[by] = processes
				f.watch.add(by, "")
			}
			f.mu.Unlock()
		}
	})
}

func (w *watch) add(by session, id string) {
	if all := w.ran[by]; len(all) < mostRan && !slices.Contains(all, id) {
		w.ran[by] = append(all, id)
	}
}

// cut ends a span where a snapshot begins, and begins the next with what runs at that time.
func (w *watch) cut() (before map[session][]string) {
	before = w.ran
	w.ran = map[session][]string{}
	for by, id := range w.running {
		w.add(*by, id)
	}
	for by, goesOn := range w.residents {
		if goesOn() {
			w.add(by, "")
		} else {
			delete(w.residents, by)
		}
	}
	return before
}

// rejoin takes back a cut, where there came no snapshot of it.
func (w *watch) rejoin(before map[session][]string) {
	for by, ids := range before {
		for _, id := range ids {
			w.add(by, id)
		}
	}
}

// close keeps the span that a snapshot ended. What began while the snapshot was taken may be in it.
func (w *watch) close(span Span, before map[session][]string) Span {
	both := &watch{ran: maps.Clone(before)}
	both.rejoin(w.ran)
	for by, ids := range both.ran {
		span.Ran = append(span.Ran, Ran{by.caller, by.id, ids})
	}
	slices.SortFunc(span.Ran, func(a, b Ran) int { return strings.Compare(a.Caller+"\x00"+a.Session, b.Caller+"\x00"+b.Session) })
	span.Gap, w.isWatched = !w.isWatched, true
	w.spans = append(w.spans, span)
	w.spans = w.spans[max(0, len(w.spans)-mostSpans):]
	return span
}

// since are the spans from a snapshot on, one with a gap if that is too long ago.
func (w *watch) since(tree, now string, began time.Time) []Span {
	for i, span := range w.spans {
		if span.From == tree && !span.Began.Before(began) {
			return slices.Clone(w.spans[i:])
		}
	}
	return []Span{{From: tree, To: now, Began: began, Gap: true}}
}

// Earlier is what became of a folder between the snapshot before a command and the one before that.
type Earlier struct {
	Since   time.Time
	Whose   string
	Changes []Change
}

// Earlier are the changes of a folder before a command; the zero value if there are none.
func (s *Store) Earlier(ctx context.Context, e Entry, k Kept) (was Earlier, err error) {
	if k.Earlier.From == "" || k.Earlier.From == k.Before {
		return was, nil
	}
	was.Since, was.Whose = k.Earlier.Began, whose([]Span{k.Earlier}, Entry{})
	f := s.folder(k.Folder)
	if err = f.lock(ctx); err != nil {
		return was, err
	}
	defer f.unlock()
	was.Changes, err = s.between(ctx, f, k.Earlier.From, k.Before)
	return was, err
}

// attribute says of each change of a command by whom it can be. The folder is locked.
func (s *Store) attribute(ctx context.Context, f *folder, e Entry, k Kept, all []Change) error {
	in := map[string][]Span{}
	for _, span := range k.Spans {
		if len(k.Spans) == 1 {
			break
		}
		part, err := s.between(ctx, f, span.From, span.To)
		if err != nil {
			return err
		}
		for _, c := range part {
			in[c.Path] = append(in[c.Path], span)
		}
	}
	for i := range all {
		of := in[all[i].Path]
		if of == nil {
			of = k.Spans
		}
		all[i].Whose = whose(of, e)
	}
	return nil
}

// whose says by whom a change of some spans can be, in words; empty if only the command itself ran.
func whose(spans []Span, e Entry) string {
	own, beside := e.Undoes != "", false
	var others []string
	for _, span := range spans {
		if span.Gap {
			return "not known: the sidecar did not run all the time"
		}
		for _, r := range span.Ran {
			if e.ID == "" || r.Caller != e.Caller || r.Session != e.Session {
				others = append(others, "session "+r.Session)
				continue
			}
			// One more than are named may be the command itself.
			own = own || slices.Contains(r.Commands, e.ID) || len(r.Commands) == mostRan
			beside = beside || slices.ContainsFunc(r.Commands, func(id string) bool { return id != e.ID })
		}
	}
	slices.Sort(others)
	words := slices.Compact(others)
	if beside {
		words = slices.Insert(words, 0, "another command of its session")
	}
	switch {
	case len(spans) == 0:
		return "not known"
	case own && len(words) == 0:
		return ""
	case own:
		words = slices.Insert(words, 0, "this command")
	case len(words) == 0:
		return "a person, or a program outside of sandboxes: nothing ran in one"
	}
	return strings.Join(words, " or ")
}
