package chat

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// answer has ana choose a word where only she hears what comes of it, and returns that.
func (k *sessionsTest) answer(kind string, at Place, word string) string {
	k.t.Helper()
	heard := make(chan Text, 1)
	k.n++
	k.Said(k.t.Context(), Said{Ref: Ref{at, fmt.Sprint("m", k.n)}, Kind: kind, By: ana, Text: word, Mentioned: true, SlashCommand: true,
		Ephemeral: func(_ context.Context, text Text) error { heard <- text; return nil }})
	return seconds.ReplaceAllString(flat(awaittest.Value(k.t, "an answer to "+word, heard)), "Ns")
}

var seconds = regexp.MustCompile(`\b\d+s\b`)

func TestStatusSaysWhatRunsWhatWaitsAndWhoAnsweredLast(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	if got := k.answer("dm", dm, "/status"); got != "Nothing runs here." {
		t.Errorf("at first it says %q", got)
	}
	for i := range 3 {
		k.direct(fmt.Sprint("a", i))
	}
	k.begun(1)
	if got, want := k.answer("dm", dm, "/status"), "`a0` of Ana is under way for Ns.\n2 commands wait behind it."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for i := range 3 {
		release(fmt.Sprint("a", i))
	}
	k.settles()
	if got, want := k.answer("dm", dm, " /status "),
		"Nothing runs here.\nThe last answer came Ns ago from `docker`, sandbox `sb1`."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	const elsewhere = "Nothing runs here. What was begun by naming me is in the threads here, each a session of its own."
	if got := k.answer("channel", channel, "/status"); got != elsewhere {
		t.Errorf("in a channel it says %q", got)
	}
}

func TestStatusSaysWhatTakesLongAndForWhomACommandWaits(t *testing.T) {
	t.Parallel()
	steps, stop := make(chan bailiff.Progress), make(chan struct{})
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.sidecar.execute = func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		for {
			select {
			case p := <-steps:
				news(p)
			case <-stop:
				return printed(req, "done")
			}
		}
	}
	k.direct("make")
	for _, test := range []struct {
		news bailiff.Progress
		want string
	}{
		{bailiff.Progress{Step: "pulling the image"}, "`make` of Ana is under way for Ns. Pulling the image."},
		{bailiff.Progress{Approval: pending},
			"`make` of Ana is under way for Ns.\n*Waiting for approval.* Approval `ap1`: Waiting for ben to answer on slack until noon."},
	} {
		steps <- test.news
		backendtest.Await(t, "it says "+test.want, func() bool { return k.answer("dm", dm, "/status") == test.want })
	}
	close(stop)
	k.settles()
}

func TestStopStopsWhatRunsAndWhatWaits(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	if got := k.answer("dm", dm, "/stop"); got != "Nothing runs here." {
		t.Errorf("at first it says %q", got)
	}
	for i := range 3 {
		k.direct(fmt.Sprint("a", i))
	}
	k.begun(1)
	if got, want := k.answer("dm", dm, "/stop"), "Stopped `a0`. 2 commands that waited do not run."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	k.shows(dm, "```so far```*Stopped by Ana.*")
	release("after")
	k.direct("after")
	k.shows(dm, "```so far```*Stopped by Ana.*", "```ran after```")
	if got := len(c.requests()); got != 2 {
		t.Errorf("%d commands ran", got)
	}
	k.settles()
}

func TestNewRemovesTheSandboxAndSaysWhatItStopped(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	release("fine")
	k.says(ana, "thread", thread, "fine", true)
	k.settles()
	k.says(ana, "thread", thread, "a0", true)
	k.says(ana, "thread", thread, "a1", true)
	k.begun(2)
	const want = "Stopped `a0`. 1 command that waited does not run. Removed 1 sandbox and stopped 2 background processes; the next " +
		"command gets a new one."
	if got := k.answer("thread", thread, "/new"); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if !slices.Equal(c.ended, []string{"slack:thread:C1:t7"}) {
		t.Errorf("ended are %q", c.ended)
	}
	k.settles()
	if got := k.answer("thread", thread, "/status"); got != "Nothing runs here." {
		t.Errorf("then it says %q", got)
	}
	if got, want := k.answer("dm", dm, "/new"),
		"Removed 1 sandbox and stopped 2 background processes; the next command gets a new one."; got != want {
		t.Errorf("of a session in which nothing runs it says %q", got)
	}
}

// pendings are approvals that are pending.
type pendings []api.Entry

func (p pendings) Pending(session string) (all []api.Entry) {
	for _, e := range p {
		if e.Request.Session.ID == session {
			all = append(all, e)
		}
	}
	return all
}

