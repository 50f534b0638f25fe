// Package securitykey knows which security keys people have registered, and checks what those say: WebAuthn, as
// github.com/go-webauthn/webauthn has it.
//
// A ceremony has two halves. What begins it ([Keys.Register], [Keys.Ask]) returns options for the browser, and what ends it
// with the browser's response. It has a random challenge of its own, is one person's, for one site, and lasts two minutes.
// Its end must be called once only.
//
// What is promised:
//   - a response counts for the person, the site and the challenge of its ceremony only;
//   - a key whose counter did not go on, so that there may be a copy, counts no more, after a restart too;
//   - what a key answered is on disk before it counts: its counter cannot be seen to go back;
//   - a person's further key at a site is registered only if it was confirmed by one that they have there;
//   - keys of a person who is named no more are forgotten ([Keys.Retain]).
//
// Keys are kept as files in a folder of the sidecar's own, a file a key. They are read at each use, so that an operator who
// removes one needs no restart. A file that cannot be read stays, and is each method's error: without it its person's next
// key would be their first, which needs no confirmation.
//
// Not here: who may register a key, what an answer is for, and that a ceremony is used once (gateway/console).
package securitykey

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// ErrRefused is that a key, or its response, does not count; the error's text says why, to the person.
var ErrRefused = errors.New("refused")

// refusal is the sentence of one.
type refusal struct{ why string }

func refuse(format string, args ...any) error { return refusal{fmt.Sprintf(format, args...)} }

func (r refusal) Error() string { return r.why }
func (refusal) Unwrap() error   { return ErrRefused }

const (
	// lasts is how long a ceremony lasts.
	lasts = 2 * time.Minute
	// maxKeys is how many keys a person may have.
	maxKeys = 10
	// maxName is how many characters the name of a key may have.
	maxName = 40
)

// record is one key on disk.
type record struct {
	Person     string              `json:"person"`
	Name       string              `json:"name"`
	Site       string              `json:"site"`
	Added      time.Time           `json:"added"`
	Used       time.Time           `json:"used,omitzero"`
	Credential webauthn.Credential `json:"credential"`
}

// Key is the key's id, which is the name of its file too.
func (r record) Key() string {
	sum := sha256.Sum256(r.Credential.ID)
	return hex.EncodeToString(sum[:8])
}

// Keys are those of all people.
type Keys struct {
	store *records.Store[record]
	log   *slog.Logger
	lasts time.Duration // how long a person has, from the question to the answer

	mu sync.Mutex // held while keys are read and written
}

// Open opens the keys that are kept in a folder.
func Open(dir string, log *slog.Logger) (*Keys, error) {
	store, err := records.Open(records.Config[record]{Dir: dir, Durable: true, Strict: true, Log: log})
	if err != nil {
		return nil, fmt.Errorf("opening the security keys: %w", err)
	}
	return &Keys{store: store, log: log, lasts: lasts}, nil
}

// ceremony is one that has begun. Its site is the name of the host at which the key is asked for, such as
// bailiff.example.com, its origin has the scheme and the port too: browsers tell them, and keys answer to them alone.
type ceremony struct {
	person, site, origin string
	name                 string // of the key that is registered
	confirmed            bool   // by another key of the person
	data                 webauthn.SessionData
}

// List returns a person's keys, the oldest first.
func (k *Keys) List(person string) ([]api.SecurityKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, err := k.of(person)
	if err != nil {
		return nil, err
	}
	all := make([]api.SecurityKey, len(kept))
	for i, r := range kept {
		all[i] = api.SecurityKey{ID: r.Key(), Name: r.Name, Site: r.Site, Added: r.Added, Used: r.Used,
			Copied: r.Credential.Authenticator.CloneWarning}
	}
	return all, nil
}

