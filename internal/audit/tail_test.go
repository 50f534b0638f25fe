package audit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var idPattern = regexp.MustCompile(`^{"decision_id":"([^"]*)"`)

func tailed(t *testing.T, dir string, n int) []string {
	t.Helper()
	ids := []string{}
	err := Tail(context.Background(), dir, n, false, func(line []byte) error {
		ids = append(ids, string(idPattern.FindSubmatch(line)[1]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestTailGivesTheLastLines(t *testing.T) {
	dir := t.TempDir()
	paths := threeSegments(t, dir)
	appendTo(t, paths[2], `{"decision_id":"torn"`)
	for n, want := range map[int][]string{
		0: {}, 1: {"8"}, 3: {"6", "7", "8"}, 4: {"5", "6", "7", "8"},
		9: {"0", "1", "2", "3", "4", "5", "6", "7", "8"}, 100: {"0", "1", "2", "3", "4", "5", "6", "7", "8"},
	} {
		if got := tailed(t, dir, n); !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", n, got, want)
		}
	}
}

func TestTailFollowsTheLogIntoNewSegments(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, SegmentBytes: 1000})
	record(t, l, decision("0"))
	ctx, cancel := context.WithCancel(context.Background())
	next, ended := make(chan string), make(chan error, 1)
	go func() {
		ended <- Tail(ctx, dir, 1, true, func(line []byte) error {
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
	dir := t.TempDir()
	threeSegments(t, dir)
	enough := errors.New("enough")
	if err := Tail(context.Background(), dir, 9, true, func([]byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if err := Tail(context.Background(), t.TempDir(), 9, false, nil); err == nil || !strings.Contains(err.Error(), "decisions") {
		t.Errorf("without a log: %v", err)
	}
}
