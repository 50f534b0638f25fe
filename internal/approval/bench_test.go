package approval

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// sizes are how many approvals are pending.
var sizes = []int{10, 10_000}

// loaded is a book with so many pending approvals of 2 KiB.
func loaded(tb testing.TB, pending int, change ...func(*Config)) *Book {
	tb.Helper()
	c := configIn(tb.TempDir())
	r := c.Router.(roster)
	r.timeout = time.Hour
	c.Router, c.Recorder, c.Caps = r, discard{}, Caps{Caller: 1 << 20, Session: 1 << 20, User: 1 << 20}
	for _, f := range change {
		f(&c)
	}
	b, err := Open(c)
	must(tb, err)
	tb.Cleanup(func() { b.Close() })
	var all sync.WaitGroup
	for side := range 100 {
		all.Go(func() {
			for n := side; n < pending; n += 100 {
				if _, err := b.Ask(tb.Context(), benchClaim(fmt.Sprint("pending ", n))); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	all.Wait()
	return b
}

func benchClaim(text string) bailiff.Claim {
	return claim(text+" "+strings.Repeat("x", 2048), "build")
}

// discard is a decision log that forgets.
type discard struct{}

func (discard) Record(context.Context, api.Event) error { return nil }

func BenchmarkBook(b *testing.B) {
	for _, pending := range sizes {
		book := loaded(b, pending)
		ctx := context.Background()
		n := 0
		next := func() bailiff.Claim {
			n++
			return benchClaim(fmt.Sprint("next ", n))
		}
		must := func(err error) {
			must(b, err)
		}
		name := func(what string) string { return fmt.Sprintf("%s/pending=%d", what, pending) }
		b.Run(name("list"), func(b *testing.B) {
			for b.Loop() {
				if entries, _ := book.List(api.Query{State: bailiff.ApprovalPending, Limit: 100}); len(entries) == 0 {
					b.Fatal("nothing")
				}
			}
		})
		b.Run(name("list of another user"), func(b *testing.B) {
			for b.Loop() {
				book.List(api.Query{User: "nobody", Limit: 100})
			}
		})
		b.Run(name("covered"), func(b *testing.B) {
			c := next()
			for b.Loop() {
				book.Covered(c)
			}
		})
		b.Run(name("ask and answer"), func(b *testing.B) {
			for b.Loop() {
				a, err := book.Ask(ctx, next())
				must(err)
				_, err = book.Answer(ctx, a.ID, by("ana"), bailiff.Verdict{})
				must(err)
			}
		})
		b.Run(name("answer and wake"), func(b *testing.B) {
			var asked, late time.Duration
			for b.Loop() {
				begun := time.Now()
				a, err := book.Ask(ctx, next())
				must(err)
				asked += time.Since(begun)
				woken := make(chan time.Time)
				go func() {
					book.Await(ctx, a.ID)
					woken <- time.Now()
				}()
				runtime.Gosched()
				_, err = book.Answer(ctx, a.ID, by("ana"), bailiff.Verdict{})
				answered := time.Now()
				must(err)
				late += max(0, (<-woken).Sub(answered))
			}
			b.ReportMetric(float64(asked.Nanoseconds())/float64(b.N), "ask-ns/op")
			b.ReportMetric(float64(late.Nanoseconds())/float64(b.N), "wake-ns/op")
		})
		b.Run(name("100 at once ask and answer"), func(b *testing.B) {
			b.SetParallelism(50)
			var mu sync.Mutex
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mu.Lock()
					c := next()
					mu.Unlock()
					a, err := book.Ask(ctx, c)
					must(err)
					_, err = book.Answer(ctx, a.ID, by("ana"), bailiff.Verdict{})
					must(err)
				}
			})
		})
	}
}

func TestTenThousandPendingTakeLittleMemoryAndTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a hundred megabytes")
	}
	before := heap()
	c := configIn(t.TempDir())
	c.Recorder, c.Caps = discard{}, Caps{Caller: 1 << 20, Session: 1 << 20, User: 1 << 20}
	c.Router = roster{people: []string{"ana"}, timeout: time.Hour}
	b, err := Open(c)
	must(t, err)
	var all sync.WaitGroup
	for side := range 100 {
		all.Go(func() {
			for n := side; n < 10_000; n += 100 {
				c := claim(fmt.Sprint(n, strings.Repeat("x", 10_000)), "build")
				if _, err := b.Ask(t.Context(), c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must(t, b.Close())
	begun := time.Now()
	if b, err = Open(c); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	opened, used := time.Since(begun), heap()-before
	listed, entries := time.Hour, []api.Entry{}
	for range 5 {
		begun = time.Now()
		entries, _ = b.List(api.Query{State: bailiff.ApprovalPending, Limit: 100, After: "9000"})
		listed = min(listed, time.Since(begun))
	}
	t.Logf("opened in %s, a page in %s, %d KiB", opened, listed, used>>10)
	if len(entries) != 100 || listed > 20*time.Millisecond || used > 64<<20 {
		t.Errorf("%d entries in %s, %d KiB", len(entries), listed, used>>10)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
