package discord

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

// fixture is a bot that nobody has connected: what it shows needs no gateway.
func fixture(t *testing.T) (*Discord, *discordtest.Server) {
	s := discordtest.New(t)
	return newDiscord(t, s), s
}

func TestAPostThatIsRepeatedIsShownOnce(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	var refs []chat.Ref
	for range 3 {
		ref, err := d.Post(t.Context(), here, mayIt, "one key, which is longer than what Discord takes for a nonce")
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if len(s.Shown(here.Chat)) != 1 || refs[0] != refs[1] || refs[1] != refs[2] {
		t.Errorf("shown is %+v as %v", s.Shown(here.Chat), refs)
	}
}

// Counted: 300 messages, of which one in twenty tries fails, a third of those after
// Discord has done it.
func TestThreeHundredPostsAreEachShownOnceThroughFaults(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	const posts = 300
	var calls, faults atomic.Int32
	s.Fail(func(string) discordtest.Fault {
		n := calls.Add(1)
		if n%20 != 7 {
			return discordtest.Fault{}
		}
		switch faults.Add(1) % 3 {
		case 0:
			return discordtest.Fault{Drop: true, After: true}
		case 1:
			return discordtest.Fault{Status: 429, RetryAfter: time.Millisecond}
		}
		return discordtest.Fault{Status: 502}
	})
	var work sync.WaitGroup
	for worker := range 4 {
		work.Go(func() {
			for n := worker; n < posts; n += 4 {
				text := fmt.Sprintf("message %d", n)
				insist(t, func() error {
					_, err := d.Post(t.Context(), here, chat.Message{Text: plain(text)}, text)
					return err
				})
			}
		})
	}
	work.Wait()
	shown := map[string]int{}
	for _, m := range s.Shown(here.Chat) {
		shown[m.Text]++
	}
	for n := range posts {
		if text := fmt.Sprintf("message %d", n); shown[text] != 1 {
			t.Errorf("%q is shown %d times", text, shown[text])
		}
	}
	if len(shown) != posts || faults.Load() < 15 {
		t.Errorf("%d texts are shown, and %d tries failed", len(shown), faults.Load())
	}
	t.Logf("%d posts by %d calls, of which %d failed", posts, calls.Load(), faults.Load())
}

// insist is a caller that tries again.
func insist(t *testing.T, try func() error) {
	for range 20 {
		err := try()
		if err == nil {
			return
		}
		var busy *chat.Busy
		if errors.As(err, &busy) {
			time.Sleep(busy.After)
		}
	}
	t.Error("twenty tries failed")
}

func TestAFileGoesAlongAndStays(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	ref, err := d.Post(t.Context(), here, chat.Message{Text: plain("Long:"),
		File: &chat.File{Name: `out "1".txt`, Content: []byte("a\nb\n")}}, "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Edit(t.Context(), ref, chat.Message{Text: plain("Done.")}); err != nil {
		t.Fatal(err)
	}
	want := []discordtest.Message{{
		ID: ref.Message, Text: "Done.", Source: "Done.", File: &discordtest.File{Name: `out "1".txt`, Content: "a\nb\n"}, Edits: 1,
	}}
	if shown := s.Shown(here.Chat); !reflect.DeepEqual(shown, want) {
		t.Errorf("shown is %+v", shown)
	}
}

func TestManyAndLongButtonsAreCutNotRefused(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	var all []chat.Button
	for n := range 30 {
		all = append(all, chat.Button{Label: strings.Repeat("é😀", 60), Token: fmt.Sprint("t", n), Asks: strings.Repeat("why? ", 40)})
	}
	if _, err := d.Post(t.Context(), here, chat.Message{Text: plain("x"), Buttons: all}, "key"); err != nil {
		t.Fatal(err)
	}
	if shown := s.Shown(here.Chat); len(shown[0].Buttons) != 25 {
		t.Errorf("shown is %+v", shown)
	}
}

func TestAThreadIsMadeOrFound(t *testing.T) {
	t.Parallel()
	d, s := fixture(t)
	from := chat.Ref{Place: here, Message: s.Write(ana, here.Chat, "", "ls")}
	want := chat.Place{Chat: here.Chat, Thread: from.Message}
	for _, title := range []string{"ls\n\t-l " + strings.Repeat("x😀", 100), " ", "again"} {
		if at, err := d.Thread(t.Context(), from, title); at != want || err != nil {
			t.Errorf("it is %+v, %v", at, err)
		}
	}
	if title := s.Title(from.Message); !strings.HasPrefix(title, "ls -l x") || !strings.HasSuffix(title, "…") {
		t.Errorf("it is called %q", title)
	}
	in := chat.Ref{Place: want, Message: s.Write(ana, here.Chat, want.Thread, "pwd")}
	if at, err := d.Thread(t.Context(), in, "x"); at != want || err != nil {
		t.Errorf("in a thread it is %+v, %v", at, err)
	}
	alone := chat.Ref{Place: chat.Place{Chat: s.DM(ana)}}
	alone.Message = s.Write(ana, alone.Chat, "", "id")
	if at, err := d.Thread(t.Context(), alone, "x"); at != alone.Place || err != nil {
		t.Errorf("where there are none it is %+v, %v", at, err)
	}
	if _, err := d.Post(t.Context(), want, mayIt, "key"); err != nil || len(s.Shown(want.Thread)) != 1 {
		t.Errorf("in it is shown %+v, %v", s.Shown(want.Thread), err)
	}
}
