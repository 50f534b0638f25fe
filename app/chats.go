package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// chats are the accounts at chat services.
type chats struct {
	notifiers *chat.Notifiers
	open      []*chatAccount
}

// chatAccount is one of them, with what it brings.
type chatAccount struct {
	name       string
	platform   platform
	store      *chat.Store
	notifier   *chat.Notifier   // nil where no approvals are posted
	connection *chat.Connection // nil where there is a notifier
	sessions   *chat.Sessions   // nil where nobody gives commands
	allowed    atomic.Pointer[[]string]
}

// openChats opens the accounts; none is connected yet.
func (s *App) openChats() error {
	s.services.notifiers = chat.NewNotifiers(s.book, s.log)
	for _, name := range s.cfg.Chat.Services() {
		a, err := s.openAccount(name)
		if err != nil {
			return fmt.Errorf("opening chat service %s: %w", name, err)
		}
		s.services.open = append(s.services.open, a)
	}
	s.roster.notifiers.Store(s.services.notifiers)
	return nil
}

func (s *App) openAccount(name string) (a *chatAccount, err error) {
	dir := filepath.Join(s.cfg.StateDir, "chat", name)
	a = &chatAccount{name: name}
	if a.store, err = chat.OpenStore(dir, s.log); err != nil {
		return nil, err
	}
	if a.platform, err = newPlatform(s.cfg, name, a.store, s.log); err != nil {
		return nil, err
	}
	if err := s.openNotifier(a, dir); err != nil {
		return nil, err
	}
	return a, s.openSessions(a)
}

// openNotifier opens the notifier of an account at which approvals are posted; other accounts
// keep only the state of their connection.
func (s *App) openNotifier(a *chatAccount, dir string) (err error) {
	if !slices.Contains(s.cfg.Chat.Channels(), a.name) {
		a.connection = chat.NewConnection(a.name, s.metrics, s.log)
		return nil
	}
	at := chat.Place{}
	if commands := s.cfg.Chat.Commands(a.name); commands != nil {
		at.Chat = commands.Approvals
	}
	a.notifier, err = chat.NewNotifier(chat.NotifierConfig{Service: a.name, At: at, Poster: a.platform, Approvals: s.book, Identify: s.roster.IdentifyAccount,
		Dir: filepath.Join(dir, "posts"), Observer: s.metrics, Log: s.log})
	if err == nil {
		s.services.notifiers.Add(a.notifier)
	}
	return err
}

// openSessions opens those of an account whose messages may be commands.
func (s *App) openSessions(a *chatAccount) error {
	commands := s.cfg.Chat.Commands(a.name)
	if commands == nil || len(commands.AllowedUsers) == 0 {
		return nil
	}
	agent, err := gateway.NewAgent(gateway.AgentConfig{Name: a.name, Platforms: []string{a.name}, Console: s.consoleURL(),
		Enforcer: s.enforcer, Tools: s.enforcer, Tracer: s.continued()})
	if err != nil {
		return err
	}
	a.allowed.Store(&commands.AllowedUsers)
	a.sessions, err = chat.NewSessions(chat.SessionsConfig{
		Platform: a.name, Surface: a.platform, Sidecar: agent, AllowedUsers: func() []string { return *a.allowed.Load() },
		RequireMention: commands.RequireMention, FreeResponse: commands.FreeResponseChannels,
		Threads: s.makesThreads(a.name), Env: commands.Env,
		Pending: pending{s.book}, Store: a.store, Observer: s.metrics, Log: s.log,
	})
	return err
}

// makesThreads says whether a mention at a service begins a thread: Telegram has none but
// the topics that there are.
func (s *App) makesThreads(service string) bool {
	switch service {
	case "discord":
		return s.cfg.Chat.Discord.AutoThread
	case "telegram":
		return false
	}
	return true
}

// pending is the book as sessions of chats see it.
type pending struct{ *approval.Book }

// Pending are a session's approvals that wait for an answer.
func (p pending) Pending(session string) []api.Entry {
	entries, _ := p.List(api.Query{State: bailiff.ApprovalPending, Session: session})
	return entries
}

// runChats keeps the accounts connected until ctx ends.
func (s *App) runChats(ctx context.Context) {
	s.serving.Go(func() { s.services.notifiers.Run(ctx) })
	for _, a := range s.services.open {
		if a.notifier != nil {
			s.serving.Go(func() { a.notifier.Run(ctx) })
		}
		s.serving.Go(func() { s.connect(ctx, a) })
	}
}

// reconnectEvery is how soon an account is tried again that a service refused: a token may
// have been renewed.
const reconnectEvery = time.Minute

// errNotYet is why nobody is reached before there ever was a connection.
var errNotYet = errors.New("there is no connection yet")

func (s *App) connect(ctx context.Context, a *chatAccount) {
	inbox := chat.Channel{Notifier: a.notifier, Connection: a.connection}
	if a.sessions != nil {
		inbox.Sessions = a.sessions
	}
	inbox.Connected(errNotYet)
	for {
		err := a.platform.Run(ctx, inbox)
		if ctx.Err() != nil {
			return
		}
		inbox.Connected(err)
		s.log.Error("a chat service refuses the account; it is tried again every minute", "service", a.name, "error", err)
		select {
		case <-time.After(reconnectEvery):
		case <-ctx.Done():
			return
		}
	}
}

// close ends what people have running by chat, and says so there.
func (c *chats) close() (err error) {
	for _, a := range c.open {
		if a.sessions != nil {
			a.sessions.Close()
		}
		err = errors.Join(err, a.store.Close())
	}
	return err
}

// status says what each service is for, and why it reaches nobody if so.
func (c *chats) status() []gateway.ServiceStatus {
	list := []gateway.ServiceStatus{}
	for _, a := range c.open {
		state := gateway.ServiceStatus{Service: a.name, Approvals: a.notifier != nil,
			Commands: a.sessions != nil && len(*a.allowed.Load()) > 0}
		if a.notifier != nil {
			state.At = a.notifier.Chat()
		}
		if err := a.fault(); err != nil {
			state.Message = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		list = append(list, state)
	}
	return list
}

// fault is why an account reaches nobody; nil if it reaches people.
func (a *chatAccount) fault() error {
	if a.notifier != nil {
		return a.notifier.Fault()
	}
	return a.connection.Fault()
}

// allow puts into force who may give commands by another configuration, and takes that
// over into the one of now.
func (c *chats) allow(now, next *config.Chat) {
	for _, a := range c.open {
		if a.sessions == nil {
			continue
		}
		users := []string{}
		if commands := next.Commands(a.name); commands != nil {
			users = commands.AllowedUsers
		}
		a.allowed.Store(&users)
		now.Commands(a.name).AllowedUsers = users
	}
}

// warnings say which services reach nobody.
func (c *chats) warnings() (all []string) {
	for _, state := range c.status() {
		if state.Message != "" {
			all = append(all, fmt.Sprintf("chat service %s reaches nobody: %s", state.Service, state.Message))
		}
	}
	return all
}
