package pdp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

const servesTests = "serve-tests"

func commanded(words ...string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, words[0], words[1:]...) }
}

// TestMain lets the program of these tests run tests of policies.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == servesTests {
		if err := regotest.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAnotherProcessTellsTheFaultsThatThisOneWouldTell(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"sound":               {"p.rego": allowing, "p_test.rego": allowingTest},
		"without tests":       {"p.rego": allowing},
		"failing":             {"p.rego": allowing, "p_test.rego": allowingTest + "\ntest_fails if {\n\tfalse\n}\n"},
		"a test is no Rego":   {"p.rego": allowing, "p_test.rego": "package t\n\ntest_x if {"},
		"both are no Rego":    {"p.rego": "package bailiff\n\nx := {", "p_test.rego": "package t\n\ntest_x if {"},
		"a name is unknown":   {"p.rego": allowing + "\nx if y(1)\n", "p_test.rego": allowingTest},
		"a test does nothing": {"p.rego": allowing, "p_test.rego": allowingTest + "\ntest_unknown if y(1)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Config{Paths: []string{tree(t, files)}, RequireTests: true, EvalTimeout: time.Minute}
			_, here := Open(t.Context(), c)
			c.TestCommand = commanded(os.Args[0], servesTests)
			p, apart := Open(t.Context(), c)
			if fmt.Sprint(here) != fmt.Sprint(apart) {
				t.Errorf("this process tells\n%v\nthe other one\n%v", here, apart)
			}
			if apart == nil && len(p.inForce.Load().files) != len(files) {
				t.Errorf("in force are %v", p.inForce.Load().files)
			}
		})
	}
}

func TestPoliciesWhoseTestsCouldNotBeRunAreNotInForce(t *testing.T) {
	files := map[string]string{"p.rego": allowing, "p_test.rego": allowingTest}
	for program, want := range map[string]string{
		"/nowhere/program":                              "no such file",
		"sh -c echo_why>&2;exit_3":                      "exit status 3: why",
		"sh -c head_-c1>/dev/null;echo_no":              "could not be run",
		"true":                                          "could not be run",
		"sh -c head_-c1>/dev/null;kill_$$":              "signal: terminated",
		"sh -c head_-c1>/dev/null;echo_{}":              "the answer is about no files",
		"sh -c head_-c1>/dev/null;echo_'{\"Ok\":true}'": "unknown field",
	} {
		words := strings.Fields(program)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "_", " ")
		}
		_, err := Open(t.Context(), Config{Paths: []string{tree(t, files)}, RequireTests: true, TestCommand: commanded(words...)})
		if err == nil || !strings.HasPrefix(err.Error(), "the tests of the policies could not be run") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", program, err, want)
		}
	}
}

// TestFilesWhoseNamesAreNoTextAreTestedEach has two files of a bundle that differ in a byte that is no UTF-8.
func TestFilesWhoseNamesAreNoTextAreTestedEach(t *testing.T) {
	t.Parallel()
	files := []source.File{{Name: "p.rego", Place: "p.rego", Text: []byte(allowing)},
		{Name: "a\xff_test.rego", Place: "a\xff_test.rego", Text: []byte("package t\n\ntest_none if {\n\tfalse\n}\n")},
		{Name: "a\xfe_test.rego", Place: "a\xfe_test.rego", Text: []byte(allowingTest)}}
	site := regotest.NewProcess(commanded(os.Args[0], servesTests), nil)
	defer site.Close()
	if ended := site.Run(t.Context(), files); len(ended.Faults) != 1 || !strings.Contains(ended.Faults[0].Message, "test_none: FAIL") {
		t.Errorf("got %v, want the test that fails", ended.Faults)
	}
}

func TestTestsEndWithTheSidecarThatWantsThem(t *testing.T) {
	in, sidecar := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- regotest.Serve(t.Context(), in, io.Discard) }()
	endless := "package t\n\ntest_x if {\n\tsome a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\ta + b == 0\n}\n"
	request := map[string]any{"Files": []map[string]any{
		{"Name": []byte("p.rego"), "Place": []byte("p.rego"), "Digest": passes.Key{1}, "Text": []byte(allowing)},
		{"Name": []byte("p_test.rego"), "Place": []byte("p_test.rego"), "Digest": passes.Key{2}, "Text": []byte(endless)}}}
	must(t, json.NewEncoder(sidecar).Encode(request))
	must(t, sidecar.Close())
	must(t, <-ended)
}

func TestTheLogSaysWhatHoldsWhileTestsRun(t *testing.T) {
	t.Parallel()
	folder := tree(t, map[string]string{"p.rego": allowing, "p_test.rego": allowingTest})
	var log bytes.Buffer
	p, err := Open(t.Context(), Config{Paths: []string{folder}, RequireTests: true, EvalTimeout: time.Minute,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	for _, want := range []string{"no request is answered", "the policies of before stay in force"} {
		if said := log.String(); !strings.Contains(said, want) || strings.Count(said, "running the tests") != 1 {
			t.Errorf("it says %s, want %q", said, want)
		}
		log.Reset()
		write(t, filepath.Join(folder, "p.rego"), allowing+"\n# changed\n")
		p.reload(t.Context(), true)
	}
}
