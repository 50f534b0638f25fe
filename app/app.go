// Package app is the sidecar: [New] builds it from the configuration and opens its
// listeners, [App.Run] serves until it is told to stop.
//
// This package is the only one that knows the concrete types together. What is
// promised: New returns every fault before anything is served, and Run leaves nothing
// open when it returns.
//
// Not here: the command line and signals, which are in cmd/bailiff.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/console"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/login/securitykey"
	"github.com/bailiff-dev/bailiff/internal/record/outage"
)

// Config is what a sidecar is started with.
type Config struct {
	// File is the configuration; empty means that it is looked for in the usual places.
	File string
	// Version is that of the program.
	Version string
	// TestCommand runs the policies' tests in the sidecar's place, see regotest.Serve; nil means that the
	// sidecar runs them itself.
	TestCommand func(context.Context) *exec.Cmd
	// OwnsProcess says that the process is the sidecar's alone, so that it may choose when memory is collected.
	OwnsProcess bool
	// Log is where the sidecar's own log is written.
	Log io.Writer
}

// patience is how long running requests may go on when the sidecar stops.
const patience = 10 * time.Second

// App is a sidecar: the core with its listeners.
type App struct {
	*core
	file    string // the configuration, as [Config] names it
	started time.Time
	up      chan struct{} // closed when every listener is served

	// unwatched is why changes of the policies go unseen; nil while they are seen.
	unwatched outage.Outage

	mu          sync.Mutex // guards cfg.Agent.Listeners too, once listeners are served
	stopping    bool
	agents      []*listener // as cfg.Agent.Listeners
	mcpServers  mcpServers
	operator    *listener
	console     *listener // nil if there is none
	consolePage *console.Console
	keys        *securitykey.Keys // nil where there is no console
	certificate certificate
	tokens      tokens
	services    chats
	serving     sync.WaitGroup
	failed      chan error // holds the fault of the first listener that failed
}

// New builds everything and opens every listener, but serves nothing yet.
func New(ctx context.Context, c Config) (*App, error) {
	cfg, err := offline.LoadConfig(c.File)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, cfg, NewLog(cfg.Log.Level, cfg.Log.Format, c.Log), c)
	if err != nil {
		return nil, err
	}
	s.file = c.File
	return s, nil
}

// open is [New] with a configuration that has been read.
func open(ctx context.Context, cfg *config.Config, log *slog.Logger, c Config) (*App, error) {
	core, err := newCore(ctx, cfg, log, c)
	if err != nil {
		return nil, err
	}
	s := &App{core: core, started: time.Now(), up: make(chan struct{}), failed: make(chan error, 1)}
	if err := s.openListeners(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// Run serves until ctx ends or a listener fails, then stops everything.
func (a *App) Run(ctx context.Context) error {
	background, cancel := context.WithCancel(ctx)
	a.background(background)
	a.serve()
	a.log.Info("serving", "version", a.version, "revision", a.policies.Revision(), "state", a.cfg.StateDir)
	var err error
	select {
	case <-ctx.Done():
	case err = <-a.failed:
	}
	cancel()
	a.log.Info("stopping")
	return errors.Join(err, a.stop())
}

// stop closes the listeners, then the core, and returns when nothing runs any more.
func (a *App) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var listeners sync.WaitGroup
	if a.fleet.router != nil && a.cfg.Store.OnStop != config.OnStopRemove {
		a.fleet.router.Leave() // before anything that waits is answered
		listeners.Go(func() { a.handOver(ctx) })
	}
	a.enforcer.StopWaiting() // an approver may take minutes, which no patience lasts
	fault := a.services.close()
	a.mu.Lock()
	a.stopping = true // no reload opens a listener from here on
	a.mu.Unlock()
	for _, d := range a.openedListeners() {
		listeners.Go(func() { a.shut(ctx, d) })
	}
	if a.fleet.server != nil {
		listeners.Go(func() { a.shutPeers(ctx) })
	}
	listeners.Go(a.mcp.proxy.Close) // whose servers end with it, and hold up nothing
	listeners.Wait()
	closeMCP(a.mcpServers.retire(nil))
	err := errors.Join(fault, a.core.close(ctx))
	a.serving.Wait()
	return err
}
