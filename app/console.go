package app

import (
	"fmt"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/console"
)

// openConsole opens the web page, and returns what makes links to it; nil if
// there is none.
func (a *App) openConsole() (link func(bailiff.Approver) (string, time.Time), err error) {
	if a.cfg.Operator.Console == "" {
		return nil, nil
	}
	c := console.Config{Address: a.cfg.Operator.Console, Operator: a.operatorFor, Known: a.roster.known,
		MaxAge: a.cfg.Operator.OIDC.Session, Counted: a.metrics.ConsoleLogin, Log: a.log}
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
	a.console, a.consolePage = &listener{page.Listener, make(chan struct{})}, page
	return page.Link, nil
}

// operatorFor is the operator API for an operator who is logged in to the console.
func (a *App) operatorFor(who bailiff.Approver) (http.Handler, error) {
	return gateway.NewOperator(a.operatorAPI(func(*http.Request) (bailiff.Approver, bool) { return who, true }))
}
