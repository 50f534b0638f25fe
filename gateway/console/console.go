// Package console is the web page on which operators answer approvals and see
// what the sidecar does: a listener of its own, a login, and the operator API behind
// it.
//
// A login begins with a link that only the operators' socket gives out
// ([Console.Link]), or that the console itself gives to whom an OpenID provider knows
// ([Config.Provider]). Its token stands in the fragment, which browsers do
// not send; the page exchanges it, once, for a session. A session is two secrets:
// a cookie that scripts cannot read, and a token that the page keeps and sends
// in a header. Cookies go to every port of a host, and what is stored by a page
// does not, so that a server on another port that is shown the cookie can do
// nothing with it. The session answers in the name of the operator who asked for the
// link or logged in, through an operator API of its own ([Config.Operator]).
//
// A command line logs in by the provider's device flow, and sends its secret, the only one
// that it has, as a bearer token; a browser's page could not send such from elsewhere. So does a
// program ([Config.Program]), which needs no login.
//
// Where a route wants proof, an answer is confirmed by the person's security key ([Keys]): what they want is kept here
// while the key is asked for, and done once it has answered.
//
// What is promised:
//   - nothing but the page itself and a login is served without both secrets, to a host
//     name that is not the console's, or to another origin;
//   - links and sessions live in memory only, and as hashes; they end by
//     themselves, and only what a person does keeps a session alive;
//   - when a session ends, its streams and requests end; one whose person may not be logged in any
//     more ends with [Console.Review];
//   - a security key confirms the one wish for which it was asked, in the session that had it, once;
//   - the page runs its own scripts only, shows in no frame, and loads nothing
//     from elsewhere; what a request says is text in it, never markup, with its
//     control characters visible.
//
// What is not here: what operators may do (gateway), who may answer
// (internal/approval/people), how a provider is asked (internal/login), and what a security key says
// (internal/login/securitykey).
package console

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Config says where the console is and what is behind it.
type Config struct {
	// Address is host:port; port 0 lets the system choose.
	Address string
	// Operator returns the operator API that answers in the name of who.
	Operator func(who bailiff.Approver) (http.Handler, error)
	// Known says why a person may not be logged in; it is nil while they may.
	Known func(who bailiff.Approver) error
	// Name is by what browsers call the console, whose TLS is as TLS says; both are empty where it
	// is served in the clear.
	Name string
	TLS  *tls.Config
	// Provider lets people log in; nil where there is none.
	Provider Provider
	// MaxAge ends a login by the provider; zero means that it ends as every other.
	MaxAge time.Duration
	// Program serves the program that a token is of, nil if it is of none. The field is nil where programs have none.
	Program func(token string) http.Handler
	// Keys are the security keys of people; nil where there are none.
	Keys Keys
	// Proved is told of each response of a security key, and whether it counted; nil is told of none.
	Proved func(counted bool)
	// Counted is told of each login, and whether it was let in; nil is told of none.
	Counted func(way string, in bool)
	Log     *slog.Logger
}

const (
	// idleTimeout ends a session that is unused.
	idleTimeout = 30 * time.Minute
	// maxAge ends every session.
	maxAge = 12 * time.Hour
)

// Console is an open console; its listener must be served.
type Console struct {
	*gateway.Listener
	config   Config
	host     string   // with the port, as in links
	base     string   // with the scheme too
	hosts    []string // all by which it may be called
	cookie   string
	pages    map[string]asset
	links    links
	devices  devices
	sessions sessions
	refusals pace
	// site is the name at which security keys are asked for, under base; empty if they cannot be.
	site       string
	ceremonies ceremonies
}

// Open starts to listen.
func Open(c Config) (*Console, error) {
	if err := required.Fields("console", map[string]bool{"Operator": c.Operator == nil, "Known": c.Known == nil}); err != nil {
		return nil, err
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Counted == nil {
		c.Counted = func(string, bool) {}
	}
	if c.Proved == nil {
		c.Proved = func(bool) {}
	}
	console := &Console{config: c, pages: pages(), sessions: sessions{idle: idleTimeout}}
	listener, err := gateway.Open(gateway.ListenerConfig{Name: bailiff.ChannelConsole, Network: "tcp", Address: c.Address, Login: true,
		TLS: c.TLS, Log: c.Log},
		console)
	if err != nil {
		return nil, err
	}
	console.Listener = listener
	console.at(c.Address, listener.Address())
	return console, nil
}

// at learns by which names browsers may call the console: as it is configured,
// and as this machine, which is also how a tunnel to it is called.
func (c *Console) at(configured, opened string) {
	host, _, _ := net.SplitHostPort(configured) // the listener has opened there
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(opened, "tcp://"))
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	host = cmp.Or(c.config.Name, host)
	c.host = net.JoinHostPort(host, port)
	c.cookie = "bailiff_console_" + port
	for _, name := range []string{host, "127.0.0.1", "localhost", "::1"} {
		c.hosts = append(c.hosts, net.JoinHostPort(strings.ToLower(name), port))
	}
	usual := map[string]string{"http": "80", "https": "443"}[c.scheme()]
	if port == usual { // which browsers leave out
		c.host = host
		c.hosts = append(c.hosts, strings.ToLower(host))
	}
	c.base = c.scheme() + "://" + c.host
	if c.config.Name != "" || host == "localhost" { // keys answer to names, where a page is safe from who sees the network
		c.site = strings.ToLower(host)
	}
}

