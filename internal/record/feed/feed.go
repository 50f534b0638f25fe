// Package feed tells watchers what is new, without ever waiting for one of them.
//
// Promised: a watcher sees everything that is told while it watches, in order,
// or one piece of news that stands for what it missed because it lagged.
//
// Not here: what was told before; a reader that must know that reads it after having
// begun to watch.
package feed

import "sync"

// Buffer is how many pieces of news a watcher may lag before it loses some.
const Buffer = 256

// Feed tells news. The zero Feed is ready, and may be used concurrently.
type Feed[T any] struct {
	// Lost stands for what a watcher missed.
	Lost T

	mu       sync.Mutex
	watchers map[*watcher[T]]bool
	closed   bool
}

// watcher is one who watches. Only send sends, under the feed's lock.
type watcher[T any] struct {
	news chan T
	lost bool
}

// Watch returns a channel of the news from now on, and what ends it. The channel
// is closed by stop and by [Feed.Close].
func (f *Feed[T]) Watch() (news <-chan T, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &watcher[T]{news: make(chan T, Buffer)}
	if f.closed {
		close(w.news)
		return w.news, func() {}
	}
	if f.watchers == nil {
		f.watchers = map[*watcher[T]]bool{}
	}
	f.watchers[w] = true
	return w.news, func() { f.remove(w) }
}

// Tell tells every watcher the news, which are only made if there is one.
func (f *Feed[T]) Tell(news func() []T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) == 0 {
		return
	}
	for _, n := range news() {
		for w := range f.watchers {
			w.send(n, f.Lost)
		}
	}
}

// Close ends every watch, and those that are begun later.
func (f *Feed[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for w := range f.watchers {
		close(w.news)
	}
	f.watchers = nil
}

func (f *Feed[T]) remove(w *watcher[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watchers[w] {
		delete(f.watchers, w)
		close(w.news)
	}
}

// send never waits: the last place of the buffer is kept for saying that what
// follows was lost.
func (w *watcher[T]) send(news, lost T) {
	room := cap(w.news) - len(w.news)
	switch {
	case room > 1:
		w.lost = false
		w.news <- news
	case !w.lost:
		w.lost = true
		w.news <- lost
	}
}
