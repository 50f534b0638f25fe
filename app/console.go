package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/console"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/login/securitykey"
)

// openConsole opens the web page, and returns what makes links to it; nil if
// there is none.
func (a *App) openConsole() (link func(bailiff.Approver) (string, time.Time), err error) {
	if a.cfg.Operator.Console == "" {
		return nil, nil
	}
	if a.keys, err = a.openKeys(); err != nil {
		return nil, err
	}
	c := console.Config{Address: a.cfg.Operator.Console, Operator: a.operatorFor, Known: a.roster.known,
		Keys: a.keys, Proved: a.metrics.KeyAnswered, MaxAge: a.cfg.Operator.OIDC.Session, Counted: a.metrics.ConsoleLogin, Log: a.log}
	if err := a.secure(&c); err != nil {
		return nil, err
	}
	a.tokens.open, a.tokens.log = a.programAPI, a.log
	if err := a.tokens.read(a.cfg.Operator.Tokens); err != nil {
		return nil, err
	}
	c.Program = a.tokens.find
	page, err := console.Open(c)
	if err != nil {
		return nil, fmt.Errorf("opening the console: %w; set operator.console to another address, or to \"\" for none", err)
	}
	a.console, a.consolePage = &listener{Listener: page.Listener, left: make(chan struct{})}, page
	return page.Link, nil
}

// openKeys opens the security keys of people, those of this sidecar's console.
func (a *App) openKeys() (*securitykey.Keys, error) {
	keys, err := securitykey.Open(filepath.Join(a.cfg.StateDir, "keys"), a.log)
	if err != nil {
		return nil, err
	}
	if err := keys.Retain(personNames(a.cfg.People)); err != nil {
		return nil, fmt.Errorf("reading the security keys, of which none may be missing unnoticed: %w; make the file readable, or "+
			"move it away: its person's next key then needs no other to confirm it", err)
	}
	return keys, nil
}

func personNames(people []config.Person) (names []string) {
	for _, p := range people {
		names = append(names, p.Name)
	}
	return names
}

// operatorFor is the operator API for an operator who is logged in to the console.
func (a *App) operatorFor(who bailiff.Approver) (http.Handler, error) {
	return gateway.NewOperator(a.operatorAPI(func(*http.Request) (bailiff.Approver, bool) { return who, true }))
}
