package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

var contains = strings.Contains

func numbered(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintln(&all, "line", i)
	}
	return all.String()
}

func TestHowAnAnswerLooks(t *testing.T) {
	t.Parallel()
	const base64 = "base64"
	long := numbered(100)
	for _, test := range []struct {
		name   string
		answer api.Answer
		text   string
		file   *File
	}{
		{"a short output", api.Answer{Output: "a\nb\n"}, "```a\nb```", nil},
		{"no output", api.Answer{}, "It printed nothing.", nil},
		{"only lines' ends", api.Answer{Output: "\n\n"}, "It printed nothing but white space.", nil},
		{"an exit status", api.Answer{Output: "no such file\n", ExitCode: 2}, "```no such file```*Exit status 2. *", nil},
		{"an exit status without output", api.Answer{ExitCode: 1}, "*Exit status 1. *It printed nothing.", nil},
		{"what the sidecar adds", api.Answer{Output: "a", Message: "Stopped 2 processes first."}, "```a```Stopped 2 processes first.",
			nil},
		{"what a terminal would obey", api.Answer{Output: "\x1b[31mred\x1b[0m\ta\u202eb\r\n"},
			"```" + `\x1b[31mred\x1b[0m` + "\ta" + `\u202eb` + "```", nil},
		{"forty lines", api.Answer{Output: numbered(40)}, "```" + strings.TrimSuffix(numbered(40), "\n") + "```", nil},
		{"more lines", api.Answer{Output: long},
			"```" + strings.Join(strings.Split(long, "\n")[:12], "\n") + "```… 76 lines left out here, see output.txt …```" +
				strings.Join(strings.Split(long, "\n")[88:100], "\n") + "```",
			&File{"output.txt", []byte(long)}},
		{"one long line", api.Answer{Output: strings.Repeat("é", 1501)},
			"```" + strings.Repeat("é", 600) + "```… the rest is left out here, see output.txt …```" + strings.Repeat("é", 600) +
				"```",
			&File{"output.txt", []byte(strings.Repeat("é", 1501))}},
		{"what was cut", api.Answer{Output: long, Truncated: true, ExitCode: 1},
			"```" + strings.Join(strings.Split(long, "\n")[:12], "\n") + "```… 76 lines left out here, see output.txt …```" +
				strings.Join(strings.Split(long, "\n")[88:100], "\n") + "```" +
				"*Exit status 1. *The middle of the output went beyond the limit and is lost.", &File{"output.txt", []byte(long)}},
		{"what is no text", api.Answer{Output: "/wAB", OutputEncoding: base64}, "The output is no text: it is in output.bin.",
			&File{"output.bin", []byte{0xff, 0, 1}}},
		{"a denial", api.Answer{Status: bailiff.Refused, Message: "Denied: It pushes (house.pushes). Instead: open a pull request."},
			"*Not run. *Denied: It pushes (house.pushes). Instead: open a pull request.", nil},
		{"an approval that nobody gave", api.Answer{Status: bailiff.Expired, Message: "Nobody answered."},
			"*Not run. *Nobody answered.", nil},
		{"one that is still to come", api.Answer{Status: bailiff.ApprovalRequired,
			Message: "Needs approval ap1. Send the same request again once it is approved."},
			"*Not run yet. *Needs approval ap1. Send the same request again once it is approved.", nil},
		{"a time limit", api.Answer{Status: bailiff.TimedOut, Output: "a", Message: "Stopped after 3m0s."},
			"```a```*Its time was up. *Stopped after 3m0s.", nil},
		{"what an operator stopped", api.Answer{Status: bailiff.Interrupted, Output: "a", Message: "An operator froze the session."},
			"```a```*Interrupted. *An operator froze the session.", nil},
		{"a backend that is not ready", api.Answer{Status: bailiff.Unavailable, Message: "The backend docker is not ready."},
			"*Not run. *The backend docker is not ready.", nil},
		{"a fault", api.Answer{Status: bailiff.Failed, Message: "The sandbox was lost."}, "*Failed. *The sandbox was lost.", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.answer.Status == "" {
				test.answer.Status = bailiff.Completed
			}
			m := outcome(&run{}, test.answer, nil, "")
			if got := flat(m.Text); got != test.text {
				t.Errorf("it says\n%s\nwant\n%s", got, test.text)
			}
			if (m.File == nil) != (test.file == nil) || m.File != nil &&
				(m.File.Name != test.file.Name || string(m.File.Content) != string(test.file.Content)) {
				t.Errorf("with it goes %+v", m.File)
			}
		})
	}
}

func TestWhatTheSidecarDoesNotTakeIsSaid(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Env = []string{"no variable"} })
	k.direct("id")
	k.shows(dm,
		"*Not run. *The request is not valid: /env/0: want a variable's name (letters, digits and _, no digit first), is \"no variable\".")
}

