package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Sidecar takes requests.
type Sidecar interface {
	Execute(ctx context.Context, req bailiff.Request, news gateway.News) (gateway.Answer, error)
	EndSession(ctx context.Context, session string) (bailiff.Ended, error)
}

// Pending knows which approvals a session waits for.
type Pending interface {
	Pending(session string) []api.Entry
}

// Surface is where sessions are seen: a [Platform], but for its connection.
type Surface interface {
	Poster
	Threader
}

// SessionsObserver counts commands. Status is how one ended; one that never became a request is
// [bailiff.Refused].
type SessionsObserver interface {
	ChatCommand(service string, status bailiff.Status)
}

// SessionsConfig says who may give commands at a service, and which messages are any.
// Platform, Surface, Sidecar, AllowedUsers and Notes are required.
type SessionsConfig struct {
	// Platform is the service's name, such as "slack".
	Platform string
	Surface  Surface
	Sidecar  Sidecar
	// AllowedUsers returns the ids of those who may give commands now, "*" is everybody, and
	// none is nobody.
	AllowedUsers func() []string
	// RequireMention says that outside of direct messages, and of threads in which
	// bailiff took part, a message is for bailiff only if it names it.
	RequireMention bool
	// FreeResponse are the ids of chats where it need not.
	FreeResponse []string
	// Threads says that of a message that names bailiff, in a chat with many people, a
	// thread is made, whose session it begins.
	Threads bool
	// Env are the names of the variables that every command asks for.
	Env []string
	// Pending may be nil: then nobody can ask what is pending.
	Pending Pending
	Notes   *Notes
	// Observer may be nil.
	Observer SessionsObserver
	Log      *slog.Logger
}

// What is kept at once, of one account.
const (
	// maxQueue commands wait in a session, maxWaitingBytes long all together.
	maxQueue        = 10
	maxWaitingBytes = 16 << 20
	// maxWorking sessions run or wait for something.
	maxWorking = 1024
	// maxAsides are the short answers that are under way, maxAsidesOfChat in one chat.
	maxAsides       = 256
	maxAsidesOfChat = 4
	// lastAtMost are the sessions of which it is known what answered last, as are up to
	// as many before them; toldAtMost the strangers who were told that they are.
	lastAtMost = 2000
	toldAtMost = 1000
)

const (
	// wait is for how long, in seconds, a command waits for an approval: longer than any
	// stays open, for nobody but people waits for it.
	wait = 24 * 60 * 60
	// patience is how long an answer is offered to a service that does not take it, and
	// asidePatience a short one.
	patience      = 10 * time.Minute
	asidePatience = time.Minute
	// parting is what there is at the end to say that it is.
	parting = 2 * time.Second
)

// Sessions are the commands that people give in the chats of one account. A thread is a
// session, whoever writes in it, and so is a direct message; elsewhere each person has
// one in each chat. Its commands run one after the other, in a sandbox of the session's
// own; those of different sessions do not wait for each other.
//
// What is promised:
//   - Who may not give commands has nothing run, and starts nothing that others see.
//   - A message runs at most once, however often it is delivered, also over restarts: it
//     is remembered before it runs.
//   - Where an answer cannot be shown, its own session waits and no other. What waits is
//     bounded, and who goes beyond a bound is told.
type Sessions struct {
	config SessionsConfig
	// life ends with the sessions, voice when nothing more is said after that.
	life, voice context.Context //nolint:containedctx // what is said comes from the platform's own goroutines
	end         context.CancelCauseFunc
	hush        context.CancelFunc
	work        sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[string]*session // those with something to do
	working int                 // goroutines that have something to do
	waiting int                 // bytes in queues
	asides  map[string]int      // under way, by chat
	last    *recent.Map[string, answered]
	told    *recent.Map[string, struct{}]
}

var errClosing = errors.New("bailiff is shutting down")