func TestApprovalsAreThoseOfTheSession(t *testing.T) {
	t.Parallel()
	var all pendings
	for i := range mostApprovals + 2 {
		all = append(all, api.Entry{ID: fmt.Sprint("ap", i), Message: "waiting for ben to answer on slack",
			Request: bailiff.Request{Session: bailiff.Session{ID: "slack:dm:D2"}, Args: bailiff.Args{Command: "git\npush"}}})
	}
	all[0].Request.Session.ID = "slack:dm:D1"
	k := newSessionsTest(t, &fakeSidecar{}, func(c *SessionsConfig) { c.Pending = all })
	if got, want := k.answer("dm", dm, "/approvals"), "`ap0` `git\\npush`: Waiting for ben to answer on slack."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got, want := k.answer("thread", thread, "/approvals"), "No approval is pending in this session."; got != want {
		t.Errorf("elsewhere it says %q", got)
	}
	if got := k.answer("dm", Place{Chat: "D2"}, "/approvals"); !regexp.MustCompile(`^(.ap\d+. .*\n){10}… and 1 more\.$`).MatchString(
		got) {
		t.Errorf("of many it says %q", got)
	}
}

func TestAMessageWithoutACommandIsToldWhatToWrite(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	for _, text := range []string{"", " \n", "/help", "/start"} {
		if got := k.answer("channel", channel, text); got != flat(help) {
			t.Errorf("%q is answered %q", text, got)
		}
	}
	if got := len(k.sidecar.requests()); got != 0 {
		t.Errorf("%d commands ran", got)
	}
}

func TestAWordThatIsWrittenIsAnsweredWhereItStands(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.Said(t.Context(), Said{Ref: Ref{thread, "m1"}, Kind: "thread", By: ana, Text: "/status", Mentioned: true,
		Ephemeral: func(context.Context, Text) error { t.Error("it is whispered"); return nil }})
	k.shows(thread, "Nothing runs here.")
}

func TestReading(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		word string
		what task
		err  error
	}{
		{text: "  git status\n", what: task{bailiff.Terminal, "git status"}},
		{text: "/bin/ls", what: task{bailiff.Terminal, "/bin/ls"}},
		{text: "/status now", what: task{bailiff.Terminal, "/status now"}},
		{text: "/STATUS", what: task{bailiff.Terminal, "/STATUS"}},
		{text: " /status ", word: "/status"},
		{text: " /undo d1 src ", word: "/undo d1 src"},
		{text: "/undone d1", what: task{bailiff.Terminal, "/undone d1"}},
		{text: "echo `date` `id`", what: task{bailiff.Terminal, "echo `date` `id`"}},
		{text: "`date` && `id`", what: task{bailiff.Terminal, "`date` && `id`"}},
		{text: "`ls -la`", err: errTicks},
		{text: "```\nprint(1)\nprint(2)\n```", what: task{bailiff.ExecuteCode, "print(1)\nprint(2)"}},
		{text: "```python\nprint(1)\n\n```", what: task{bailiff.ExecuteCode, "print(1)\n"}},
		{text: "```Python3\r\n print(1)```", what: task{bailiff.ExecuteCode, " print(1)"}},
		{text: "```print(1)```", what: task{bailiff.ExecuteCode, "print(1)"}},
		{text: "```print(1)\nprint(2)```", what: task{bailiff.ExecuteCode, "print(1)\nprint(2)"}},
		{text: "```sh\nmake\nmake test\n```", what: task{bailiff.Terminal, "make\nmake test"}},
		{text: "```bash\nls```", what: task{bailiff.Terminal, "ls"}},
		{text: "```js\n1```", err: errLanguage},
		{text: "```sql\nselect 1```", err: errLanguage},
		{text: "```\n```", err: errEmpty},
		{text: "``````", err: errEmpty},
		{text: "run ```ls```", err: errAround},
		{text: "```ls``` please", err: errAround},
		{text: "```ls", err: errAround},
		{text: "```", err: errAround},
		{text: "````", err: errAround},
		{text: "```sh\nls\n``` and\n```sh\nid\n```", err: errAround},
	} {
		word, what, err := read(test.text)
		if word != test.word || what != test.what || err != test.err { //nolint:errorlint // they are what they are
			t.Errorf("%q is read as %q, %q, %v; want %q, %q, %v", test.text, word, what, err, test.word, test.what, test.err)
		}
	}
}

func TestWhatIsNotReadIsRefusedInOneSentence(t *testing.T) {
	t.Parallel()
	k := newSessionsTest(t, &fakeSidecar{}, nil)
	k.direct("please run ```ls```")
	k.shows(dm, "*Not run. *A message is either a command or one block between three backticks, with nothing around it.")
	if got := len(k.sidecar.requests()); got != 0 {
		t.Errorf("%d commands ran", got)
	}
}

// FuzzReading: nothing that is run is other than what stands there.
func FuzzReading(f *testing.F) {
	f.Add("```python\nprint(1)\n```")
	f.Add("` ` `")
	f.Add("/new\n")
	f.Fuzz(func(t *testing.T, text string) {
		word, what, err := read(text)
		given := 0
		for _, is := range []bool{word != "", what.text != "", err != nil} {
			if is {
				given++
			}
		}
		if given != 1 || !contains(text, what.text) {
			t.Errorf("%q is read as %q, %q, %v", text, word, what, err)
		}
	})
}
