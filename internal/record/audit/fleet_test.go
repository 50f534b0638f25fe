package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// grown lets a log grow by some lines, and returns how far it goes then.
func grown(t *testing.T, dir string, lines int) Told {
	t.Helper()
	l := open(t, Config{StateDir: dir})
	for i := range lines {
		record(t, l, decision(fmt.Sprint(i)))
	}
	head := l.Head()
	must(t, l.Close())
	head.Replica, head.Time = filepath.Base(dir), time.Date(2026, 11, 27, 12, 0, int(head.Lines), 0, time.UTC)
	return head
}

// copied puts a state folder, as it is now, at another path.
func copied(t *testing.T, dir, to string) string {
	t.Helper()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	must(t, os.Chmod(keyPath(to), 0o600))
	return to
}

// What the other sidecars were told of a log shows what the log itself does not.
func TestALogThatDoesNotGoAsFarAsTheOthersWereToldIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// harm does it to the log of "two", and returns where it is then, if it is.
		harm  func(t *testing.T, dir, early string) string
		state string
		says  string
	}{
		"none": {func(_ *testing.T, dir, _ string) string { return dir }, LogWhole, ""},
		"an old copy in its place": {func(_ *testing.T, _, early string) string { return early }, LogCutShort,
			"the log ends after 3 lines, and 7 were told to the other sidecars at 2026-11-27T12:00:07Z: lines were cut off"},
		"an old copy that went on": {func(t *testing.T, _, early string) string {
			grown(t, early, 5)
			return early
		}, LogTampered, "this is line 7 of the log, and not the one whose hash was told to the other sidecars"},
		"a line that was edited": {func(t *testing.T, dir, _ string) string {
			names, _, err := segments(dir)
			must(t, err)
			edit(t, filepath.Join(decisionsDir(dir), names[0]), func(lines [][]byte) [][]byte {
				lines[1] = []byte(strings.Replace(string(lines[1]), "decision", "derision", 1))
				return lines
			})
			return dir
		}, LogTampered, "edited"},
		"a log begun anew": {func(t *testing.T, dir, _ string) string {
			must(t, os.RemoveAll(decisionsDir(dir)))
			must(t, os.RemoveAll(filepath.Dir(keyPath(dir))))
			grown(t, dir, 9)
			return dir
		}, LogMissing, ""},
		"one that is gone": {func(_ *testing.T, _, _ string) string { return "" }, LogMissing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			one, two := filepath.Join(folder, "one"), filepath.Join(folder, "two")
			told := []Told{grown(t, one, 2), grown(t, two, 3)}
			early := copied(t, two, filepath.Join(folder, "early"))
			told = append(told, grown(t, two, 4))
			given := []string{one}
			if dir := c.harm(t, two, early); dir != "" {
				given = append(given, dir)
			}
			logs, err := VerifyFleet(given, told)
			must(t, err)
			found := map[string]FleetLog{}
			for _, l := range logs {
				found[l.Replica] = l
			}
			if l := found["one"]; l.State != LogWhole || l.Lines != 2 || l.Report.Told != 1 {
				t.Errorf("of the sound one it says %+v", l)
			}
			l := found["two"]
			if l.State != c.state || l.Lines != 7 || c.says == "" != (len(l.Report.Faults) == 0) ||
				c.says != "" && !strings.Contains(l.Report.Faults[0].Problem, c.says) {
				t.Errorf("it says %+v", l)
			}
			if _, unknown := found[""]; unknown != (name == "a log begun anew") {
				t.Errorf("it knows of a log that no sidecar told of: %v", unknown)
			}
		})
	}
}

func TestStateFoldersAreFoundInAFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	grown(t, filepath.Join(folder, "one"), 1)
	grown(t, filepath.Join(folder, "two"), 1)
	must(t, os.Mkdir(filepath.Join(folder, "other"), 0o700))
	if all, err := StateDirs(folder); err != nil || len(all) != 2 {
		t.Errorf("it finds %v, %v", all, err)
	}
	if all, err := StateDirs(filepath.Join(folder, "two")); err != nil || len(all) != 1 {
		t.Errorf("of one it finds %v, %v", all, err)
	}
	if _, err := StateDirs(filepath.Join(folder, "other")); err == nil || !strings.Contains(err.Error(), "want a state folder") {
		t.Errorf("of none it says %v", err)
	}
}