// FuzzDisplay: whatever a command prints, what is shown of it is bounded, moves no cursor,
// and is all of it or comes with a file that is.
func FuzzDisplay(f *testing.F) {
	f.Add([]byte("a\x1b[2J\n"), 1)
	f.Add([]byte("\u202e\xff"), 3000)
	f.Add([]byte("line\r\n"), 500)
	f.Add([]byte{0xc3}, 1)
	f.Fuzz(func(t *testing.T, piece []byte, times int) {
		output := []byte(strings.Repeat(string(piece), 1+max(times, -(times+1))%3000))
		shown, file := display(output)
		total := 0
		for _, p := range shown {
			for _, c := range p.Text {
				if c != '\n' && c != '\t' && !termsafe.IsVisible(c) {
					t.Fatalf("%q is shown as %q", output, p.Text)
				}
			}
			if p.Style == Block {
				total += utf8.RuneCountInString(p.Text)
				if p.Text == "" {
					t.Fatalf("%.100q is shown in an empty block", output)
				}
			}
		}
		if total > shownChars {
			t.Fatalf("%d characters are shown", total)
		}
		if file != nil && string(file.Content) != string(output) {
			t.Fatalf("the file holds %.100q of %.100q", file.Content, output)
		}
		if file == nil && len(output) > 0 && total == 0 && strings.TrimSpace(string(output)) != "" {
			t.Fatalf("nothing is shown of %.100q", output)
		}
	})
}

// pending is an approval that ben is to give; answers are what can become of it.
var pending = &bailiff.Approval{ID: "ap1", State: bailiff.ApprovalPending, Message: "waiting for ben to answer on slack until noon"}

// asking is a sidecar that asks for approval until say is called.
func asking() (c *fakeSidecar, say func(bailiff.Approval, bailiff.Answer)) {
	type word struct {
		bailiff.Approval
		bailiff.Answer
	}
	spoken := make(chan word)
	c = &fakeSidecar{}
	c.execute = func(ctx context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Approval: pending})
		select {
		case w := <-spoken:
			news(bailiff.Progress{Approval: &w.Approval})
			return w.Answer
		case <-ctx.Done():
			return bailiff.Answer{Status: bailiff.ApprovalRequired, ExitCode: bailiff.ExitPending, Message: "Needs approval ap1."}
		}
	}
	return c, func(a bailiff.Approval, answer bailiff.Answer) { spoken <- word{a, answer} }
}

const waitsForBen = "*Waiting for approval.* Approval `ap1`: Waiting for ben to answer on slack until noon."

func TestTheThreadSaysForWhomItWaitsAndWhatTheySaid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state   bailiff.ApprovalState
		message string
		answer  bailiff.Answer
		notice  string
		last    string
	}{
		{bailiff.ApprovalApproved, "ben approved it, once", bailiff.Answer{Status: bailiff.Completed, Output: []byte("pushed\n")},
			"*Approved.* Approval `ap1`: Ben approved it, once.", "`git push`\n```pushed```"},
		{bailiff.ApprovalDenied, "ben denied it: not on Fridays",
			bailiff.Answer{Status: bailiff.Refused, Message: "Denied: ben denied it: not on Fridays."},
			"*Denied.* Approval `ap1`: Ben denied it: not on Fridays.", "`git push`\n*Not run. *Denied: ben denied it: not on Fridays."},
		{bailiff.ApprovalExpired, "nobody answered", bailiff.Answer{Status: bailiff.Expired, Message: "Nobody answered."},
			"*Expired.* Approval `ap1`: Nobody answered.", "`git push`\n*Not run. *Nobody answered."},
		{bailiff.ApprovalUnreachable, "slack is down", bailiff.Answer{Status: bailiff.Unavailable, Message: "Slack is down."},
			"*Nobody can be asked.* Approval `ap1`: Slack is down.", "`git push`\n*Not run. *Slack is down."},
	} {
		t.Run(string(test.state), func(t *testing.T) {
			c, say := asking()
			k := newSessionsTest(t, c, nil)
			k.direct("git push")
			k.shows(dm, waitsForBen)
			say(bailiff.Approval{ID: "ap1", State: test.state, Message: test.message}, test.answer)
			k.settles()
			k.shows(dm, test.notice, test.last)
		})
	}
}

func TestWhatIsStoppedWhileItWaitsSaysSo(t *testing.T) {
	t.Parallel()
	c, _ := asking()
	k := newSessionsTest(t, c, nil)
	k.direct("git push")
	k.shows(dm, waitsForBen)
	if got := k.answer("dm", dm, "/stop"); got != "Stopped `git push`." {
		t.Errorf("it says %q", got)
	}
	k.settles()
	k.shows(dm, "*Waits no longer.* Approval `ap1`: Stopped by Ana.", "`git push`\n*Stopped by Ana.*")
}

