package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/feed"
)

// about is an event of a session with a message.
func about(session, message string) api.Event {
	return api.Event{DecisionID: NewID(), Custom: api.Custom{Event: api.DecisionEvent, Session: session, Message: message}}
}

// messages reads lines, which must be whole.
func messages(t *testing.T, lines [][]byte) string {
	t.Helper()
	said := make([]string, len(lines))
	for i, line := range lines {
		var e struct{ Custom api.Custom }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		said[i] = e.Custom.Message
	}
	return strings.Join(said, " ")
}

func TestTheLogsEndIsRememberedAcrossRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l, err := Open(Config{StateDir: folder})
	must(t, err)
	sly := about("s2", "two")
	sly.Input = rawInput(`{"custom": {"session": "s1"}, "text": "\"custom\": {\"session\": \"s1\"}"}`)
	record(t, l, about("s1", "one"), sly, about("s1", "three"))
	must(t, l.Close())
	if l, err = Open(Config{StateDir: folder}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	record(t, l, about("s1", "four"))
	for _, test := range []struct {
		session string
		limit   int
		want    string
	}{
		{"", 10, "four three two one"},
		{"", 2, "four three"},
		{"s1", 10, "four three one"},
		{"s2", 1, "two"},
		{"s3", 10, ""},
	} {
		if got := messages(t, l.Recent(test.session, test.limit)); got != test.want {
			t.Errorf("the last %d of %q are %q, want %q", test.limit, test.session, got, test.want)
		}
	}
}

func TestTheRememberedEndIsBounded(t *testing.T) {
	t.Parallel()
	var r recent
	for n := range 3 * recentLines {
		r.add([]entry{{line: fmt.Appendf(nil, `{"custom":{"message":"%d"`, n)}})
	}
	if got := len(r.latest("", 10*recentLines)); got != recentLines {
		t.Errorf("%d lines are remembered", got)
	}
	for range 3 {
		r.add([]entry{{line: make([]byte, recentBytes-10)}})
	}
	if len(r.lines) != 1 || r.bytes > recentBytes {
		t.Errorf("%d lines of %d bytes are remembered", len(r.lines), r.bytes)
	}
	r.add([]entry{{line: make([]byte, 2*recentBytes)}})
	if len(r.lines) != 1 {
		t.Errorf("%d lines are remembered, want the one that is larger than all may be", len(r.lines))
	}
}

func TestWhoWatchesSeesEveryLineOrThatSomeWereLost(t *testing.T) {
	t.Parallel()
	l, err := Open(Config{StateDir: t.TempDir()})
	must(t, err)
	quick, stop := l.Watch()
	slow, _ := l.Watch()
	for n := range 2 * feed.Buffer {
		record(t, l, about("s", fmt.Sprint(n)))
		if got, want := messages(t, [][]byte{<-quick}), fmt.Sprint(n); got != want {
			t.Fatalf("the quick one sees %s, want %s", got, want)
		}
	}
	stop()
	stop()
	if _, open := <-quick; open {
		t.Error("a stopped watch goes on")
	}
	for n := range feed.Buffer - 1 {
		if got, want := messages(t, [][]byte{<-slow}), fmt.Sprint(n); got != want {
			t.Fatalf("the slow one sees %s, want %s", got, want)
		}
	}
	record(t, l, about("s", "again"))
	if lost := <-slow; lost != nil {
		t.Errorf("the slow one is not told that it lost lines: %s", lost)
	}
	if got := messages(t, [][]byte{<-slow}); got != "again" {
		t.Errorf("after that the slow one sees %s", got)
	}
	must(t, l.Close())
	if _, open := <-slow; open {
		t.Error("a watch outlives the log")
	}
	late, _ := l.Watch()
	if _, open := <-late; open {
		t.Error("a closed log is watched")
	}
}
