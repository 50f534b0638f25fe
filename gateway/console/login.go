package console

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// tokenHeader carries the secret that the page keeps.
const tokenHeader = "Bailiff-Token"

// loggedIn is the answer to POST /login.
type loggedIn struct {
	Token string `json:"token"`
	about
}

// about is the answer to GET /session: who the session answers as, and when it
// ends if it is not used.
type about struct {
	Person     string    `json:"person"`
	Groups     []string  `json:"groups"`
	Credential string    `json:"credential"`
	Login      string    `json:"login"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// maxLogin is more than a login has.
const maxLogin = 4 << 10

// login exchanges a link's token for a session. A right one is always taken, as
// everyone on this machine can send wrong ones.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "method_not_allowed", "This path takes POST only.")
		return
	}
	var sent struct {
		Token string `json:"token"`
	}
	if !read(w, r, &sent, `A login is {"token": "…"}.`) {
		return
	}
	who, bad := c.links.redeem(sent.Token, time.Now())
	if bad != nil {
		c.turnAway(w, bad)
		return
	}
	operator, ok := c.operator(w, who)
	if !ok {
		return
	}
	if old := c.sessions.find(c.secrets(r)); old != nil {
		c.sessions.end(old)
	}
	s, cookie, token := c.sessions.begin(who, operator, c.maxAge(who), time.Now())
	if !c.stays(w, s) {
		return
	}
	c.countLogin(who)
	http.SetCookie(w, c.sessionCookie(cookie))
	send(w, http.StatusOK, loggedIn{token, s.told()})
}

// How many links that log no one in are answered and logged at once, and how
// long it takes until one more is.
const (
	refusalsAtOnce = 10
	refusalEvery   = 6 * time.Second
)

// read takes what a login sends, or says what would be right.
func read(w http.ResponseWriter, r *http.Request, into any, right string) bool {
	return readAtMost(w, r, maxLogin, into, right)
}

// readAtMost takes what is sent if it is no longer than that.
func readAtMost(w http.ResponseWriter, r *http.Request, most int64, into any, right string) bool {
	d := json.NewDecoder(io.LimitReader(r.Body, most))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", right)
		return false
	}
	return true
}

// operator is the API of a session that begins.
func (c *Console) operator(w http.ResponseWriter, who bailiff.Approver) (http.Handler, bool) {
	if err := c.config.Known(who); err != nil { // a link may be older than the configuration
		c.refuseStranger(w, who, err)
		return nil, false
	}
	operator, err := c.config.Operator(who)
	if err != nil {
		c.config.Log.Error("opening a session of the console", "error", err)
		refuse(w, http.StatusInternalServerError, "internal", "The sidecar failed at this request; its log says how.")
	}
	return operator, err == nil
}

// stays ends a session that has just begun if its person may not be logged in any more: a [Console.Review]
// that ran right before did not find it.
func (c *Console) stays(w http.ResponseWriter, s *session) bool {
	err := c.config.Known(s.who)
	if err != nil {
		c.sessions.end(s)
		c.refuseStranger(w, s.who, err)
	}
	return err == nil
}

func (c *Console) refuseStranger(w http.ResponseWriter, who bailiff.Approver, why error) {
	c.config.Counted(who.Login, false)
	c.config.Log.Warn("refused a login to the console", "credential", who.Credential, "reason", why)
	refuse(w, http.StatusForbidden, "not_eligible", bailiff.Sentence(why.Error()))
}

func (c *Console) turnAway(w http.ResponseWriter, bad *badLink) {
	c.config.Counted(bailiff.LoginLink, false)
	if refuseEarly(w, c.refusals.wait(time.Now()), "Too many links that log no one in; run \"bailiff console\" for a new one.") {
		return
	}
	c.config.Log.Warn("refused a login to the console", "reason", bad.code)
	refuse(w, http.StatusForbidden, bad.code, bad.message)
}

func (c *Console) sessionCookie(value string) *http.Cookie {
	return &http.Cookie{Name: c.cookie, Value: value, Path: "/", HttpOnly: true, Secure: c.config.TLS != nil,
		SameSite: http.SameSiteStrictMode}
}

// maxAge is when a login ends at the latest.
func (c *Console) maxAge(who bailiff.Approver) time.Duration {
	if who.Login != bailiff.LoginLink && c.config.MaxAge > 0 {
		return min(maxAge, c.config.MaxAge)
	}
	return maxAge
}

func (c *Console) countLogin(who bailiff.Approver) {
	c.config.Counted(who.Login, true)
	c.config.Log.Info("logged in to the console", "person", who.Person, "credential", who.Credential, "login", who.Login)
}

func (c *Console) logout(w http.ResponseWriter, s *session) {
	c.sessions.end(s)
	c.config.Log.Info("logged out of the console", "person", s.who.Person, "credential", s.who.Credential)
	gone := c.sessionCookie("")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	w.WriteHeader(http.StatusNoContent)
}

// secrets are those that a request sends; both are empty unless each is there
// exactly once.
func (c *Console) secrets(r *http.Request) (cookie, token string) {
	cookies, tokens := r.CookiesNamed(c.cookie), r.Header[tokenHeader]
	if len(cookies) != 1 || len(tokens) != 1 {
		return "", ""
	}
	return cookies[0].Value, tokens[0]
}

// refuseEarly refuses a request that has to wait, and says whether it did.
func refuseEarly(w http.ResponseWriter, wait time.Duration, why string) bool {
	if wait <= 0 {
		return false
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
	refuse(w, http.StatusTooManyRequests, "too_many_logins", why)
	return true
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	send(w, status, api.Problem{Code: code, Message: message, Errors: []api.Fault{}})
}

func send(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // a client that is gone needs no answer
}
