package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Told is how far the log of a sidecar went when it told the others last, in one of its runs.
type Told struct {
	// Replica is the sidecar's name, Chain that of its log: a log that is begun anew has another.
	Replica string    `json:"replica"`
	Chain   string    `json:"chain"`
	Time    time.Time `json:"time"`
	Lines   int64     `json:"lines"`
	Hash    string    `json:"last_hash"`
}

// Head is how far the log is on disk, for other sidecars to know.
func (l *Log) Head() Told {
	p := l.written.Load()
	return Told{Chain: l.name, Lines: p.count, Hash: p.last}
}

// The outcomes of verifying the log of a sidecar among others.
const (
	// LogWhole goes as far as the others were told, unbroken.
	LogWhole = "whole"
	// LogCutShort ends before that.
	LogCutShort = "cut_short"
	LogTampered = "tampered"
	// LogMissing was not given.
	LogMissing = "missing"
	// LogUnknown is one of which no sidecar has told.
	LogUnknown = "unknown"
)

// FleetLog is what was found of one log.
type FleetLog struct {
	Replica string `json:"replica,omitempty"`
	State   string `json:"state"`
	// StateDir is where the log is, empty where it is missing.
	StateDir string `json:"state_dir,omitempty"`
	// Lines are the most that the others were told of, at Time.
	Lines  int64     `json:"lines"`
	Time   time.Time `json:"time,omitzero"`
	Report Report    `json:"report"`
}

// VerifyFleet verifies the logs in state folders, and that each goes as far as its sidecar has
// told the others. The heads must be older than the logs, or copies of them, that they are held
// against.
func VerifyFleet(stateDirs []string, told []Told) ([]FleetLog, error) {
	chains := map[string][]Told{}
	for _, t := range told {
		chains[t.Chain] = append(chains[t.Chain], t)
	}
	var found []FleetLog
	given := map[string]bool{}
	for _, dir := range stateDirs {
		key, err := readKey(dir)
		if err != nil {
			return nil, fmt.Errorf("verifying the decision log in %s: %w", dir, err)
		}
		name := newChain(key, origin).name()
		given[name] = true
		one, err := verifyOne(dir, chains[name])
		if err != nil {
			return nil, fmt.Errorf("in %s: %w", dir, err)
		}
		found = append(found, one)
	}
	for name, heads := range chains {
		if !given[name] {
			found = append(found, of(heads, LogMissing))
		}
	}
	slices.SortStableFunc(found, func(a, b FleetLog) int { return strings.Compare(a.Replica, b.Replica) })
	return found, nil
}

// of is a log by the heads that were told of it.
func of(heads []Told, state string) FleetLog {
	f := FleetLog{State: state}
	for _, t := range heads {
		if f.Replica == "" || !t.Time.Before(f.Time) {
			f.Replica, f.Time = t.Replica, t.Time
		}
		f.Lines = max(f.Lines, t.Lines)
	}
	return f
}

func verifyOne(dir string, told []Told) (FleetLog, error) {
	var heads []Head
	for _, t := range told {
		heads = append(heads, Head{Time: t.Time, Lines: t.Lines, Hash: t.Hash})
	}
	f := of(told, LogWhole)
	f.StateDir = dir
	var err error
	if f.Report, err = Verify(dir, heads...); err != nil && !errors.Is(err, ErrTampered) {
		return f, err
	}
	switch {
	case f.Report.Missing > 0:
		f.State = LogCutShort
	case err != nil:
		f.State = LogTampered
	case len(told) == 0:
		f.State = LogUnknown
	}
	return f, nil
}

// StateDirs are the state folders at a path: it, or those in it.
func StateDirs(path string) ([]string, error) {
	if isDir(decisionsDir(path)) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	var all []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); isDir(decisionsDir(dir)) {
			all = append(all, dir)
		}
	}
	if err == nil && all == nil {
		err = fmt.Errorf("%s holds no decision log: want a state folder, or a folder of state folders", path)
	}
	return all, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
