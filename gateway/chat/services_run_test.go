package chat_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestManyApprovalsAreEachAnsweredOnceWhateverFails(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	var met faults
	services := []service{slackService(t, &met), discordService(t, &met), telegramService(t, &met), matrixService(t, &met)}
	recorded := &votes{all: map[string]int{}}
	book := openBook(t, services, recorded)
	runServices(t, services, book)
	start := time.Now()
	ids := askAll(t, book)
	posted := map[string]map[string]string{} // messages by service and approval
	for _, h := range services {
		posted[h.name] = awaitNotices(t, h, ids, false)
	}
	allPosted := time.Since(start)
	answerAll(services, posted, ids)
	for _, h := range services {
		awaitNotices(t, h, ids, true)
	}
	for id := range ids {
		e, _ := book.Get(id)
		if e.State != bailiff.ApprovalApproved && e.State != bailiff.ApprovalDenied || len(e.Votes) != 1 || recorded.all[id] != 1 {
			t.Errorf("%s is %s after %d votes, of which the log has %d", id, e.State, len(e.Votes), recorded.all[id])
		}
	}
	for _, h := range services {
		if n := len(h.shown()); n != manyApprovals && !h.doubles {
			t.Errorf("%s shows %d messages", h.name, n)
		} else {
			t.Logf("%s shows %d messages", h.name, n)
		}
	}
	t.Logf("%d approvals at %d services with %d faults: posted in %s, all answered after %s", manyApprovals, len(services), met.met.Load(),
		allPosted, time.Since(start))
}

func openBook(t *testing.T, services []service, recorder approval.Recorder) *approval.Book {
	var router everywhere
	for _, h := range services {
		router.services = append(router.services, h.name)
	}
	book, err := approval.Open(approval.Config{Path: filepath.Join(t.TempDir(), "approvals.db"), Router: router, Recorder: recorder,
		Caps: approval.Caps{Caller: 2 * manyApprovals, Session: 10, User: 10}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	return book
}

func runServices(t *testing.T, services []service, book *approval.Book) {
	who := map[string]string{}
	for _, h := range services {
		who[bailiff.Account(h.name, h.ana)], who[bailiff.Account(h.name, h.ben)] = "ana", "ben"
	}
	identify := func(service, id string) bailiff.Approver {
		return bailiff.Approver{Person: who[bailiff.Account(service, id)], Credential: bailiff.Account(service, id), Channel: service}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	notifiers := chat.NewNotifiers(book, slog.New(slog.DiscardHandler))
	for _, h := range services {
		notifier, err := chat.NewNotifier(chat.NotifierConfig{Service: h.name, At: chat.Place{Chat: h.at}, Poster: h.platform,
			Approvals: book, Identify: identify,
			Dir: t.TempDir(), Observer: uncounted{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		notifiers.Add(notifier)
		running.Go(func() { notifier.Run(ctx) })
		running.Go(func() {
			if err := h.platform.Run(ctx, chat.Channel{Notifier: notifier}); err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func askAll(t *testing.T, book *approval.Book) map[string]bool {
	ids := map[string]bool{}
	for i := range manyApprovals {
		a, err := book.Ask(t.Context(), bailiff.Claim{DecisionID: fmt.Sprint("d-", i), Plain: true,
			Request: bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: fmt.Sprintf("rm -r ./build%d", i)},
				Caller:  "hermes",
				Session: bailiff.Session{ID: fmt.Sprint("s", i), Platform: "telegram", UserID: fmt.Sprint("u", i)}},
			Decision: bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{Scopes: []string{"once"}, GrantSeconds: 60,
				Reasons: []bailiff.Reason{{Rule: "command.deletes_recursively", Message: "It deletes a folder."}}}}})
		if err != nil {
			t.Fatal(err)
		}
		ids[a.ID] = true
	}
	return ids
}

// lookEvery is how often the test looks, which costs the services more than the rest.
const lookEvery = time.Second

// awaitNotices waits until a service shows every approval, answered everywhere or somewhere
// not, and returns the messages.
func awaitNotices(t *testing.T, h service, ids map[string]bool, answered bool) map[string]string {
	for end := awaittest.End(t); ; time.Sleep(lookEvery) {
		found, left := map[string]string{}, 0
		for _, n := range h.shown() {
			if n.answered != answered {
				left++
				continue
			}
			for _, word := range strings.FieldsFunc(n.text,
				func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') }) {
				if ids[word] {
					found[word] = n.id
					break
				}
			}
		}
		if len(found) == len(ids) && (left == 0 || h.doubles) {
			return found
		}
		if time.Now().After(end) {
			t.Fatalf("%s shows %d of %d approvals, and %d messages otherwise", h.name, len(found), len(ids), left)
		}
	}
}

// answerAll has ana answer each approval at one service while ben does at the next.
func answerAll(services []service, posted map[string]map[string]string, ids map[string]bool) {
	var answering sync.WaitGroup
	room := make(chan struct{}, 50)
	n := 0
	for id := range ids {
		first, second := services[n%len(services)], services[(n+1)%len(services)]
		label, sign := []string{"Approve once", "Deny"}[n/len(services)%2], []string{"✅", "❌"}[n/len(services)%2]
		n++
		for _, click := range []struct {
			at   service
			user string
		}{{first, first.ana}, {second, second.ben}} {
			room <- struct{}{}
			answering.Go(func() {
				defer func() { <-room }()
				click.at.press(click.user, posted[click.at.name][id], click.at.platform.token(id, label), sign)
			})
		}
	}
	answering.Wait()
}