func (c *Console) scheme() string {
	if c.config.TLS != nil {
		return "https"
	}
	return "http"
}

// URL is that of the page.
func (c *Console) URL() string { return c.base }

// Link returns a link that logs in, once and for five minutes, as who.
func (c *Console) Link(who bailiff.Approver) (url string, expires time.Time) {
	who.Channel, who.Login = bailiff.ChannelConsole, bailiff.LoginLink
	token, expires := c.links.add(who, time.Now())
	return c.base + "/#" + token, expires
}

// Review ends the logins of all who may not be logged in any more.
func (c *Console) Review() {
	for _, s := range c.sessions.list() {
		if err := c.config.Known(s.who); err != nil {
			c.sessions.end(s)
			c.config.Log.Info("ended a login to the console", "person", s.who.Person, "credential", s.who.Credential, "reason", err)
		}
	}
}

// ServeHTTP is everything that the console serves.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if !slices.Contains(c.hosts, strings.ToLower(r.Host)) {
		refuse(w, http.StatusMisdirectedRequest, "wrong_host", "The console is at "+c.base+" and answers to no other name.")
		return
	}
	if page, found := c.pages[r.URL.Path]; found {
		page.serve(w, r)
		return
	}
	if c.loginByProvider(w, r) {
		return
	}
	if token, sent := bearer(r); sent && c.serveBearer(w, r, token) {
		return
	}
	if !c.ours(r) {
		refuse(w, http.StatusForbidden, "cross_origin", "Only the console's own page may ask this.")
		return
	}
	if r.URL.Path == "/login" {
		c.login(w, r)
		return
	}
	s := c.sessions.find(c.secrets(r))
	if s == nil {
		refuse(w, http.StatusUnauthorized, "not_logged_in", "You are not logged in; run \"bailiff console\" for a link.")
		return
	}
	c.serve(w, r, s)
}

// serveBearer serves who sends a token alone: a command line that is logged in, or a program. It says whether the
// request is answered.
func (c *Console) serveBearer(w http.ResponseWriter, r *http.Request, token string) bool {
	if s := c.sessions.bearer(token); s != nil {
		c.serve(w, r, s)
		return true
	}
	if c.config.Program == nil {
		return false
	}
	if program := c.config.Program(token); program != nil {
		program.ServeHTTP(w, r)
		return true
	}
	c.config.Counted(bailiff.LoginToken, false)
	if refuseEarly(w, c.refusals.wait(time.Now()), "Too many tokens that log no one in; try again in a moment.") {
		return true
	}
	c.config.Log.Warn("refused a token at the console", "path", r.URL.Path)
	refuse(w, http.StatusUnauthorized, "not_logged_in", "The token that was sent is of no login that goes on, and none of operator.tokens.")
	return true
}

// serve serves those who are logged in.
func (c *Console) serve(w http.ResponseWriter, r *http.Request, s *session) {
	if unsafe(r) {
		c.sessions.use(s) // what the page does by itself only reads
	}
	if c.serveKeys(w, r, s) {
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /session":
		send(w, http.StatusOK, s.told())
	case "POST /alive":
		send(w, http.StatusOK, s.told())
	case "POST /logout":
		c.logout(w, s)
	default:
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.ended, cancel)()
		s.operator.ServeHTTP(w, r.WithContext(ctx))
	}
}

// ours tells whether a request comes from the console's own page. Browsers send
// an Origin with every request that is not a plain reading one.
func (c *Console) ours(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header["Origin"]
	if len(origin) == 0 {
		return !unsafe(r)
	}
	return len(origin) == 1 && origin[0] == c.scheme()+"://"+r.Host
}

func unsafe(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }
