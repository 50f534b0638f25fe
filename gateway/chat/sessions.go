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
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Sidecar takes requests.
type Sidecar interface {
	Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error)
	EndSession(ctx context.Context, session string) (bailiff.Ended, error)
}

// Pending knows which approvals a session waits for.
type Pending interface {
	Pending(session string) []api.Entry
}

// Undoer puts back what commands changed in projects, on the word of a person.
type Undoer interface {
	// May is nil if a user of the service may have something put back.
	May(user string) error
	// Undo puts back what a command changed, by its decision's or its request's id. It asks May itself.
	Undo(ctx context.Context, user, id string, how api.Undoing) (api.Undone, error)
}

// Surface is where sessions are seen: a [Platform], but for its connection.
type Surface interface {
	Poster
	Threader
}

// SessionsObserver counts commands by how they ended. A command that never became a request
// is [bailiff.Refused].
type SessionsObserver interface {
	ChatCommand(service string, status bailiff.Status)
}

// SessionsConfig says who may give commands at a service, and which messages are commands.
// Platform, Surface, Sidecar, AllowedUsers and Store are required.
type SessionsConfig struct {
	// Platform is the service's name, such as "slack".
	Platform string
	Surface  Surface
	Sidecar  Sidecar
	// AllowedUsers returns the ids of the users who may give commands now; "*" means every
	// user.
	AllowedUsers func() []string
	// RequireMention says that a message is for bailiff only if it names bailiff, except in
	// direct messages and in threads in which bailiff took part.
	RequireMention bool
	// FreeResponse are the ids of chats where no mention is needed.
	FreeResponse []string
	// Threads says that a message that names bailiff in a channel or group starts a thread,
	// and with it a session.
	Threads bool
	// Env are the names of the variables that each command asks for.
	Env []string
	// Pending may be nil: then /approvals does not list any.
	Pending Pending
	// Undoer may be nil: then /undo puts nothing back.
	Undoer Undoer
	Store  *Store
	// Observer may be nil.
	Observer SessionsObserver
	Log      *slog.Logger
}

// The limits of one account.
const (
	// maxQueue commands wait in a session; those of all sessions have maxWaitingBytes.
	maxQueue        = 10
	maxWaitingBytes = 16 << 20
	// maxWorking sessions have something to do at once.
	maxWorking = 1024
	// maxReplies short answers are sent at once, maxRepliesOfChat of them in one chat.
	maxReplies       = 256
	maxRepliesOfChat = 4
	// lastAtMost sessions have their last answer remembered, refusedAtMost users that they
	// were refused; up to as many before those are remembered too.
	lastAtMost    = 2000
	refusedAtMost = 1000
)

const (
	// approvalWaitSeconds is how long a command waits for an approval: longer than any
	// approval stays open, since only people wait for the command.
	approvalWaitSeconds = 24 * 60 * 60
	// answerTimeout is how long the answer to a command is offered to a service that does
	// not take it, replyTimeout any shorter text.
	answerTimeout = 10 * time.Minute
	replyTimeout  = time.Minute
	// closeGrace is how much longer than commands messages may be sent at the end.
	closeGrace = 2 * time.Second
)

// Sessions run the commands that people give in the chats of one account. A thread is one
// session for all who write in it, and so is a direct message; elsewhere each person has
// one session in each chat. The commands of a session run one after the other, in a sandbox
// of its own. Sessions do not wait for each other.
//
// What is promised:
//   - A user who may not give commands runs nothing, and starts nothing that others see. What commands changed is put
//     back for the people who may operate the sidecar, whether or not they may give commands.
//   - A message runs at most once, however often it is delivered, also over restarts: it
//     is remembered before it runs.
//   - Where an answer cannot be shown, only its own session waits. Queues are bounded, and
//     a user who meets a limit is told.
type Sessions struct {
	config SessionsConfig
	// runCtx ends with Close, sendCtx closeGrace later.
	runCtx, sendCtx context.Context //nolint:containedctx // commands and their answers outlive the delivery of the message
	stopRuns        context.CancelCauseFunc
	stopSending     context.CancelFunc
	work            sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	open    map[string]*session // sessions with something to do
	working int                 // goroutines that have something to do
	waiting int                 // bytes in queues
	replies map[string]int      // being sent, by chat
	last    *recent.Map[string, answered]
	refused *recent.Map[string, struct{}]
}

var errClosing = errors.New("bailiff is shutting down")