// NewSessions returns those of an account, or names everything that the config lacks.
func NewSessions(c SessionsConfig) (*Sessions, error) {
	if missing := c.missing(); len(missing) > 0 {
		return nil, fmt.Errorf("chat sessions config lacks %s", strings.Join(missing, ", "))
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	s := &Sessions{config: c, open: map[string]*session{}, asides: map[string]int{},
		last: recent.New[string, answered](lastAtMost), told: recent.New[string, struct{}](toldAtMost)}
	s.life, s.end = context.WithCancelCause(context.Background())
	s.voice, s.hush = context.WithCancel(context.Background())
	return s, nil
}

func (c SessionsConfig) missing() (names []string) {
	lacks := func(absent bool, name string) {
		if absent {
			names = append(names, name)
		}
	}
	lacks(c.Platform == "", "Platform")
	lacks(c.Surface == nil, "Surface")
	lacks(c.Sidecar == nil, "Sidecar")
	lacks(c.AllowedUsers == nil, "AllowedUsers")
	lacks(c.Notes == nil, "Notes")
	return names
}

// Close stops what runs, says so where it can within two seconds, and returns when
// nothing is left. The notes stay open: they are the account's.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	for _, o := range s.open {
		o.dropped += s.clear(o)
	}
	s.mu.Unlock()
	s.end(errClosing)
	defer time.AfterFunc(parting, s.hush).Stop()
	s.work.Wait()
	s.hush()
}

// Said takes what somebody wrote, and returns when it is remembered. Nothing of it needs
// the context: what comes of it outlives the delivery.
func (s *Sessions) Said(_ context.Context, said Said) {
	switch {
	case !s.allows(said.By):
		s.turnAway(said)
	case s.isMeant(said) && s.isNew(said):
		s.obey(said)
	}
}

func (s *Sessions) allows(who Person) bool {
	allowed := s.config.AllowedUsers()
	return who.ID != "" && (slices.Contains(allowed, "*") || slices.Contains(allowed, who.ID))
}

// isMeant says whether a message is for bailiff.
func (s *Sessions) isMeant(said Said) bool {
	switch {
	case said.Mentioned || said.Kind == "dm":
		return true
	case said.Kind == "thread":
		return s.config.Notes.tookPart(said.Place)
	}
	return !s.config.RequireMention || slices.Contains(s.config.FreeResponse, said.Chat)
}

// isNew remembers a message; one that is known, or cannot be remembered, is left alone.
func (s *Sessions) isNew(said Said) bool {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return false // and may be delivered again to the next sidecar
	}
	isNew, err := s.config.Notes.take(said.Ref)
	if err != nil {
		s.config.Log.Error("a chat message cannot be remembered, so it does not run", "platform", s.config.Platform, "chat", said.Chat, "error", err)
		s.aside(said, saying("Nothing runs: bailiff cannot remember messages at the moment, and could run one twice. Its log says why."))
	}
	return isNew && err == nil
}

// obey does what a message says.
func (s *Sessions) obey(said Said) {
	word, what, err := read(said.Text)
	var refusal Text
	switch {
	case err != nil:
		refusal = notRun(err)
	case word != "":
		refusal = s.heed(said, word)
	case s.config.Threads && said.Mentioned && said.Kind != "thread" && said.Kind != "dm":
		refusal = s.begin(said, what)
	default:
		refusal = s.add(job{said: said, what: what, at: said.Place, kind: said.Kind})
	}
	if refusal != nil {
		s.count(bailiff.Refused)
		s.aside(said, refusal)
	}
}

func notRun(err error) Text {
	return Text{{Strong, "Not run. "}, {Plain, bailiff.Sentence(bailiff.Foreign(err.Error()))}}
}

// begin makes a thread of a message, and its command the first there.
func (s *Sessions) begin(said Said, what task) (refusal Text) {
	return s.occupy(func() {
		ctx, cancel := s.speaking(asidePatience)
		defer cancel()
		at, kind, err := s.thread(ctx, said, title(what))
		if errors.Is(err, ErrGone) {
			return
		}
		var refusal Text
		if err == nil {
			refusal = s.add(job{said: said, what: what, at: at, kind: kind})
		} else {
			s.config.Log.Warn("a thread for a chat command cannot be made, so it does not run", "platform", s.config.Platform, "chat", said.Chat, "error", err)
			at, refusal = said.Place, notRun(fmt.Errorf("a thread for it cannot be made: %w", err))
		}
		if refusal != nil {
			s.count(bailiff.Refused)
			said.Place = at
			s.reply(ctx, said, refusal)
		}
	})
}

