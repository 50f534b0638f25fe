package pdp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/bailiff-dev/bailiff/internal/pdp/background"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// How long to wait for more of one change: an editor or a copy touches several
// files in a row, and half of a change is not what anyone meant. A writer
// that never pauses is not waited for forever.
const (
	quiet    = 15 * time.Millisecond
	patience = 60 * time.Millisecond
)

// pollInterval is how often the files are looked at without being told of a change:
// for file systems that tell nothing, for watches that were lost, and for links
// far above a folder.
const pollInterval = 5 * time.Second

// settleTime is how long after a change the watches are looked after once more.
const settleTime = time.Second

// Watch follows the files until ctx ends and puts every new set of policies in
// force that has nothing wrong with it.
func (p *PDP) Watch(ctx context.Context) error {
	if p.tests != nil {
		defer p.tests.Close()
	}
	if len(p.config.Paths) == 0 {
		<-ctx.Done()
		return nil
	}
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching policies: %w", err)
	}
	defer notifier.Close()
	w := &watch{Watcher: notifier, log: p.config.Log, paths: p.config.Paths, pollInterval: p.pollInterval,
		watched: map[string]fs.FileInfo{}}
	reloader := reloader{pdp: p}
	defer reloader.running.End()
	return w.follow(ctx, func(told bool) { reloader.begin(ctx, told) })
}

func (p *PDP) reload(ctx context.Context, told bool) {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	_ = p.load(ctx, told) // told to the log, the observer and in the status
}

// reloader reloads beside the watch, so that a save which overtakes a reload ends it at once.
type reloader struct {
	pdp     *PDP
	running background.Work
	told    bool // of a change that no reload has begun for
	// overtaken is when the first reload was overtaken of those that saves ended one after the other.
	overtaken time.Time
}

// longStorm is how long saves may end one reload after the other. Then one goes on to its end, so that a program which saves
// without end does not keep all versions out.
const longStorm = 30 * time.Second

// begin reloads, unless a reload of the very same files goes on, or one that is not to be overtaken.
func (r *reloader) begin(ctx context.Context, told bool) {
	r.told = r.told || told
	switch {
	case !r.running.IsRunning():
		r.overtaken = time.Time{}
	case !r.pdp.isOvertaken():
		return
	case r.overtaken.IsZero():
		r.overtaken = time.Now()
	case time.Since(r.overtaken) > longStorm:
		return
	}
	r.running.End()
	r.pdp.trying.Store(nil)
	told, r.told = r.told, false
	r.running.Begin(ctx, func(ctx context.Context) { r.pdp.reload(ctx, told) })
}

// isOvertaken says whether the files are others than those that a reload is at.
func (p *PDP) isOvertaken() bool {
	trying := p.trying.Load()
	return trying == nil || *trying != contentOf(p.files())
}

// watch is where changes are noticed: in every folder of policies, in the one
// above it, and where symbolic links lead to.
type watch struct {
	*fsnotify.Watcher
	log          *slog.Logger
	paths        []string
	pollInterval time.Duration
	// watched are the folders under watch, as they were when the watch began: one
	// that was replaced needs a new watch.
	watched map[string]fs.FileInfo
	// whole are the folders in which everything counts; elsewhere only named do.
	whole, named map[string]bool
	// trouble is the last one that was logged.
	trouble string
}

// follow calls changed at once and then after every change, until ctx ends.
func (w *watch) follow(ctx context.Context, changed func(told bool)) error {
	for told := true; ; {
		w.renew()
		changed(told)
		var err error
		if told, err = w.next(ctx, told); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// next waits for a change and for the end of it; told is false when there was
// none and it is only time to have a look. That is soon after a change: what the
// system still has to say about a folder that was replaced can end the watch of
// the one in its place.
func (w *watch) next(ctx context.Context, changed bool) (told bool, err error) {
	pause := w.pollInterval
	if changed {
		pause = min(pause, settleTime)
	}
	look := time.NewTimer(pause)
	defer look.Stop()
	var settled, late <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-look.C:
			return settled != nil, nil
		case <-settled:
			return true, nil
		case <-late:
			return true, nil
		case e, open := <-w.Events:
			if !open {
				return false, errors.New("watching policies: the watch has ended")
			}
			if !w.counts(e) {
				continue
			}
		case err, open := <-w.Errors:
			if !open {
				return false, errors.New("watching policies: the watch has ended")
			}
			w.warn(err)
		}
		settled = time.After(quiet)
		if late == nil {
			late = time.After(patience)
		}
	}
}

// counts says whether an event may be about policies.
func (w *watch) counts(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.drop(e.Name)
	}
	return w.named[e.Name] || w.whole[e.Name] || w.whole[filepath.Dir(e.Name)]
}

// renew puts every folder that matters now under watch, and no other.
func (w *watch) renew() {
	w.whole, w.named = map[string]bool{}, map[string]bool{}
	for _, p := range w.paths {
		w.root(filepath.Clean(p))
	}
	for folder := range w.watched {
		if !w.wants(folder) {
			w.drop(folder)
		}
	}
	for folder := range w.whole {
		w.add(folder)
	}
	for name := range w.named {
		w.add(filepath.Dir(name))
	}
}

func (w *watch) wants(folder string) bool {
	if w.whole[folder] {
		return true
	}
	for name := range w.named {
		if filepath.Dir(name) == folder {
			return true
		}
	}
	return false
}

// root marks what to watch for one configured path. Of the folders above, the
// first that exists is enough to see the path come back.
func (w *watch) root(p string) {
	for name := p; ; name = filepath.Dir(name) {
		w.named[name] = true
		if _, err := os.Stat(filepath.Dir(name)); err == nil || filepath.Dir(name) == name {
			break
		}
	}
	w.below(p, 0)
}

func (w *watch) below(p string, depth int) {
	about, err := os.Stat(p)
	if err != nil {
		return
	}
	if link, err := os.Lstat(p); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		if target, err := filepath.EvalSymlinks(p); err == nil {
			w.named[target] = true
		}
	}
	if !about.IsDir() || depth > source.MaxDepth {
		return
	}
	w.whole[p] = true
	entries, _ := os.ReadDir(p) // what cannot be read is the reload's fault to tell
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			w.below(filepath.Join(p, e.Name()), depth+1)
		}
	}
}

func (w *watch) add(folder string) {
	about, err := os.Stat(folder)
	if err != nil {
		w.drop(folder)
		return
	}
	if old, known := w.watched[folder]; known {
		if os.SameFile(old, about) {
			_ = w.Add(folder) // in case it was lost; else this changes nothing
			return
		}
		w.drop(folder)
	}
	if err := w.Add(folder); err != nil {
		w.warn(fmt.Errorf("%s: %w", folder, err))
		return
	}
	w.watched[folder] = about
}

func (w *watch) drop(folder string) {
	if _, known := w.watched[folder]; known {
		_ = w.Remove(folder) // it may be gone already
		delete(w.watched, folder)
	}
}

func (w *watch) warn(err error) {
	if err.Error() == w.trouble {
		return
	}
	w.trouble = err.Error()
	w.log.Warn("watching policies: changes may be noticed late", "error", err, "within", w.pollInterval)
}
