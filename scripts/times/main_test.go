package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	testGraph = `[
 {"Mode": "build", "Package": "fmt", "CmdUser": 6000000000, "CmdSys": 1000000000},
 {"Mode": "build", "Package": "github.com/bailiff-dev/bailiff/app", "CmdUser": 3000000000},
 {"Mode": "build", "Package": "github.com/bailiff-dev/bailiff/app_test", "CmdUser": 1000000000},
 {"Mode": "link", "Package": "github.com/bailiff-dev/bailiff/app.test", "CmdUser": 2000000000},
 {"Mode": "build check cache", "Package": "github.com/bailiff-dev/bailiff/app"},
 {"Mode": "test run", "Package": "github.com/bailiff-dev/bailiff/app", "TimeStart": "2026-01-01T00:00:00Z",
  "TimeDone": "2026-01-01T00:01:00Z"},
 {"Mode": "test run", "Package": "github.com/bailiff-dev/bailiff", "TimeStart": "2026-01-01T00:00:00Z",
  "TimeDone": "2026-01-01T00:00:02Z"}
]`
	raceGraph = `[
 {"Mode": "link", "Package": "github.com/bailiff-dev/bailiff/app.test", "CmdUser": 3000000000},
 {"Mode": "test run", "Package": "github.com/bailiff-dev/bailiff/app", "TimeStart": "2026-01-01T00:00:00Z",
  "TimeDone": "2026-01-01T00:00:09Z"}
]`
)

func TestTheTablesShowStepsAndPackages(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"steps": "lint 30\ntest 600\n", "test.graph": testGraph, "race.graph": raceGraph} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const want = `| step | seconds |
|---|---|
| lint | 30 |
| test | 600 |

| package | compile | link | test | race |
|---|---|---|---|---|
| ` + "`app`" + ` | 4 | 5 | 60 | 9 |
| ` + "`libraries`" + ` | 7 | 0 | 0 | 0 |
| the others | 0 | 0 | 2 | 0 |
| all | 11 | 5 | 62 | 9 |
`
	var printed strings.Builder
	if err := report(&printed, folder); err != nil || printed.String() != want {
		t.Errorf("it printed, %v:\n%s\nwant\n%s", err, printed.String(), want)
	}
}

func TestARunThatEndedEarlyHasItsStepsOnly(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "steps"), []byte("lint 30\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := report(&printed, folder); err != nil || !strings.Contains(printed.String(), "| lint | 30 |\n") {
		t.Errorf("it printed %q, %v", printed.String(), err)
	}
	if err := os.WriteFile(filepath.Join(folder, "test.graph"), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := report(&printed, folder); err == nil {
		t.Error("half a graph was taken")
	}
}
