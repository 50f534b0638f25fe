package protected_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// What a command costs in a project: the beginning and the end of a watch, and a look in between. Beside git's there are as many
// patterns as the shipped policies have.
func BenchmarkWatch(b *testing.B) {
	var files []string
	for i := range 150 {
		files = append(files, fmt.Sprint(".settings-", i), fmt.Sprint("**/.settings-", i%50, ".js"))
	}
	files = append(files, "**/.vscode/tasks.json", "**/*.code-workspace", ".envrc")
	dir := tree(b, 100_000)
	for _, c := range []struct {
		name     string
		patterns []string
		script   string
	}{
		{"nothing", files, ""}, {"nothing, with git", append(files, all...), ""}, {"a file", files, "x.o"}, {"a folder", files, "new/x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			mounts := []bailiff.Mount{{Source: dir, Target: dir, Protected: c.patterns}}
			var k protected.Keeper
			first, err := k.Watch(mounts) // it walks
			if err != nil {
				b.Fatal(err)
			}
			_, _ = first.End()
			before := processor(b)
			for b.Loop() {
				w, err := k.Watch(mounts)
				if err == nil && c.script != "" {
					err = write(filepath.Join(dir, c.script))
				}
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.End(); err != nil {
					b.Fatal(err)
				}
				if c.script == "new/x" {
					if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric((processor(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// tree is a repository with so many files, ten in a folder.
func tree(b *testing.B, files int) string {
	b.Helper()
	dir := b.TempDir()
	for i := range files {
		if err := write(filepath.Join(dir, fmt.Sprint("d", i/1000), fmt.Sprint("e", i/10), fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	sh(b, dir, "git init -q . && git add . && echo x > .envrc")
	return dir
}

func write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o600)
}

// processor is the time for which this process has used one.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