// of returns what is kept of a person; k.mu is held.
func (k *Keys) of(person string) ([]record, error) {
	all, err := k.store.All()
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(all, func(r record) bool { return r.Person != person })
	slices.SortFunc(own, func(x, y record) int { return x.Added.Compare(y.Added) })
	return own, nil
}

// Register begins to register a key of that name at a site; what it returns keeps the key that the browser made. One that
// was not confirmed by a key of the person's must be their first at the site, at its end too. The options are for
// navigator.credentials.create.
func (k *Keys) Register(person, name, site, origin string, confirmed bool) (options any,
	end func(response []byte) (api.SecurityKey, error), err error) {
	c := ceremony{person: person, name: name, site: site, origin: origin, confirmed: confirmed}
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	own, err := k.of(person)
	if err != nil {
		return nil, nil, err
	}
	if err := c.mayAddTo(own); err != nil {
		return nil, nil, err
	}
	party, err := k.relyingParty(c)
	if err != nil {
		return nil, nil, err
	}
	who := user{person, own}
	creation, data, err := party.BeginRegistration(who,
		webauthn.WithExclusions(webauthn.Credentials(who.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, nil, fmt.Errorf("beginning to register a security key: %w", err)
	}
	c.data = *data
	return creation.Response, func(response []byte) (api.SecurityKey, error) { return k.register(c, response) }, nil
}

func (k *Keys) register(c ceremony, response []byte) (api.SecurityKey, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return api.SecurityKey{}, refusalOf(err)
	}
	party, err := k.relyingParty(c)
	if err != nil {
		return api.SecurityKey{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	everyones, err := k.store.All()
	if err != nil {
		return api.SecurityKey{}, err
	}
	own := slices.DeleteFunc(slices.Clone(everyones), func(r record) bool { return r.Person != c.person })
	if err := c.mayAddTo(own); err != nil {
		return api.SecurityKey{}, err
	}
	made, err := party.CreateCredential(user{c.person, own}, c.data, parsed)
	if err != nil {
		return api.SecurityKey{}, refusalOf(err)
	}
	r := record{Person: c.person, Name: c.name, Site: c.site, Added: time.Now().UTC(), Credential: *made}
	if slices.ContainsFunc(everyones, func(other record) bool { return other.Key() == r.Key() }) {
		return api.SecurityKey{}, refuse("this key is registered already")
	}
	if err := k.store.Keep(r); err != nil {
		return api.SecurityKey{}, err
	}
	return api.SecurityKey{ID: r.Key(), Name: r.Name, Site: r.Site, Added: r.Added}, nil
}

// Ask begins to ask a person for one of their keys; what it returns says which key gave the browser's response, once it is on
// disk that it did. The options are for navigator.credentials.get.
func (k *Keys) Ask(person, site, origin string) (options any, end func(response []byte) (key string, err error), err error) {
	c := ceremony{person: person, site: site, origin: origin}
	k.mu.Lock()
	defer k.mu.Unlock()
	own, err := k.of(person)
	if err != nil {
		return nil, nil, err
	}
	usable := usableAt(own, site)
	if len(usable) == 0 {
		return nil, nil, refuse("you have no security key that counts at %s: register one under System", site)
	}
	party, err := k.relyingParty(c)
	if err != nil {
		return nil, nil, err
	}
	assertion, data, err := party.BeginLogin(user{person, usable})
	if err != nil {
		return nil, nil, fmt.Errorf("beginning to ask for a security key: %w", err)
	}
	c.data = *data
	return assertion.Response, func(response []byte) (string, error) { return k.prove(c, response) }, nil
}

func (k *Keys) prove(c ceremony, response []byte) (key string, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return "", refusalOf(err)
	}
	party, err := k.relyingParty(c)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	own, err := k.of(c.person)
	if err != nil {
		return "", err
	}
	usable := usableAt(own, c.site)
	credential, err := party.ValidateLogin(user{c.person, usable}, c.data, parsed)
	if err != nil {
		return "", refusalOf(err)
	}
	i := slices.IndexFunc(usable, func(r record) bool { return slices.Equal(r.Credential.ID, credential.ID) })
	if i < 0 {
		return "", refuse("the key is none of yours")
	}
	r := usable[i]
	r.Credential, r.Used = *credential, time.Now().UTC()
	if err := k.store.Keep(r); err != nil {
		return "", err
	}
	if credential.Authenticator.CloneWarning {
		k.log.Warn("a security key's counter did not go on, so that there may be a copy: it counts no more", "person", c.person,
			"key", r.Key())
		return "", refuse("the counter of key %s did not go on, so that there may be a copy of it: it counts no more",
			r.Name)
	}
	return r.Key(), nil
}

// Remove forgets a person's key.
func (k *Keys) Remove(person, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	own, err := k.of(person)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(own, func(r record) bool { return r.Key() == id }) {
		return refuse("you have no such key")
	}
	return k.store.Drop(id)
}

// Retain forgets the keys of all other people.
func (k *Keys) Retain(people []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := k.store.All()
	if err != nil {
		return err
	}
	for _, r := range all {
		if slices.Contains(people, r.Person) {
			continue
		}
		if err := k.store.Drop(r.Key()); err != nil {
			return err
		}
		k.log.Warn("forgot the security key of a person who is not in people any more", "person", r.Person, "key", r.Key())
	}
	return nil
}

// usableAt are the keys that count at a site.
func usableAt(own []record, site string) []record {
	return slices.DeleteFunc(slices.Clone(own), func(r record) bool {
		return r.Credential.Authenticator.CloneWarning || r.Site != site
	})
}

func checkName(name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return refuse("want a name of 1 to %d characters for the key", maxName)
	}
	return nil
}

// mayAddTo says whether the key that is registered may join those that its person has.
func (c ceremony) mayAddTo(own []record) error {
	switch {
	case !c.confirmed && slices.ContainsFunc(own, func(r record) bool { return r.Site == c.site }):
		return refuse("you have a key at %s by now, which is to confirm a further one: begin again", c.site)
	case len(own) >= maxKeys:
		return refuse("you have %d keys, which is as many as there may be: remove one", len(own))
	case slices.ContainsFunc(own, func(r record) bool { return r.Name == c.name }):
		return refuse("a key of yours has the name %s already", c.name)
	}
	return nil
}

// relyingParty is the site as the library knows such. The time that a ceremony has is enforced here, since a browser may
// not do so. Of which make a key is is not asked.
func (k *Keys) relyingParty(c ceremony) (*webauthn.WebAuthn, error) {
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: k.lasts, TimeoutUVD: k.lasts}
	return webauthn.New(&webauthn.Config{RPID: c.site, RPDisplayName: "bailiff", RPOrigins: []string{c.origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementDiscouraged, UserVerification: protocol.VerificationPreferred},
		Timeouts: webauthn.TimeoutsConfig{Login: limit, Registration: limit}})
}

// refusalOf says what the library did not like. Its texts are its own; none is the browser's.
func refusalOf(err error) error {
	why := err.Error()
	var known *protocol.Error
	if errors.As(err, &known) {
		why = known.Details
	}
	return refuse("the answer of the security key does not hold: %s", why)
}

// user is a person with keys, as the library knows such.
type user struct {
	person string
	keys   []record
}

var _ webauthn.User = user{}

// WebAuthnID is what authenticators know the person by.
func (u user) WebAuthnID() []byte {
	sum := sha256.Sum256([]byte("bailiff person " + u.person))
	return sum[:]
}

// WebAuthnName is what authenticators show.
func (u user) WebAuthnName() string { return u.person }

// WebAuthnDisplayName is what authenticators show too.
func (u user) WebAuthnDisplayName() string { return u.person }

// WebAuthnCredentials are the keys that are asked for.
func (u user) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, len(u.keys))
	for i, r := range u.keys {
		all[i] = r.Credential
	}
	return all
}
