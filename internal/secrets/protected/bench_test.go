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

// What a command costs in a project: the beginning and the end of a watch, and a look in between.
func BenchmarkWatch(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		dir := b.TempDir()
		for i := range files {
			folder := filepath.Join(dir, fmt.Sprint("d", i/1000), fmt.Sprint("e", i/10))
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
		sh(b, dir, "git init -q . && git add .")
		mounts := []bailiff.Mount{{Source: dir, Target: dir, Protected: all}}
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			var k protected.Keeper
			before := processor(b)
			for b.Loop() {
				w, err := k.Watch(mounts)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.End(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((processor(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
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
