package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/login/securitykey"
)

// Keys are the security keys of people. Its errors are those of internal/login/securitykey. Site is the name of the console's host,
// origin has its scheme and port too. Options are for the browser, and end takes its response; it is called once.
type Keys interface {
	List(person string) ([]api.SecurityKey, error)
	// Register begins to register a key; end keeps it. One that was not confirmed by a key of the person's is refused,
	// at its end too, unless it is their first at the site.
	Register(person, name, site, origin string, confirmed bool) (options any,
		end func(response []byte) (api.SecurityKey, error), err error)
	// Ask begins to ask for a key; end says which of the person's it was.
	Ask(person, site, origin string) (options any, end func(response []byte) (key string, err error), err error)
	Remove(person, id string) error
}

// What a key confirms.
const (
	toAnswer = "answer"
	toAdd    = "add"
	toRemove = "remove"
)

// wish is what a person wants to do, as it was before they were asked for their key. The key confirms this and nothing else,
// since no later request can change it.
type wish struct {
	Do string `json:"do"`
	// Approval is answered by a yes or a no, which are as those of the operator API.
	Approval string         `json:"approval,omitempty"`
	Yes      *api.Approving `json:"yes,omitempty"`
	No       *api.Denying   `json:"no,omitempty"`
	// Name is that of a key to add, Key the id of one to remove.
	Name string `json:"name,omitempty"`
	Key  string `json:"key,omitempty"`
}

var approvalID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func (w wish) valid() bool {
	switch w.Do {
	case toAnswer:
		return approvalID.MatchString(w.Approval) && (w.Yes == nil) != (w.No == nil) && (w.Yes == nil || w.Yes.Digest != "")
	case toAdd:
		return w.Name != ""
	case toRemove:
		return w.Key != ""
	}
	return false
}

const (
	// ceremonyFor is longer than a ceremony lasts.
	ceremonyFor = 3 * time.Minute
	// maxCeremonies are how many may go on; the oldest ends for another.
	maxCeremonies = 100
	// maxResponse is more than a browser's response has.
	maxResponse = 64 << 10
)

// ceremony is one that goes on, in one session.
type ceremony struct {
	session *session
	wish    wish
	make    func(response []byte) (api.SecurityKey, error) // nil where it asks for a key and makes none
	prove   func(response []byte) (key string, err error)
	began   time.Time
}

// ceremonies are those that go on, by the hash of the secret that names each.
type ceremonies struct {
	mu  sync.Mutex
	all map[hashed]ceremony
}

func (cs *ceremonies) add(c ceremony) (secret string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.all == nil {
		cs.all = map[hashed]ceremony{}
	}
	var oldest hashed
	for key, other := range cs.all {
		if first, ok := cs.all[oldest]; !ok || other.began.Before(first.began) {
			oldest = key
		}
		if time.Since(other.began) > ceremonyFor {
			delete(cs.all, key)
		}
	}
	if len(cs.all) >= maxCeremonies {
		delete(cs.all, oldest)
	}
	secret = newSecret()
	cs.all[hash(secret)] = c
	return secret
}

// take ends a ceremony of a session: what comes for it a second time finds none.
func (cs *ceremonies) take(secret string, s *session) (c ceremony, ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c, ok = cs.all[hash(secret)]
	if ok = ok && c.session == s; ok {
		delete(cs.all, hash(secret))
	}
	return c, ok
}

// errTaken is that a response comes to a ceremony that does not go on, or goes on in another session.
var errTaken = fmt.Errorf("%w: the question for the key was answered already, or is too old: ask again", securitykey.ErrRefused)

// begun is the answer that begins a ceremony.
type begun struct {
	Ceremony string `json:"ceremony"`
	// Get or Create is what the browser is to be asked for.
	Get    any `json:"get,omitempty"`
	Create any `json:"create,omitempty"`
}

// ending is what ends one.
type ending struct {
	Ceremony string          `json:"ceremony"`
	Response json.RawMessage `json:"response"`
}

// ownKeys is the answer to GET /keys.
type ownKeys struct {
	Keys []api.SecurityKey `json:"keys"`
	// Unusable says why none can be registered or asked for here.
	Unusable string `json:"unusable,omitempty"`
}

// serveKeys serves what is about security keys, and says whether that was asked for.
func (c *Console) serveKeys(w http.ResponseWriter, r *http.Request, s *session) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /keys":
		c.listKeys(w, r, s)
	case "POST /keys/begin":
		c.beginCeremony(w, r, s)
	case "POST /keys/end":
		c.endCeremony(w, r, s)
	default:
		return false
	}
	return true
}

// unusable says why security keys cannot be used by a session at the name by which it calls the console.
func (c *Console) unusable(r *http.Request, s *session) string {
	switch {
	case c.config.Keys == nil || c.site == "":
		return "Security keys want a console with a name: set operator.tls in bailiff.yaml, or operator.console to localhost:PORT where " +
			"only this machine uses it."
	case s.bare:
		return "Security keys are asked for in a browser only: open the console there."
	case r.Host != c.host:
		return "Security keys answer to " + c.base + " only: open the console there."
	case s.who.Person == "":
		return "Security keys are people's, and " + s.who.Credential + " belongs to no person in people: name yourself there."
	}
	return ""
}

func (c *Console) listKeys(w http.ResponseWriter, r *http.Request, s *session) {
	told := ownKeys{Keys: []api.SecurityKey{}, Unusable: c.unusable(r, s)}
	if told.Unusable == "" {
		keys, err := c.config.Keys.List(s.who.Person)
		if err != nil {
			c.refuseKey(w, err)
			return
		}
		told.Keys = append(told.Keys, keys...)
	}
	send(w, http.StatusOK, told)
}