func TestAnAnswerThatComesBeforeTheQuestionIsShownIsAllThatIsShown(t *testing.T) {
	t.Parallel()
	c, say := asking()
	k := newSessionsTest(t, c, nil)
	shut := make(chan struct{})
	tried := make(chan struct{}, 10)
	k.surface.fails = func(Place) error { tried <- struct{}{}; <-shut; return nil }
	k.direct("git push")
	<-tried
	say(bailiff.Approval{ID: "ap1", State: bailiff.ApprovalDenied, Message: "no"},
		bailiff.Answer{Status: bailiff.Refused, Message: "Denied: no."})
	close(shut)
	k.settles()
	k.shows(dm, "*Denied.* Approval `ap1`: No.", "`git push`\n*Not run. *Denied: no.")
}

func TestAServiceThatTakesNoAnswerHoldsUpItsSessionOnly(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	shut := make(chan struct{})
	k.surface.fails = func(at Place) error {
		if at == dm {
			<-shut
		}
		return nil
	}
	for i := range 3 {
		k.direct(fmt.Sprint("a", i))
	}
	k.begun(1)
	for i := range 50 {
		k.says(ben, "dm", Place{Chat: fmt.Sprint("E", i)}, "b", false)
	}
	backendtest.Await(t, "the others are answered", func() bool { return k.surface.total() == 50 })
	if got := len(k.sidecar.requests()); got != 51 {
		t.Errorf("%d commands ran", got)
	}
	backendtest.Await(t, "its status says so", func() bool {
		return k.answer("dm", dm, "/status") == "`a0` has ended, and its answer is being shown.\n2 commands wait behind it.\n"+
			"The last answer came Ns ago from `docker`, sandbox `sb1`."
	})
	close(shut)
	k.settles()
	k.shows(dm, "```ran a0```", "`a1`\n```ran a1```", "`a2`\n```ran a2```")
}

func TestAnAnswerIsOfferedAgainUntilItIsRefused(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	var mu sync.Mutex
	faults := []error{&Busy{}, errors.New("broken pipe"), nil, &Refused{"not in the channel"}}
	k.surface.fails = func(Place) error {
		mu.Lock()
		defer mu.Unlock()
		if len(faults) == 0 {
			return nil
		}
		err := faults[0]
		faults = faults[1:]
		return err
	}
	for _, command := range []string{"a", "b", "c"} {
		k.direct(command)
		k.settles()
	}
	k.shows(dm, "```ran a```", "```ran c```")
}

func TestWithoutAThreadACommandDoesNotRun(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	faults := []error{&Refused{"the permission to make threads is missing"}, nil, ErrGone}
	k.surface.fails = func(Place) error { err := faults[0]; faults = faults[1:]; return err }
	k.says(ana, "channel", channel, "id", true)
	k.settles()
	k.says(ana, "channel", channel, "id", true)
	k.settles()
	k.shows(channel, "*Not run. *A thread for it cannot be made: the permission to make threads is missing.")
	if got := len(k.sidecar.requests()); got != 0 {
		t.Errorf("%d commands ran", got)
	}
}

func TestClosingStopsWhatRunsAndSaysSo(t *testing.T) {
	t.Parallel()
	c, _ := held()
	k := newSessionsTest(t, c, nil)
	for i := range 3 {
		k.direct(fmt.Sprint("a", i))
	}
	k.says(ben, "dm", Place{Chat: "D2"}, "b", false)
	k.begun(2)
	k.Close()
	k.shows(dm, "```so far```*Stopped: bailiff is shutting down, and does not run the 2 commands that wait here.*")
	k.shows(Place{Chat: "D2"}, "```so far```*Stopped: bailiff is shutting down.*")
	k.direct("late")
	k.settles()
	if got := len(c.requests()); got != 2 {
		t.Errorf("%d commands ran", got)
	}
}

func TestClosingWaitsForNoServiceThatIsDown(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.surface.fails = func(Place) error { return errors.New("down") }
	k.direct("a")
	k.says(ana, "channel", channel, "b", true)
	k.direct("/status")
	k.begun(1)
	k.Close()
	k.settles()
}

// commandCounts counts commands.
type commandCounts struct {
	mu  sync.Mutex
	all map[string]int
}

func (c *commandCounts) ChatCommand(service string, status bailiff.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[service+" "+string(status)]++
}

func TestCommandsAreCountedByHowTheyEnd(t *testing.T) {
	t.Parallel()
	counted := &commandCounts{all: map[string]int{}}
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Observer = counted })
	k.sidecar.execute = func(_ context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		return bailiff.Answer{Status: bailiff.Status(req.Args.Command)}
	}
	for _, text := range []string{"completed", "completed", "timeout", "```ls", "/status"} {
		k.direct(text)
	}
	k.says(stranger, "dm", dm, "completed", true)
	k.settles()
	if got := fmt.Sprint(counted.all); got != "map[slack completed:2 slack denied:1 slack timeout:1]" {
		t.Errorf("counted is %s", got)
	}
}
