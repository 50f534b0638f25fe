package operate

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/auditlog"
)

func TestWhoeverAnswersSeesWhatWouldBeDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		req   bailiff.Request
		tools []string
		lines []string
	}{
		"a command": {
			bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "make"}}, nil,
			[]string{"tool       terminal", "  | make"},
		},
		"a command in the background": {
			bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "make", Background: true}}, nil,
			[]string{"tool       terminal in the background", "  | make"},
		},
		"a script": {
			bailiff.Request{Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "f()"}}, []string{"terminal", "web_search"},
			[]string{"tool       execute_code", "  | f()", "may call   terminal web_search"},
		},
		"a script's call": {
			bailiff.Request{Tool: bailiff.Call, Args: bailiff.Args{Name: "send_mail", Arguments: `{"to":"eve"}`}}, nil,
			[]string{"tool       call of send_mail by a script", "arguments", `  | {"to":"eve"}`},
		},
		"input for a process": {
			bailiff.Request{Tool: bailiff.Process, Args: bailiff.Args{Action: "submit", ProcessID: "p1", Data: "yes"}}, nil,
			[]string{"tool       process submit p1", "  | yes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := api.Entry{ID: "a-1", State: bailiff.ApprovalPending, Request: c.req, Expires: time.Now().Add(time.Minute)}
			e.Decision.Tools = c.tools
			var shown strings.Builder
			if err := printApproval(&shown, api.ShownApproval{Approval: e}, brackets); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(shown.String(), "\n")
			for _, want := range c.lines {
				if !slices.Contains(lines, want) {
					t.Errorf("%q is missing in\n%s", want, shown.String())
				}
			}
		})
	}
}

func TestMarksStandAroundWhatIsShown(t *testing.T) {
	t.Parallel()
	mark := func(start, end int) api.Mark { return api.Mark{Text: "command", Start: start, End: end} }
	for _, test := range []struct {
		name, text string
		marks      []api.Mark
		want       string
	}{
		{"no marks", "rm x", nil, "rm x"},
		{"one part", "rm x", []api.Mark{mark(0, 2)}, "[[rm]] x"},
		{"two that touch", "a;b", []api.Mark{mark(0, 2), mark(2, 3)}, "[[a;]][[b]]"},
		{"over lines", "a b\nc d", []api.Mark{mark(2, 5)}, "a [[b]]|[[c]] d"},
		{"to a line's end", "a\nb", []api.Mark{mark(0, 2)}, "[[a]]|b"},
		{"what is not shown as it is", "a\x1b[2Jb", []api.Mark{mark(1, 5)}, `a[[\x1b[2J]]b`},
		{"places that are none", "rm x", []api.Mark{mark(3, 9), mark(2, 1), mark(-1, 2)}, "rm x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(brackets.text(test.text, test.marks), "|"); got != test.want {
				t.Errorf("shown as %q, want %q", got, test.want)
			}
		})
	}
}

func TestALongTextIsShownByItsEndsAndHowMuchIsBetween(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 70) + "\n" + strings.Repeat("é", 30)
	for text, want := range map[string]string{
		"":                        `""`,
		"echo \"hi\"":             `"echo \"hi\""`,
		long[:len(long)-len("é")]: strconv.Quote(long[:len(long)-len("é")]),
		long: `"` + strings.Repeat("ä", 70) + `" … 1 character left out … "` +
			strings.Repeat("é", 30) + `"`,
		strings.Repeat("a", 500) + "; rm -rf /": `"` + strings.Repeat("a", 70) + `" … 410 characters left out … "` +
			strings.Repeat("a", 20) + `; rm -rf /"`,
	} {
		if got := auditlog.BothEnds(text); got != want {
			t.Errorf("of %q is shown %s, want %s", text, got, want)
		}
	}
}

func TestAConnectionThatWaitsIsShown(t *testing.T) {
	t.Parallel()
	now := time.Now()
	e := api.Entry{State: bailiff.ApprovalPending, Reasons: []bailiff.Reason{{Rule: "egress.new_host", Match: "x.test:443"}}}
	for _, c := range []struct {
		state bailiff.ApprovalState
		until time.Time
		want  string
	}{
		{bailiff.ApprovalPending, time.Time{}, ""},
		{bailiff.ApprovalPending, now.Add(42 * time.Second),
			"connection the request runs already; its connection to x.test:443 waits for the answer, for 42s more\n"},
		{bailiff.ApprovalPending, now.Add(-time.Second),
			"connection to x.test:443: it was refused for want of an answer; the same request finds a later one\n"},
		{bailiff.ApprovalDenied, now.Add(42 * time.Second), ""},
	} {
		var p sheet
		e.State, e.HeldUntil = c.state, c.until
		if p.held(e, now); p.String() != c.want {
			t.Errorf("%s until %s: shown is %q, want %q", c.state, c.until, p.String(), c.want)
		}
	}
}
