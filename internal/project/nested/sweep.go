package nested

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	// Lasting is how long a git directory is kept to which nothing leads any more.
	Lasting = 14 * 24 * time.Hour
	// mostNames is how many names of a project are looked through.
	mostNames = 3_000_000
	// mostLine is how many bytes a file .git has that names a directory.
	mostLine = 4096
)

// Sweep removes git directories to which no link in the project's folder has led for [Lasting]. Where the folder cannot be looked
// through, nothing is removed.
func (p Place) Sweep(project string, now time.Time) error {
	kept, err := os.ReadDir(p.Folder)
	if err != nil || len(kept) == 0 {
		return err
	}
	led, err := p.led(project)
	if err != nil {
		return fmt.Errorf("looking for links to what is kept of repositories in %s: %w", project, err)
	}
	p.follow(kept, led)
	was, is := map[string]time.Time{}, map[string]time.Time{}
	if text, err := os.ReadFile(p.missing()); err == nil {
		_ = json.Unmarshal(text, &was) // of a damaged file the time begins anew
	}
	for _, e := range kept {
		since, known := was[e.Name()]
		switch {
		case led[e.Name()]:
		case known && now.Sub(since) > Lasting:
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.Folder, e.Name())))
		case known && !since.After(now):
			is[e.Name()] = since
		default:
			is[e.Name()] = now
		}
	}
	text, fault := json.Marshal(is)
	if fault == nil {
		fault = os.WriteFile(p.missing()+".new", text, 0o600)
	}
	if fault == nil {
		fault = os.Rename(p.missing()+".new", p.missing())
	}
	return errors.Join(err, fault)
}

// missing is a file beside the folder, which no sandbox sees: since when nothing leads to what is kept.
func (p Place) missing() string { return p.Folder + ".missing" }

// led are those to which links in a project's folder lead.
func (p Place) led(project string) (map[string]bool, error) {
	led, names := map[string]bool{}, 0
	err := filepath.WalkDir(project, func(at string, e fs.DirEntry, err error) error {
		if names++; names > mostNames {
			return fmt.Errorf("it has more than %d names", mostNames)
		}
		if errors.Is(err, fs.ErrNotExist) && at != project {
			return nil
		}
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return err
		}
		if text, err := os.Readlink(at); err == nil && IsLink(text) && path.Dir(text) == p.target {
			led[path.Base(text)] = true
		}
		return nil
	})
	return led, err
}

// follow adds the directories that are named by files .git of linked working folders.
func (p Place) follow(kept []os.DirEntry, led map[string]bool) {
	for _, e := range kept {
		info, err := e.Info()
		if !led[e.Name()] || err != nil || !info.Mode().IsRegular() || info.Size() > mostLine {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(p.Folder, e.Name()))
		if _, rest, ok := strings.Cut(string(text), p.target+"/"); ok {
			id, _, _ := strings.Cut(strings.TrimSpace(rest), "/")
			led[id] = true
		}
	}
}
