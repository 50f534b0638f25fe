package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	sessions   *chat.Sessions   // nil where commands are not taken
	allowed    atomic.Pointer[[]string]
}

// openChats opens the accounts; none is connected yet.
func (a *App) openChats() error {
	a.services.notifiers = chat.NewNotifiers(a.approvals, a.log)
	for _, name := range a.cfg.Chat.Services() {
		account, err := a.openAccount(name)
		if err != nil {
			return fmt.Errorf("opening chat service %s: %w", name, err)
		}
		a.services.open = append(a.services.open, account)
	}
	a.roster.notifiers.Store(a.services.notifiers)
	return nil
}

func (a *App) openAccount(name string) (account *chatAccount, err error) {
	dir := filepath.Join(a.cfg.StateDir, "chat", name)
	account = &chatAccount{name: name}
	if account.store, err = chat.OpenStore(dir, a.log); err != nil {
		return nil, err
	}
	if account.platform, err = newPlatform(a.cfg, name, account.store, a.log); err != nil {
		return nil, err
	}
	if err := a.openNotifier(account, dir); err != nil {
		return nil, err
	}
	return account, a.openSessions(account)
}

// openNotifier opens the notifier of an account at which approvals are posted; other accounts
// keep only the state of their connection.
func (a *App) openNotifier(account *chatAccount, dir string) (err error) {
	if !slices.Contains(a.cfg.Chat.Channels(), account.name) {
		account.connection = chat.NewConnection(account.name, a.metrics, a.log)
		return nil
	}
	at := chat.Place{}
	if commands := a.cfg.Chat.Commands(account.name); commands != nil {
		at.Chat = commands.Approvals
	}
	account.notifier, err = chat.NewNotifier(chat.NotifierConfig{Service: account.name, At: at, Poster: account.platform,
		Approvals: a.approvals, Identify: a.roster.IdentifyAccount,
		Dir: filepath.Join(dir, "posts"), Observer: a.metrics, Log: a.log})
	if err == nil {
		a.services.notifiers.Add(account.notifier)
	}
	return err
}

// openSessions opens those of an account whose messages may be commands.
func (a *App) openSessions(account *chatAccount) error {
	commands := a.cfg.Chat.Commands(account.name)
	if commands == nil || len(commands.AllowedUsers) == 0 {
		return nil
	}
	agent, err := gateway.NewAgent(gateway.AgentConfig{Name: account.name, Platforms: []string{account.name}, Console: a.consoleURL(),
		Enforcer: a.front, Tools: a.front, Tracer: a.agentTracer()})
	if err != nil {
		return err
	}
	account.allowed.Store(&commands.AllowedUsers)
	account.sessions, err = chat.NewSessions(chat.SessionsConfig{
		Platform: account.name, Surface: account.platform, Sidecar: agent, AllowedUsers: func() []string { return *account.allowed.Load() },
		RequireMention: commands.RequireMention, FreeResponse: commands.FreeResponseChannels,
		Threads: a.makesThreads(account.name), Env: commands.Env,
		Pending: pending{a.approvals}, Undoer: chatUndoer{undoer{a.core}, account.name}, Store: account.store, Observer: a.metrics,
		Log: a.log,
	})
	return err
}

// makesThreads says whether a mention at a service begins a thread: Telegram has none but
// the topics that there are.
func (a *App) makesThreads(service string) bool {
	switch service {
	case "discord":
		return a.cfg.Chat.Discord.AutoThread
	case "telegram":
		return false
	}
	return true
}

// pending are the approvals as sessions of chats need them.
type pending struct{ *approval.Book }

// Pending are a session's approvals that wait for an answer.
func (p pending) Pending(session string) []api.Entry {
	entries, _ := p.List(api.Query{State: bailiff.ApprovalPending, Session: session})
	return entries
}

// runChats keeps the accounts connected until ctx ends.
func (a *App) runChats(ctx context.Context) {
	a.serving.Go(func() { a.services.notifiers.Run(ctx) })
	for _, account := range a.services.open {
		a.serving.Go(func() { a.runChat(ctx, account) })
	}
}

// runChat keeps one account connected, at one sidecar of those that serve each other's sessions.
func (a *App) runChat(ctx context.Context, account *chatAccount) {
	if a.fleet.router == nil {
		a.attend(ctx, account)
		return
	}
	account.inbox().Connected(errNotYet)
	a.fleet.members.Duty(ctx, "chat "+account.name, func(ctx context.Context) {
		a.attend(ctx, account)
		account.inbox().Connected(errNotYet) // until another sidecar is heard of
	}, func(string) { account.inbox().Connected(nil) })
}

// attend posts at an account and takes what comes in by it.
func (a *App) attend(ctx context.Context, account *chatAccount) {
	var posting sync.WaitGroup
	if account.notifier != nil {
		posting.Go(func() { account.notifier.Run(ctx) })
	}
	a.connect(ctx, account)
	posting.Wait()
}

func (a *chatAccount) inbox() chat.Channel {
	inbox := chat.Channel{Notifier: a.notifier, Connection: a.connection}
	if a.sessions != nil {
		inbox.Sessions = a.sessions
	}
	return inbox
}

// reconnectEvery is how soon an account is tried again that a service refused: a token may
// have been renewed.
const reconnectEvery = time.Minute

// errNotYet is the fault of an account before its first connection.
var errNotYet = errors.New("there is no connection yet")

func (a *App) connect(ctx context.Context, account *chatAccount) {
	inbox := account.inbox()
	inbox.Connected(errNotYet)
	for {
		err := account.platform.Run(ctx, inbox)
		if ctx.Err() != nil {
			return
		}
		inbox.Connected(err)
		a.log.Error("a chat service refuses the account; it is tried again every minute", "service", account.name, "error", err)
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

// status says what each service is for, and its fault if it has one.
func (c *chats) status() []api.ServiceStatus {
	list := []api.ServiceStatus{}
	for _, a := range c.open {
		state := api.ServiceStatus{Service: a.name, Approvals: a.notifier != nil,
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

// fault is why an account reaches no people; nil if it reaches them.
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

// warnings name the services that reach no people.
func (c *chats) warnings() (all []string) {
	for _, state := range c.status() {
		if state.Message != "" {
			all = append(all, fmt.Sprintf("chat service %s reaches nobody: %s", state.Service, state.Message))
		}
	}
	return all
}
