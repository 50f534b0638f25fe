package nested

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhatIsKeptOfARepositoryGoesOnceNothingHasLedToItForLong(t *testing.T) {
	state, project := t.TempDir(), t.TempDir()
	p := Of(state, project)
	id := func(letter string) string { return strings.Repeat(letter, 26) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, letter := range []string{"A", "B", "C", "D"} {
		must(os.MkdirAll(filepath.Join(p.Folder, id(letter), "objects"), 0o700))
	}
	for folder, letter := range map[string]string{"a": "A", "deep/b": "B", "wt": "W"} {
		must(os.MkdirAll(filepath.Join(project, folder), 0o700))
		must(os.Symlink(p.target+"/"+id(letter), filepath.Join(project, folder, ".git")))
	}
	must(os.WriteFile(filepath.Join(p.Folder, id("W")), []byte("gitdir: "+p.target+"/"+id("C")+"/worktrees/wt\n"), 0o600))
	must(os.Symlink("/elsewhere", filepath.Join(p.Folder, id("S"))))
	sweep := func(now time.Time, letters string) {
		t.Helper()
		must(p.Sweep(project, now))
		var left []string
		inside, err := os.ReadDir(p.Folder)
		must(err)
		for _, e := range inside {
			left = append(left, e.Name()[:1])
		}
		if !slices.Equal(left, strings.Split(letters, "")) {
			t.Errorf("left is %q, want %s", left, letters)
		}
	}
	begin := time.Now()
	sweep(begin, "ABCDSW")
	must(os.Rename(filepath.Join(project, "deep"), filepath.Join(state, "aside")))
	sweep(begin.Add(Lasting), "ABCDSW")
	sweep(begin.Add(Lasting+time.Hour), "ABCW") // B is missed since an hour
	must(os.Rename(filepath.Join(state, "aside"), filepath.Join(project, "moved")))
	sweep(begin.Add(2*Lasting+2*time.Hour), "ABCW")
	must(os.RemoveAll(filepath.Join(project, "moved")))
	must(os.RemoveAll(filepath.Join(project, "wt")))
	sweep(begin.Add(3*Lasting), "ABCW")
	must(os.Rename(project, project+"-away"))
	if err := p.Sweep(project, begin.Add(9*Lasting)); err == nil || !strings.Contains(err.Error(), project) {
		t.Errorf("of a project that is gone it says %v", err)
	}
	must(os.Rename(project+"-away", project))
	sweep(begin.Add(9*Lasting), "A")
}