// beginCeremony asks for a key. A person's first key at this site needs no other, as there is none.
func (c *Console) beginCeremony(w http.ResponseWriter, r *http.Request, s *session) {
	var wanted wish
	if why := c.unusable(r, s); why != "" {
		refuse(w, http.StatusForbidden, "keys_unusable", why)
		return
	}
	if !readAtMost(w, r, maxResponse, &wanted, `This takes {"do": "answer | add | remove", …}.`) {
		return
	}
	if !wanted.valid() {
		refuse(w, http.StatusBadRequest, "invalid_request", `This takes {"do": "answer | add | remove", …}.`)
		return
	}
	first, err := c.isFirst(s.who.Person)
	if err != nil {
		c.refuseKey(w, err)
		return
	}
	if wanted.Do == toAdd && first {
		c.beginToMake(w, s, wanted, false)
		return
	}
	options, prove, err := c.config.Keys.Ask(s.who.Person, c.site, c.base)
	if err != nil {
		c.refuseKey(w, err)
		return
	}
	id := c.ceremonies.add(ceremony{session: s, wish: wanted, prove: prove, began: time.Now()})
	send(w, http.StatusOK, begun{Ceremony: id, Get: options})
}

func (c *Console) isFirst(person string) (bool, error) {
	keys, err := c.config.Keys.List(person)
	for _, key := range keys {
		if key.Site == c.site {
			return false, err
		}
	}
	return true, err
}

func (c *Console) beginToMake(w http.ResponseWriter, s *session, wanted wish, confirmed bool) {
	options, keep, err := c.config.Keys.Register(s.who.Person, wanted.Name, c.site, c.base, confirmed)
	if err != nil {
		c.refuseKey(w, err)
		return
	}
	send(w, http.StatusOK, begun{Create: options,
		Ceremony: c.ceremonies.add(ceremony{session: s, wish: wanted, make: keep, began: time.Now()})})
}

// endCeremony does what a key has confirmed.
func (c *Console) endCeremony(w http.ResponseWriter, r *http.Request, s *session) {
	var sent ending
	if why := c.unusable(r, s); why != "" {
		refuse(w, http.StatusForbidden, "keys_unusable", why)
		return
	}
	if !readAtMost(w, r, maxResponse, &sent, `This takes {"ceremony": "…", "response": {…}}.`) {
		return
	}
	one, known := c.ceremonies.take(sent.Ceremony, s)
	if !known {
		c.countResponse(s, errTaken)
		c.refuseKey(w, errTaken)
		return
	}
	if one.make != nil {
		c.makeKey(w, s, one, sent.Response)
		return
	}
	key, err := one.prove(sent.Response)
	c.countResponse(s, err)
	if err != nil {
		c.refuseKey(w, err)
		return
	}
	c.fulfil(w, r, s, one.wish, key)
}

// countResponse counts a response, and warns of one that is refused. One that could not be looked at or kept is neither.
func (c *Console) countResponse(s *session, err error) {
	refused := errors.Is(err, securitykey.ErrRefused)
	if err == nil || refused {
		c.config.Proved(!refused)
	}
	if refused && c.refusals.wait(time.Now()) == 0 {
		c.config.Log.Warn("refused a security key", "person", s.who.Person, "credential", s.who.Credential, "reason", err)
	}
}

func (c *Console) makeKey(w http.ResponseWriter, s *session, one ceremony, response []byte) {
	key, err := one.make(response)
	c.countResponse(s, err)
	if err != nil {
		c.refuseKey(w, err)
		return
	}
	c.config.Log.Info("registered a security key", "person", s.who.Person, "credential", s.who.Credential, "key", key.ID, "name", key.Name)
	send(w, http.StatusOK, key)
}

// fulfil does what a person wanted, who has proved by a key who they are.
func (c *Console) fulfil(w http.ResponseWriter, r *http.Request, s *session, wanted wish, key string) {
	switch wanted.Do {
	case toAdd:
		c.beginToMake(w, s, wanted, true)
	case toRemove:
		if err := c.config.Keys.Remove(s.who.Person, wanted.Key); err != nil {
			c.refuseKey(w, err)
			return
		}
		c.config.Log.Info("removed a security key", "person", s.who.Person, "key", wanted.Key, "by", key)
		w.WriteHeader(http.StatusNoContent)
	default:
		c.answerProved(w, r, s, wanted, key)
	}
}

// answerProved gives an answer, through the operator API of the person with their proof. The person's rights are looked at
// again, since they may have ended while the ceremony went on.
func (c *Console) answerProved(w http.ResponseWriter, r *http.Request, s *session, wanted wish, key string) {
	who := s.who
	who.Proof = bailiff.ProofWebAuthn + ":" + key
	operator, ok := c.operator(w, who)
	if !ok {
		return
	}
	path, body := "/v1/approvals/"+wanted.Approval+"/approve", any(wanted.Yes)
	if wanted.No != nil {
		path, body = "/v1/approvals/"+wanted.Approval+"/deny", wanted.No
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // plain text: cannot fail
	}
	answer, err := http.NewRequestWithContext(r.Context(), http.MethodPost, path, bytes.NewReader(text))
	if err != nil {
		panic(err) // the id was looked at
	}
	operator.ServeHTTP(w, answer)
}

// refuseKey says why a key, or its response, does not count, or that a ceremony cannot begin.
func (c *Console) refuseKey(w http.ResponseWriter, err error) {
	if !errors.Is(err, securitykey.ErrRefused) {
		c.config.Log.Error("using security keys", "error", err)
		refuse(w, http.StatusServiceUnavailable, "store_failed", "The security keys cannot be read or written; the sidecar's log says why.")
		return
	}
	refuse(w, http.StatusForbidden, "key_refused", bailiff.Sentence(err.Error()))
}
