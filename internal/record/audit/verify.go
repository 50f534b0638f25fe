package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// ErrTampered says that the log is not as it was written.
var ErrTampered = errors.New("the decision log was tampered with")

// Report is what [Verify] found.
type Report struct {
	Segments int   `json:"segments"`
	Lines    int64 `json:"lines"`
	// Retired counts the lines before them that retention removed.
	Retired int64 `json:"retired"`
	// Uncommitted counts the lines beyond the head: a running sidecar's last, or
	// a crashed one's.
	Uncommitted int64 `json:"uncommitted"`
	// Signed counts the signed heads that the log agrees with, Told those that its sidecar told
	// the others, Older those of lines that retention removed.
	Signed int `json:"signed_heads,omitempty"`
	Told   int `json:"told_heads,omitempty"`
	Older  int `json:"older_heads,omitempty"`
	// Missing is how many lines fewer there are than a head counts.
	Missing int64 `json:"missing,omitempty"`
	// Torn says that the log ends within a line that was never committed.
	Torn   bool    `json:"torn"`
	Faults []Fault `json:"faults"`
}

// Fault is a place where the log is not as it was written.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Problem string `json:"problem"`
}

// Place is the file, and the line if it is one that is at fault.
func (f Fault) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// maxFaults bounds a report.
const maxFaults = 100

// Verify reads the whole log, which may be in use. Its error wraps
// [ErrTampered] and names the first fault if there is one. With heads of it that were
// signed, or told to other sidecars, it holds the log to these too.
func Verify(stateDir string, heads ...Head) (Report, error) {
	key, err := readKey(stateDir)
	if err != nil {
		return Report{}, fmt.Errorf("verifying the decision log: %w", err)
	}
	for {
		v := &verification{key: key, heads: byLines(heads)}
		err := v.all(stateDir)
		if (err != nil || len(v.Faults) > 0) && v.outrun(stateDir) {
			continue
		}
		if err != nil {
			return v.Report, fmt.Errorf("verifying the decision log: %w", err)
		}
		return v.Report, v.verdict()
	}
}

// outrun says whether segments were retired meanwhile, which are missed then.
func (v *verification) outrun(stateDir string) bool {
	now, err := readHead(headPath(stateDir), v.key)
	return err == nil && now.From.Count != v.head.From.Count
}

type verification struct {
	Report
	key   []byte
	chain *chain
	head  head
	// headSeen says that the head's line was come by.
	headSeen bool
	// leaving says that the segment being read is one that retention has given up but
	// not removed yet. What came before the first of these is gone, so that its first
	// line is believed about the hash before it; entered is set from that line on.
	leaving, entered bool
	// fits says that something fits the key.
	fits bool
	// heads are those to which the log is held, by how many lines they count.
	heads map[int64][]Head

	file string
	line int
}

func (v *verification) all(stateDir string) (err error) {
	v.head, err = readHead(headPath(stateDir), v.key)
	if err != nil && !errors.Is(err, errHead) {
		return err
	}
	if err != nil {
		v.fault(headPath(stateDir), 0, err.Error())
	}
	v.fits = err == nil
	v.chain, v.Retired = newChain(v.key, v.head.From.last()), v.head.From.Count
	v.hold(v.Retired, v.chain.last)
	err = v.segments(stateDir)
	v.tellMissing()
	if err != nil || v.fits || v.Lines == 0 {
		return err
	}
	v.Faults = []Fault{{keyPath(stateDir), 0,
		fmt.Sprintf("neither the head nor any of the %d lines fits this key: it may be the key that was changed and not the log, so "+
			"verify again with the key of a backup", v.Lines)}}
	return nil
}

func (v *verification) verdict() error {
	if len(v.Faults) == 0 {
		return nil
	}
	f := v.Faults[0]
	return fmt.Errorf("%w: %s: %s", ErrTampered, f.Place(), f.Problem)
}

func (v *verification) fault(file string, line int, problem string) {
	if len(v.Faults) < maxFaults {
		v.Faults = append(v.Faults, Fault{file, line, problem})
	}
}

func (v *verification) segments(stateDir string) error {
	names, strays, err := segments(stateDir)
	if err != nil {
		return err
	}
	v.headSeen = v.head.Count == v.head.From.Count
	v.file = decisionsDir(stateDir)
	for i, name := range names {
		if err := v.segment(filepath.Join(decisionsDir(stateDir), name), i == len(names)-1); err != nil {
			return err
		}
	}
	if !v.headSeen {
		v.fault(v.file, v.line+1,
			fmt.Sprintf("the log ends here or was changed before, but the head counts %d lines, so lines were cut off", v.head.Count))
	}
	for _, name := range strays {
		v.fault(filepath.Join(decisionsDir(stateDir), name), 1, "the file is no segment of the log")
	}
	return nil
}

func (v *verification) segment(path string, last bool) error {
	v.file, v.line = path, 0
	if v.leaving = v.head.From.isRetired(filepath.Base(path)); !v.leaving {
		v.Segments++
	}
	rest, err := lines(path, 0, v.next)
	if v.leaving && errors.Is(err, fs.ErrNotExist) {
		v.chain.last, v.entered = v.head.From.Last, false // it has left by now
		return nil
	}
	if err != nil || rest == 0 {
		return err
	}
	if last && v.headSeen {
		v.Torn = true
		return nil
	}
	v.fault(path, v.line+1, "the line is cut short")
	return nil
}

// enter begins the chain at the first line that is there.
func (v *verification) enter(line []byte) {
	if prev, _, ok := sealOf(line); ok && v.leaving && !v.entered {
		v.chain.last = string(prev)
	}
	v.entered = true
}

func (v *verification) next(line []byte, _ int64) error {
	v.line++
	v.enter(line)
	if !v.leaving {
		v.Lines++
	}
	if v.headSeen {
		v.Uncommitted++
	}
	err := v.chain.follow(line)
	if err != nil {
		v.fault(v.file, v.line, err.Error())
	}
	v.fits = v.fits || err == nil || errors.Is(err, errOrder)
	if v.chain.last == v.head.Last {
		v.headSeen = true
	}
	if !v.leaving {
		v.hold(v.Retired+v.Lines, v.chain.last)
	}
	return nil
}