// thread is the one that goes on from a message, and its kind; where the service has no
// threads it is where the message is.
func (s *Sessions) thread(ctx context.Context, from Said, title string) (at Place, kind string, err error) {
	err = persist(ctx, nil, func(ctx context.Context) (err error) {
		at, err = s.config.Surface.Thread(ctx, from.Ref, title)
		return err
	})
	if err == nil && at.Thread == "" {
		return from.Place, from.Kind, nil
	}
	return at, "thread", err
}

// idOf is the session that something at a place is of.
func (s *Sessions) idOf(kind string, at Place, by Person) string {
	switch {
	case kind == "dm":
		return s.config.Platform + ":dm:" + at.Chat
	case kind == "thread" && at.Thread != "":
		return s.config.Platform + ":thread:" + quoted(at.Chat) + ":" + at.Thread
	case kind == "thread":
		kind = "channel" // where the service has no threads
	}
	return s.config.Platform + ":" + kind + ":" + quoted(at.Chat) + ":" + by.ID
}

// quoted is an id without colons, so that what follows the next one is another's.
var quoted = strings.NewReplacer("%", "%25", ":", "%3A").Replace

// speaking is for saying something within a time, beyond the end of the sessions too.
func (s *Sessions) speaking(within time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.voice, within)
}

// aside says something short about a message, and does not wait for it.
func (s *Sessions) aside(to Said, what Text) {
	s.besides(to, func(ctx context.Context) { s.reply(ctx, to, what) })
}

// besides does something short about a message. Where too much of that is under way, it is
// left undone.
func (s *Sessions) besides(to Said, do func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, n := range s.asides {
		total += n
	}
	if s.closed || total >= maxAsides || s.asides[to.Chat] >= maxAsidesOfChat {
		return
	}
	s.asides[to.Chat]++
	s.work.Go(func() {
		defer s.over(to.Chat)
		defer s.survive(func() {})
		ctx, cancel := s.speaking(asidePatience)
		defer cancel()
		do(ctx)
	})
}

// over ends an aside.
func (s *Sessions) over(chat string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asides[chat]--; s.asides[chat] == 0 {
		delete(s.asides, chat)
	}
}

// reply says something about a message, where that is.
func (s *Sessions) reply(ctx context.Context, to Said, what Text) {
	if to.Chosen && to.Whisper != nil {
		s.whisper(ctx, to, what)
		return
	}
	err := persist(ctx, nil, func(ctx context.Context) error {
		_, err := s.config.Surface.Post(ctx, to.Place, Message{Text: what}, mark("reply", to.Chat, to.Message))
		return err
	})
	s.unsaid(to.Chat, err)
}

// whisper says something to who wrote a message alone.
func (s *Sessions) whisper(ctx context.Context, to Said, what Text) {
	s.unsaid(to.Chat, persist(ctx, nil, func(ctx context.Context) error { return to.Whisper(ctx, what) }))
}

// unsaid notes that something could not be said.
func (s *Sessions) unsaid(chat string, err error) {
	if err != nil && s.voice.Err() == nil {
		s.config.Log.Warn("a chat does not take an answer, which is dropped", "platform", s.config.Platform, "chat", chat, "error", err)
	}
}

// turnAway says once to who may not give commands that they may not, where nobody else
// hears it. Who chose a command of the service waits for an answer each time.
func (s *Sessions) turnAway(said Said) {
	if said.By.ID == "" || !said.Mentioned && said.Kind != "dm" {
		return
	}
	s.mu.Lock()
	_, told := s.told.Get(said.By.ID)
	s.told.Put(said.By.ID, struct{}{})
	s.mu.Unlock()
	if !told {
		s.config.Log.Info("somebody who may not gives commands in a chat", "platform", s.config.Platform, "chat", said.Chat, "user", said.By.ID)
	}
	what := saying("You may not give commands here. Who may is in allowed_users of bailiff's configuration; you are " + said.By.ID + ".")
	switch {
	case told && !said.Chosen:
	case said.Whisper != nil:
		s.besides(said, func(ctx context.Context) { s.whisper(ctx, said, what) })
	case said.Kind == "dm":
		s.aside(said, what)
	}
}

func (s *Sessions) count(status bailiff.Status) {
	if s.config.Observer != nil {
		s.config.Observer.ChatCommand(s.config.Platform, status)
	}
}

func saying(text string) Text { return Text{{Plain, text}} }
