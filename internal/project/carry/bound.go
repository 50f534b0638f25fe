package carry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/usage"
)

const (
	// mostBytes is what a folder with git directories that sandboxes write may take on disk, mostFiles how many files it may have.
	mostBytes = 8 << 30
	mostFiles = 1_000_000
	// measureShare is how many times longer than a measurement the time until the next one is.
	measureShare = 50
)

// measurement is what is known of the size of a folder.
type measurement struct {
	at   time.Time
	took time.Duration
	// fault says that the folder holds too much, or that its size is not known.
	fault error
}

// writable are the folders of the sidecar's own that a sandbox may write.
func writable(own []bailiff.Mount) (all []string) {
	for _, m := range own {
		if !m.ReadOnly {
			all = append(all, m.Source)
		}
	}
	return all
}

// full says which of some folders hold more than they may. A folder that was within its bounds a moment ago is not measured again.
func (r *Repositories) full(folders []string) (err error) {
	for _, folder := range folders {
		r.mu.Lock()
		last := r.measured[folder]
		r.mu.Unlock()
		if last.fault != nil || time.Since(last.at) >= measureShare*last.took {
			began := time.Now()
			fault := measure(folder, r.mostBytes)
			last = measurement{at: time.Now(), took: time.Since(began), fault: fault}
			r.mu.Lock()
			wasFull := r.measured[folder].fault != nil
			r.measured[folder] = last
			r.mu.Unlock()
			if fault != nil && !wasFull {
				r.log.Warn("git in sandboxes has written too much, so that commands in a project are refused", "folder", folder,
					"reason", fault)
			}
		}
		if last.fault != nil {
			err = errors.Join(err, fmt.Errorf("git in sandboxes has written too much: %w: nothing runs in the project until that is less; "+
				"stop the sidecar and remove the folder, which is made anew without what was not brought out", last.fault))
		}
	}
	return err
}

// measure says whether a folder takes more than so many bytes, or holds too many files. What cannot be looked at counts as too much.
func measure(folder string, most int64) error {
	_, err := usage.Of(context.Background(), folder, usage.Usage{Bytes: most, Files: mostFiles})
	if errors.Is(err, usage.ErrMore) {
		return fmt.Errorf("%s takes more than %d MiB, or has more than %d files", folder, most>>20, mostFiles)
	}
	return err
}
