package console

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/login"
)

// Provider is an OpenID provider, and who its accounts belong to. Its errors are those of
// internal/login.
type Provider interface {
	// Name is what people are shown.
	Name() string
	// Begin says where to send a browser, and what that must keep until it is back at redirect.
	Begin(ctx context.Context, redirect string) (url, kept string, err error)
	// Finish says who logged in.
	Finish(ctx context.Context, redirect, kept, state, code string) (bailiff.Approver, error)
	BeginDevice(ctx context.Context) (Device, error)
}

// Device is a login on a command line that has begun.
type Device struct {
	// URL is where the person enters Code; Complete has the code in it, if the provider has such.
	URL, Complete, Code string
	Expires             time.Time
	// Await says who logged in.
	Await func(context.Context) (bailiff.Approver, error)
}

// callbackPath is where the provider sends browsers back to.
const callbackPath = "/oidc/callback"

// ways is the answer to GET /ways: how one can log in.
type ways struct {
	// Provider is empty where there is none.
	Provider string `json:"provider"`
}

// loginByProvider serves what belongs to a login by the provider, and says whether that was asked for.
func (c *Console) loginByProvider(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path == "/ways" && r.Method == http.MethodGet {
		var told ways
		if c.config.Provider != nil {
			told.Provider = c.config.Provider.Name()
		}
		send(w, http.StatusOK, told)
		return true
	}
	if c.config.Provider == nil {
		return false
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /oidc/login":
		c.beginLogin(w, r)
	case "GET " + callbackPath:
		c.finishLogin(w, r)
	case "POST /login/device":
		c.beginDevice(w, r)
	case "POST /login/device/wait":
		c.awaitDevice(w, r)
	default:
		return false
	}
	return true
}

// beginLogin sends a browser to the provider, which sends it back to the console under its one name.
func (c *Console) beginLogin(w http.ResponseWriter, r *http.Request) {
	if r.Host != c.host {
		http.Redirect(w, r, c.base+"/oidc/login", http.StatusSeeOther)
		return
	}
	url, kept, err := c.config.Provider.Begin(r.Context(), c.base+callbackPath)
	if err != nil {
		c.refuseLogin(w, bailiff.LoginOIDC, err)
		return
	}
	http.SetCookie(w, c.loginCookie(kept, login.BrowserFor))
	http.Redirect(w, r, url, http.StatusSeeOther)
}

// finishLogin makes a link of what the provider says, which the page exchanges for a session as every
// other. It is the browser that began this login that gets it.
func (c *Console) finishLogin(w http.ResponseWriter, r *http.Request) {
	kept, err := r.Cookie(c.loginCookie("", 0).Name)
	if err != nil {
		kept = &http.Cookie{}
	}
	http.SetCookie(w, c.loginCookie("", -time.Second))
	query := r.URL.Query()
	if said := query.Get("error"); said != "" && kept.Value != "" {
		c.refuseLogin(w, bailiff.LoginOIDC, &declined{said})
		return
	}
	who, err := c.config.Provider.Finish(r.Context(), c.base+callbackPath, kept.Value, query.Get("state"), query.Get("code"))
	if err != nil {
		c.refuseLogin(w, bailiff.LoginOIDC, err)
		return
	}
	token, _ := c.links.add(who, time.Now())
	http.Redirect(w, r, "/#"+token, http.StatusSeeOther)
}

// declined is that the provider let no person in.
type declined struct{ said string }

func (d *declined) Error() string {
	return "the provider did not let you in: " + bailiff.Foreign(d.said)
}

// loginCookie is what a browser keeps while a person logs in. The provider's page brings it back, so
// that it is not strict.
func (c *Console) loginCookie(kept string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: c.cookie + "_login", Value: kept, Path: "/oidc/", HttpOnly: true, Secure: c.config.TLS != nil,
		SameSite: http.SameSiteLaxMode, MaxAge: int(age / time.Second)}
}

// refused has a place for why.
const refused = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>bailiff console – not logged in</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/console.css"></head>
<body><main class="login"><h1>Not logged in</h1><p role="alert">%s</p><p><a href="/">Back to the console</a></p></main></body></html>
`

// refuseLogin says on a page of its own why a person is not logged in: it is no script that asked.
func (c *Console) refuseLogin(w http.ResponseWriter, way string, err error) {
	status := c.noteRefusal(way, err)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, refused, html.EscapeString(bailiff.Sentence(err.Error()))) // a browser that is gone needs no page
}

// noteRefusal counts and logs a login that let no person in, the log as often as it bears.
func (c *Console) noteRefusal(way string, err error) (status int) {
	c.config.Counted(way, false)
	if c.refusals.wait(time.Now()) == 0 {
		c.config.Log.Warn("refused a login to the console", "login", way, "reason", err)
	}
	if errors.Is(err, login.ErrUnavailable) {
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}
