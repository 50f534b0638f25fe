package matrix_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
)

// home is a homeserver with an account for bailiff.
type home struct {
	bailiff *matrixtest.Person
	// person makes an account.
	person func(name string) *matrixtest.Person
	faults *matrixtest.Faults
}

// atEach has a test pass at our own homeserver and, where there is one, at a real one.
func atEach(t *testing.T, test func(t *testing.T, h home)) {
	t.Run("ours", func(t *testing.T) { test(t, ours(t)) })
	t.Run("Synapse", func(t *testing.T) { test(t, synapse(t)) })
}

func ours(t *testing.T) home {
	server := matrixtest.New(t)
	return home{server.Bailiff(), server.Person, &server.Faults}
}

// synapse is a real one behind what fails requests.
func synapse(t *testing.T) home {
	script := os.Getenv("BAILIFF_TEST_SYNAPSE")
	if script == "" {
		t.Skip("SKIPPED WITHOUT THE REAL SYNAPSE: make synapse-test brings it")
	}
	s := theSynapse(t, script)
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	faults := new(matrixtest.Faults)
	front := httptest.NewServer(faults.Around(proxy))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	bailiff := s.register(t, front.URL, "bailiff")
	return home{bailiff, func(name string) *matrixtest.Person { return s.register(t, s.url, name) }, faults}
}

// room makes one in which people are with bailiff; the first of them made it.
func (h home) room(name string, people ...*matrixtest.Person) string {
	id := people[0].NewRoom(name, h.bailiff.ID)
	h.bailiff.Join(id)
	for _, p := range people[1:] {
		people[0].Invite(id, p.ID)
		p.Join(id)
	}
	return id
}

// running is an account of bailiff's at work.
type running struct {
	*matrix.Matrix
	*inbox
}

func (h home) config() matrix.Config {
	return matrix.Config{
		URL: h.bailiff.URL, Token: func() (bailiff.Secret, error) { return bailiff.NewSecret(h.bailiff.Token), nil },
		Memory: new(memory), Log: slog.New(slog.DiscardHandler),
	}
}

func (h home) open(t *testing.T, c matrix.Config) *matrix.Matrix {
	t.Helper()
	m, err := matrix.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// start has the account connect. What it returns ends it, and has ended it at the end of
// the test.
func (h home) start(t *testing.T, c matrix.Config) (running, func()) {
	t.Helper()
	r := running{Matrix: h.open(t, c), inbox: &inbox{}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, r.inbox) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("running ended in %v", err)
		}
	})
	t.Cleanup(stop)
	r.await(t, "the connection", func() bool { return r.connected > 0 })
	return r, stop
}

// memory keeps what it is told, under names that can be a file's.
type memory struct{ all sync.Map }

var names = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (m *memory) Recall(key string) string {
	value, _ := m.all.Load(key)
	text, _ := value.(string)
	return text
}

func (m *memory) Remember(key, value string) error {
	if !names.MatchString(key) {
		return errors.New("the key " + key + " is none")
	}
	m.all.Store(key, value)
	return nil
}

// inbox keeps what it is told.
type inbox struct {
	chattest.Signal
	said      []chat.Said
	clicks    []chat.Click
	connected int
	broken    []error
	// answer is what those are told who click.
	answer chat.Text
}

func (i *inbox) Said(_ context.Context, s chat.Said) { i.Change(func() { i.said = append(i.said, s) }) }

func (i *inbox) Clicked(_ context.Context, t chat.Click) (told chat.Text) {
	i.Change(func() { i.clicks, told = append(i.clicks, t), i.answer })
	return told
}

func (i *inbox) Connected(err error) {
	i.Change(func() {
		if i.connected++; err != nil {
			i.connected, i.broken = 0, append(i.broken, err)
		}
	})
}

// await waits until something is as it should be.
func (i *inbox) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !i.Await(t, is) {
		t.Fatalf("%s did not come; %+v and %+v did, and %v", what, i.said, i.clicks, i.broken)
	}
}

// hears waits for so many messages, and returns them.
func (i *inbox) hears(t *testing.T, n int) (all []chat.Said) {
	t.Helper()
	i.await(t, "what was said", func() bool { all = slices.Clone(i.said); return len(all) >= n })
	return all
}

// clicks waits for so many answers, and returns them.
func (i *inbox) answers(t *testing.T, n int) (all []chat.Click) {
	t.Helper()
	i.await(t, "what was clicked", func() bool { all = slices.Clone(i.clicks); return len(all) >= n })
	return all
}

// words are those that were said.
func words(all []chat.Said) (texts []string) {
	for _, s := range all {
		texts = append(texts, s.Text)
	}
	return texts
}

// insist tries as a caller does, until it works.
func insist[T any](t *testing.T, try func(context.Context) (T, error)) T {
	t.Helper()
	for range 1000 {
		done, err := try(t.Context())
		if err == nil {
			return done
		}
		var refused *chat.Refused
		if errors.As(err, &refused) || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("it never works")
	panic("unreachable")
}

func say(text string) chat.Message { return chat.Message{Text: chat.Text{{Text: text}}} }

// asks is a message with the answers that an approval has.
func asks(text string) chat.Message {
	m := say(text)
	m.Buttons = []chat.Button{
		{Label: "Approve once", Token: "t1", Word: "approve", Sign: "✅", Yes: true},
		{Label: "Always", Token: "t2", Word: "always", Sign: "♾️", Yes: true},
		{Label: "Deny", Token: "t3", Word: "deny", Sign: "❌"},
		{Label: "Deny, and say why…", Token: "t4", Asks: "Why is it denied?"},
	}
	return m
}

// by are the messages of one person.
func by(all []matrixtest.Message, id string) []matrixtest.Message {
	return slices.DeleteFunc(slices.Clone(all), func(m matrixtest.Message) bool { return m.By != id })
}

func counted(texts []string) map[string]int {
	n := map[string]int{}
	for _, text := range texts {
		n[text]++
	}
	return n
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
