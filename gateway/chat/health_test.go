package chat

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
)

func TestALineThatNeverStoodIsDownAndUpOnceItStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := &counts{}
		l := NewConnection("telegram", told, slog.New(slog.DiscardHandler))
		l.Connected(errors.New("there is no connection yet"))
		l.Connected(errDown)
		if l.Fault() != nil || told.of("down true") != 0 {
			t.Error("it is down at once")
		}
		time.Sleep(downAfter)
		synctest.Wait()
		if err := l.Fault(); !errors.Is(err, errDown) || told.of("down true") != 1 {
			t.Errorf("after %v it is down for %v, told is %v", downAfter, err, told.all)
		}
		l.Connected(nil)
		if err := l.Fault(); err != nil || told.of("down false") != 1 {
			t.Errorf("then it is down for %v, told is %v", err, told.all)
		}
	})
}

func TestALineThatBreaksForAMomentIsNotDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := &counts{}
		l := NewConnection("telegram", told, slog.New(slog.DiscardHandler))
		for range 10 {
			l.Connected(errDown)
			time.Sleep(downAfter - time.Millisecond)
			l.Connected(nil)
		}
		time.Sleep(downAfter)
		synctest.Wait()
		if n := told.of("down true"); n != 0 || l.Fault() != nil {
			t.Errorf("it was down %d times, and is for %v", n, l.Fault())
		}
		l.Connected(&Refused{"the token is not valid"})
		if l.Fault() == nil || told.of("down true") != 1 {
			t.Error("it is not down at once when the service refuses the account")
		}
	})
}

func TestWhereNothingCouldBePostedTheNextApprovalTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := opened(t)
		o.poster.setFault(func(string, bool) error { return &Refused{"the bot is not in the channel"} })
		for _, command := range []string{"rm -r ./build", "rm -r ./dist"} {
			if got := o.book.Await(t.Context(), o.ask(command)); got.State != bailiff.ApprovalUnreachable {
				t.Fatalf("%s is %s: %s", command, got.State, got.Message)
			}
			if o.notifier.Down() == nil || o.notifier.Fault() == nil {
				t.Fatal("what could not be posted leaves the service up")
			}
			time.Sleep(postAgainAfter)
			if o.notifier.Down() != nil || o.notifier.Fault() == nil {
				t.Fatalf("after %v nobody may try, or nothing is known to be wrong", postAgainAfter)
			}
		}
		o.poster.setFault(func(string, bool) error { return nil })
		id := o.ask("rm -r ./third")
		o.knows(id)
		synctest.Wait()
		if err := o.notifier.Fault(); err != nil || o.state(id) != bailiff.ApprovalPending {
			t.Errorf("it is down for %v, and what is asked is %s", err, o.state(id))
		}
	})
}
