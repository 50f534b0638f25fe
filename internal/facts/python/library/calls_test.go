package library

import (
	"strings"
	"testing"
)

func TestFaultsOfTheTableOfCallsAreToldWithTheirLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"open: open_file\nprint":         "line 2",
		"open: opens":                    "line 1",
		"open: open_file\nopen: nothing": "line 2",
		"open: open_file file more":      "line 1",
		"os.execv: run_path skip=one":    "line 1",
		"os.execv: run_path many=1":      "line 1",
		"open: open_file, opens":         "line 1",
	} {
		if _, err := readCalls(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %s", text, err, want)
		}
	}
}

func TestTheTableOfCallsIsRead(t *testing.T) {
	t.Parallel()
	if got, want := Behaviours()["os.spawnv"], (Behaviour{Kind: DoesRunPath, Skip: 1}); got != want {
		t.Errorf("os.spawnv: %+v, want %+v", got, want)
	}
	if got, want := Behaviours()["netrc.netrc"], (Behaviour{Kind: DoesReads, Name: "file", Usual: "~/.netrc"}); got != want {
		t.Errorf("netrc.netrc: %+v, want %+v", got, want)
	}
	got := Behaviours()["fileinput.input"]
	if got.Also == nil || *got.Also != (Behaviour{Kind: DoesWrites, Name: "files", When: "inplace"}) {
		t.Errorf("fileinput.input: %+v, and besides %+v, want writes when inplace", got, got.Also)
	}
}
