package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var idPattern = regexp.MustCompile(`^{"decision_id":"([^"]*)"`)

func tailed(t *testing.T, dir string, s Selection) []string {
	t.Helper()
	ids := []string{}
	err := Tail(context.Background(), dir, s, func(line []byte) error {
		ids = append(ids, string(idPattern.FindSubmatch(line)[1]))
		return nil
	})
	must(t, err)
	return ids
}

func TestTailGivesTheLastLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := threeSegments(t, dir)
	appendTo(t, paths[2], `{"decision_id":"torn"`)
	for n, want := range map[int][]string{
		0: {}, 1: {"8"}, 3: {"6", "7", "8"}, 4: {"5", "6", "7", "8"},
		9: {"0", "1", "2", "3", "4", "5", "6", "7", "8"}, 100: {"0", "1", "2", "3", "4", "5", "6", "7", "8"},
	} {
		if got := tailed(t, dir, Selection{Last: n}); !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", n, got, want)
		}
	}
}

func TestTailFollowsTheLogIntoNewSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
	record(t, l, decision("0"))
	ctx, cancel := context.WithCancel(context.Background())
	next, ended := make(chan string), make(chan error, 1)
	go func() {
		ended <- Tail(ctx, dir, Selection{Last: 1, Follow: true}, func(line []byte) error {
			next <- string(idPattern.FindSubmatch(line)[1])
			return nil
		})
	}()
	for i := range 4 {
		if i > 0 {
			record(t, l, decision(fmt.Sprint(i)))
		}
		if got := <-next; got != fmt.Sprint(i) {
			t.Errorf("got %s, want %d", got, i)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTailEndsWhenTheReaderDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	threeSegments(t, dir)
	enough := errors.New("enough")
	if err := Tail(context.Background(), dir, Selection{Last: 9, Follow: true}, func([]byte) error { return enough }); !errors.Is(err,
		enough) {
		t.Errorf("got %v", err)
	}
	if err := Tail(context.Background(), t.TempDir(), Selection{Last: 9}, nil); err == nil || !strings.Contains(err.Error(), "decisions") {
		t.Errorf("without a log: %v", err)
	}
}

func TestTailGivesTheLastOfTheLinesThatAreSelected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
	begun := time.Now().Add(-time.Hour)
	for i := range 9 {
		e := decision(fmt.Sprint(i))
		e.Timestamp = begun.Add(time.Duration(i) * time.Minute)
		record(t, l, e)
	}
	even := func(line []byte) (bool, error) { return (idPattern.FindSubmatch(line)[1][0]-'0')%2 == 0, nil }
	for name, test := range map[string]struct {
		selection Selection
		want      string
	}{
		"matching":              {Selection{Last: 100, Match: even}, "[0 2 4 6 8]"},
		"the last matching":     {Selection{Last: 3, Match: even}, "[4 6 8]"},
		"none":                  {Selection{Match: even}, "[]"},
		"from a time on":        {Selection{Last: 100, Since: begun.Add(5 * time.Minute)}, "[5 6 7 8]"},
		"the last from then on": {Selection{Last: 2, Since: begun.Add(5 * time.Minute)}, "[7 8]"},
		"matching from then on": {Selection{Last: 100, Since: begun.Add(5 * time.Minute), Match: even}, "[6 8]"},
		"from the future on":    {Selection{Last: 100, Since: time.Now()}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(tailed(t, dir, test.selection)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	puzzled := errors.New("puzzled")
	err := Tail(t.Context(), dir, Selection{Last: 9, Match: func([]byte) (bool, error) { return false, puzzled }}, nil)
	if !errors.Is(err, puzzled) {
		t.Errorf("a condition that cannot be evaluated: %v", err)
	}
}