// NewSessions returns the sessions of an account; its error names everything that the
// config lacks.
func NewSessions(c SessionsConfig) (*Sessions, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	s := &Sessions{config: c, open: map[string]*session{}, replies: map[string]int{},
		last: recent.New[string, answered](lastAtMost), refused: recent.New[string, struct{}](refusedAtMost)}
	s.runCtx, s.stopRuns = context.WithCancelCause(context.Background())
	s.sendCtx, s.stopSending = context.WithCancel(context.Background())
	return s, nil
}

func (c SessionsConfig) missing() error {
	return required.Fields("chat sessions", map[string]bool{"Platform": c.Platform == "", "Surface": c.Surface == nil,
		"Sidecar": c.Sidecar == nil, "AllowedUsers": c.AllowedUsers == nil, "Store": c.Store == nil})
}

// Close stops the commands that run, says so in their chats where it can within two
// seconds, and returns when all have ended. The store stays open: it is the account's.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	for _, o := range s.open {
		o.dropped += s.clearLocked(o)
	}
	s.mu.Unlock()
	s.stopRuns(errClosing)
	defer time.AfterFunc(closeGrace, s.stopSending).Stop()
	s.work.Wait()
	s.stopSending()
}

// Said takes a message, and returns when it is remembered. It needs no context: the command
// outlives the delivery.
func (s *Sessions) Said(_ context.Context, said Said) {
	switch {
	case !s.allows(said.By) && !s.mayUndo(said):
		s.refuseUser(said)
	case s.isMeant(said) && s.isNew(said):
		s.dispatch(said)
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
		return s.config.Store.tookPart(said.Place)
	}
	return !s.config.RequireMention || slices.Contains(s.config.FreeResponse, said.Chat)
}

// isNew remembers a message, and says whether it was new.
func (s *Sessions) isNew(said Said) bool {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return false // it may be delivered again to the next sidecar
	}
	isNew, err := s.config.Store.firstSeen(said.Ref)
	if err != nil {
		s.config.Log.Error("a chat message cannot be remembered, so it does not run", "platform", s.config.Platform, "chat", said.Chat,
			"error", err)
		s.replyAsync(said,
			saying("Nothing runs: bailiff cannot remember messages at the moment, and could run one twice. Its log says why."))
	}
	return isNew && err == nil
}

// dispatch runs a message's command.
func (s *Sessions) dispatch(said Said) {
	word, what, err := read(said.Text)
	var refusal Text
	switch {
	case err != nil:
		refusal = notRun(err)
	case word != "":
		refusal = s.slashCommand(said, word)
	case s.config.Threads && said.Mentioned && said.Kind != "thread" && said.Kind != "dm":
		refusal = s.startThread(said, what)
	default:
		refusal = s.add(job{said: said, what: what, at: said.Place, kind: said.Kind})
	}
	if refusal != nil {
		s.count(bailiff.Refused)
		s.replyAsync(said, refusal)
	}
}

func notRun(err error) Text {
	return Text{{Strong, "Not run. "}, {Plain, bailiff.Sentence(bailiff.Foreign(err.Error()))}}
}

// startThread starts a thread at a message, whose command is the first there.
func (s *Sessions) startThread(said Said, what task) (refusal Text) {
	return s.startWork(func() {
		ctx, cancel := s.sendContext(replyTimeout)
		defer cancel()
		at, kind, err := s.thread(ctx, said, title(what))
		if errors.Is(err, ErrGone) {
			return
		}
		var refusal Text
		if err == nil {
			refusal = s.add(job{said: said, what: what, at: at, kind: kind})
		} else {
			s.config.Log.Warn("a thread for a chat command cannot be made, so it does not run", "platform", s.config.Platform, "chat",
				said.Chat, "error", err)
			at, refusal = said.Place, notRun(fmt.Errorf("a thread for it cannot be made: %w", err))
		}
		if refusal != nil {
			s.count(bailiff.Refused)
			said.Place = at
			s.reply(ctx, said, refusal)
		}
	})
}

// thread returns the thread that starts at a message, and its kind; where the service has
// no threads, it is the message's place.
func (s *Sessions) thread(ctx context.Context, from Said, title string) (at Place, kind string, err error) {
	err = retry(ctx, nil, func(ctx context.Context) (err error) {
		at, err = s.config.Surface.Thread(ctx, from.Ref, title)
		return err
	})
	if err == nil && at.Thread == "" {
		return from.Place, from.Kind, nil
	}
	return at, "thread", err
}

// idOf returns the id of the session that a message of a person at a place belongs to.
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

// quoted escapes the colons of an id, since they separate the parts of a session's id.
var quoted = strings.NewReplacer("%", "%25", ":", "%3A").Replace

func (s *Sessions) count(status bailiff.Status) {
	if s.config.Observer != nil {
		s.config.Observer.ChatCommand(s.config.Platform, status)
	}
}
