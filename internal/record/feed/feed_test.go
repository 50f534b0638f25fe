package feed

import "testing"

// lost is what the tests' feeds say of news that a watcher missed.
const lost = -1

func tell(f *Feed[int], n int) { f.Tell(func() []int { return []int{n} }) }

func TestWhoLagsIsToldOnceThatNewsWereLost(t *testing.T) {
	f := Feed[int]{Lost: lost}
	quick, _ := f.Watch()
	slow, _ := f.Watch()
	for n := range 2 * Buffer {
		tell(&f, n)
		if got := <-quick; got != n {
			t.Fatalf("the quick one sees %d, want %d", got, n)
		}
	}
	for n := range Buffer - 1 {
		if got := <-slow; got != n {
			t.Fatalf("the slow one sees %d, want %d", got, n)
		}
	}
	tell(&f, 1000)
	for _, want := range []int{lost, 1000} {
		if got := <-slow; got != want {
			t.Errorf("after that the slow one sees %d, want %d", got, want)
		}
	}
}

func TestWhoReadsALittleIsNotToldTheRestAsIfNothingWereMissing(t *testing.T) {
	f := Feed[int]{Lost: lost}
	news, _ := f.Watch()
	for n := range 2 * Buffer {
		tell(&f, n)
	}
	<-news
	tell(&f, 1000) // one place only, which is kept
	for n := range Buffer - 1 {
		if got := <-news; got != n+1 && (got != lost || n != Buffer-2) {
			t.Fatalf("news %d are %d", n, got)
		}
	}
	if len(news) != 0 {
		t.Errorf("%d came after the loss", <-news)
	}
}

func TestAWatchEndsByItsStopOrWithTheFeed(t *testing.T) {
	for name, end := range map[string]func(f *Feed[int], stop func()){
		"stopped":                   func(_ *Feed[int], stop func()) { stop() },
		"stopped twice":             func(_ *Feed[int], stop func()) { stop(); stop() },
		"with the feed":             func(f *Feed[int], _ func()) { f.Close() },
		"stopped, then with it":     func(f *Feed[int], stop func()) { stop(); f.Close() },
		"with it, then stopped":     func(f *Feed[int], stop func()) { f.Close(); stop() },
		"and nothing is told after": func(f *Feed[int], _ func()) { f.Close(); tell(f, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			var f Feed[int]
			news, stop := f.Watch()
			end(&f, stop)
			if n, open := <-news; open {
				t.Errorf("it goes on with %d", n)
			}
		})
	}
}

func TestAClosedFeedIsNotWatched(t *testing.T) {
	var f Feed[int]
	f.Close()
	news, stop := f.Watch()
	if _, open := <-news; open {
		t.Error("it is")
	}
	stop()
}

func TestNewsThatNobodyWatchesAreNotMade(t *testing.T) {
	var f Feed[int]
	_, stop := f.Watch()
	stop()
	f.Tell(func() []int { t.Error("they are"); return nil })
}
