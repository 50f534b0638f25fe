package inside_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/ssh/inside"
)

// line is one end of a pair of pipes.
type line struct {
	io.Reader
	io.Writer
}

// asked puts a question to a host that does with input and output what serve does.
func asked(t *testing.T, q inside.Question, serve func(in, out *os.File)) (rest io.Reader, answer inside.Answer, err error) {
	t.Helper()
	in, to, err := os.Pipe()
	backendtest.Must(t, err)
	from, out, err := os.Pipe()
	backendtest.Must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(in, out)
		out.Close()
	}()
	t.Cleanup(func() {
		to.Close()
		from.Close()
		<-done
		in.Close()
	})
	answer, err = inside.Put(line{from, to}, q)
	return from, answer, err
}

func TestAQuestionIsAnswered(t *testing.T) {
	cfg := bubblewrap.Config{Runner: "/runner", StateDir: t.TempDir()}
	for name, c := range map[string]struct {
		q     inside.Question
		kind  error
		fault string
	}{
		"which workspaces there are": {inside.Question{Config: cfg, Ask: inside.List, Owner: "o"}, nil, ""},
		"to remove one":              {inside.Question{Config: cfg, Ask: inside.Remove, Owner: "o", Workspace: "w"}, nil, ""},
		"whether it is ready":        {inside.Question{Config: cfg, Ask: inside.Try}, backends.ErrUnavailable, "runner"},
		"for a sandbox that there cannot be": {inside.Question{Config: cfg, Ask: inside.Open, Spec: backends.Spec{Network: "full"}},
			backends.ErrUnsupported, "network"},
		"what nobody knows": {inside.Question{Config: cfg, Ask: "why"}, backends.ErrUnavailable,
			`nobody knows how to "why"`},
		"with a configuration that is faulty": {inside.Question{Ask: inside.List}, backends.ErrUnavailable, "state folder"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := asked(t, c.q, func(in, out *os.File) {
				backendtest.NoError(t, inside.Serve(in, out))
			})
			if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("the answer is %v, want one that wraps %v and says %q", err, c.kind, c.fault)
			}
		})
	}
}

// saying reads a question and then says what follows of the word with which the answer
// is to begin.
func saying(what func(begin string) string) func(in, out *os.File) {
	return func(in, out *os.File) {
		var text [4096]byte
		n, _ := in.Read(text[:])
		_, begin, _ := strings.Cut(string(text[:n]), `"Begin":"`)
		begin, _, _ = strings.Cut(begin, `"`)
		_, _ = io.WriteString(out, what(begin))
	}
}

func TestTheAnswerIsFoundAmongWhatElseIsSaidAndNothingBeyondIsRead(t *testing.T) {
	rest, answer, err := asked(t, inside.Question{Ask: inside.List}, saying(func(begin string) string {
		return "welcome\n\n" + `not ` + begin + `{"Workspaces":["forged"]}` + "\n" + begin + `{"Workspaces":["w"]}` + "\nthe runner's"
	}))
	if err != nil || !slices.Equal(answer.Workspaces, []string{"w"}) {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
	if left, err := io.ReadAll(rest); string(left) != "the runner's" || err != nil {
		t.Errorf("there is left %q, %v", left, err)
	}
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		says func(begin string) string
		want string
	}{
		"silence":     {func(string) string { return "" }, "asking bailiff-host: EOF"},
		"half of one": {func(begin string) string { return begin + "{}" }, "asking bailiff-host: unexpected EOF"},
		"much in one line": {func(string) string { return strings.Repeat("x", 2<<20) },
			"asking bailiff-host: it says much, but not what was waited for"},
		"much in many": {func(string) string { return strings.Repeat("welcome\n", 1<<18) },
			"asking bailiff-host: it says much, but not what was waited for"},
		"no JSON": {func(begin string) string { return begin + "yes\n" },
			"reading what bailiff-host says: invalid character 'y' looking for beginning of value"},
		"more than is known": {func(begin string) string { return begin + `{"Ready":true}` + "\n" },
			`reading what bailiff-host says: json: unknown field "Ready"`},
		"a fault with a colour": {func(begin string) string { return begin + `{"Fault":{"Text":"no\u001b[31m\nroom"}}` + "\n" },
			"no[31m room"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := asked(t, inside.Question{Ask: inside.Try}, saying(c.says)); err == nil || err.Error() != c.want {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

func TestWhatIsNoQuestionIsNotAnswered(t *testing.T) {
	for says, want := range map[string]string{
		"":                                   "<nil>",
		"half":                               "reading what is asked: unexpected EOF",
		"yes\n":                              "reading what is asked: invalid character 'y' looking for beginning of value",
		`{"Ask":"ready","Shell":"x"}` + "\n": `reading what is asked: json: unknown field "Shell"`,
		strings.Repeat(" ", 2<<20):           "reading what is asked: it says much, but not what was waited for",
	} {
		in, to, err := os.Pipe()
		backendtest.Must(t, err)
		go func() {
			_, _ = io.WriteString(to, says)
			to.Close()
		}()
		err = inside.Serve(in, nil)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%.20q is taken with %s, want %s", says, got, want)
		}
		in.Close()
	}
}
