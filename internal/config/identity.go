package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// ConsoleTLS has the console served by TLS under a name; without a name it is not.
type ConsoleTLS struct {
	// Certificate and Key are files, as PEM.
	Certificate, Key string
	// Name is by what browsers call the console; the certificate must hold it.
	Name string
}

// Read reads the certificate with its key, and says of a pair that could not serve why not.
func (t ConsoleTLS) Read() (*tls.Certificate, error) {
	pair, err := certificates.KeyPair(t.Certificate, t.Key)
	if err != nil {
		return nil, err
	}
	return pair, t.check(pair.Leaf)
}

func (t ConsoleTLS) check(c *x509.Certificate) error {
	if c.VerifyHostname(t.Name) != nil {
		return fmt.Errorf("the certificate in %s does not hold the name %s: want one whose subjectAltName does", t.Certificate, t.Name)
	}
	if now := time.Now(); now.After(c.NotAfter) || now.Before(c.NotBefore) {
		return fmt.Errorf("the certificate in %s is not valid now: it is from %s to %s", t.Certificate,
			c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
	}
	return nil
}

// OIDC is the provider by which people log in; without an issuer they cannot.
type OIDC struct {
	Issuer   string
	ClientID string
	// ClientSecret is for clients that have one.
	ClientSecret settings.Credential
	// AccountClaim is the claim that people[].oidc names people by.
	AccountClaim string
	// GroupsClaim is the claim whose groups a person has beside those of people[].groups; empty means none.
	GroupsClaim string
	// Scopes are asked for beside openid.
	Scopes []string
	// Session ends a login, used or not.
	Session time.Duration
	// CAFile holds the certificates of who may vouch for the provider; empty means those of this machine.
	CAFile string
}

// Settings are the keys of operator.oidc.
func (o *OIDC) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "issuer", Into: &o.Issuer, Check: httpapi.CheckAddress},
		{Key: "client_id", Into: &o.ClientID},
		{Key: "client_secret", Into: &o.ClientSecret},
		{Key: "account_claim", Into: &o.AccountClaim},
		{Key: "groups_claim", Into: &o.GroupsClaim},
		{Key: "scopes", Into: &o.Scopes},
		{Key: "session", Into: &o.Session, Least: int(time.Minute / time.Second), Most: int(12 * time.Hour / time.Second)},
		{Key: "ca_file", Into: &o.CAFile, Path: true, Present: httpapi.IsRoots},
	}
}

func (r *reader) oidc(c *Config, at place) {
	o := &c.Operator.OIDC
	before := len(r.faults)
	r.settings(o.Settings(), at)
	switch {
	case len(r.faults) > before:
	case o.Issuer == "":
		r.fault(at, "issuer is missing: say where the provider is, as in https://id.example.com")
	case o.ClientID == "":
		r.fault(at, "client_id is missing: say by which id the provider knows bailiff")
	}
	r.whole = append(r.whole, func() { r.checkConsole(c, at, "log in to", "a login") })
}

func (r *reader) consoleTLS(c *Config, at place) {
	t := &c.Operator.TLS
	before := len(r.faults)
	r.section(at, fields{
		"certificate": as(&t.Certificate, r.path), "key": as(&t.Key, r.path),
		"name": as(&t.Name, func(at place) (string, bool) {
			return r.readShape(at, dnsName, "want the name by which browsers call the console, in lower case, such as "+
				"bailiff.example.com, is %q")
		}),
	})
	if len(r.faults) > before {
		return
	}
	for _, missing := range []struct{ key, value string }{{"certificate", t.Certificate}, {"key", t.Key}, {"name", t.Name}} {
		if missing.value == "" {
			r.fault(at, "%s is missing: want certificate, key and name", missing.key)
		}
	}
	if net.ParseIP(t.Name) != nil {
		r.fault(at, "name is %s, want a name and no address", t.Name)
	}
	r.whole = append(r.whole, func() {
		if c.Operator.Console == "" {
			r.fault(at, "there is no console to serve, want operator.console to say where it is")
		}
	})
}

var dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// lookAtTLS looks at the files by which the console is served.
func (r *reader) lookAtTLS(o *Outlook, t ConsoleTLS) {
	if t.Name == "" {
		return
	}
	_, err := t.Read()
	r.note(o, "operator.tls", err)
}

// Token is by what a program of the operators' comes to the console.
type Token struct {
	Name string
	// Scopes are what it may do.
	Scopes []string
	File   string
}

// Read reads the secret.
func (t Token) Read() (bailiff.Secret, error) { return ReadToken(t.File) }

func (r *reader) tokens(c *Config, at place) {
	c.Operator.Tokens = []Token{}
	r.list(at, func(at place) {
		var t Token
		before := len(r.faults)
		r.section(at, fields{"name": as(&t.Name, r.label), "scopes": r.each(&t.Scopes, r.tokenScope),
			"token_file": as(&t.File, r.trustedPath)})
		if len(r.faults) == before {
			r.checkToken(t, c.Operator.Tokens, at)
		}
		c.Operator.Tokens = append(c.Operator.Tokens, t)
	})
	r.whole = append(r.whole, func() { r.checkConsole(c, at, "send a token to", "a token") })
}

func (r *reader) tokenScope(at place) (scope string, ok bool) {
	r.oneOf(&scope, "scope", api.TokenScopes()...)(at)
	return scope, scope != ""
}

func (r *reader) checkToken(t Token, others []Token, at place) {
	switch {
	case t.Name == "":
		r.fault(at, "name is missing: want that of the program")
	case len(t.Scopes) == 0:
		r.fault(at, "scopes is missing: want what the program may do, as in [status.read]")
	case t.File == "":
		r.fault(at, "token_file is missing: want the file that holds the secret that the program sends")
	case slices.ContainsFunc(others, func(o Token) bool { return o.Name == t.Name }):
		r.fault(at, "the name %q is taken by another token", t.Name)
	}
}

// checkConsole wants a console that no one can listen to, for what a client sends there.
func (r *reader) checkConsole(c *Config, at place, do, sent string) {
	switch {
	case c.Operator.Console == "":
		r.fault(at, "there is no console to %s, want operator.console to say where it is", do)
	case c.Operator.TLS.Name == "" && !loopback(c.Operator.Console):
		r.fault(at, "wants operator.tls where the console is not on this machine alone, since %s could be read on the way", sent)
	}
}

// lookAtTokens looks at the files of operator.tokens, and whether two hold one secret, by which no sidecar starts.
func (r *reader) lookAtTokens(o *Outlook, tokens []Token) {
	shared := SharedSecrets(tokens)
	for i, t := range tokens {
		err := settings.Credential{File: t.File}.Present()
		if other := shared[t.Name]; err == nil && other != "" {
			err = fmt.Errorf("%s holds the same secret as that of the token %s, want one for each", t.File, other)
		}
		r.note(o, fmt.Sprintf("operator.tokens[%d].token_file", i), err)
	}
}

// SharedSecrets are the tokens that have their secret together with another: by the name of each, the name of one other. None of
// them is served. Files that cannot be read share nothing.
func SharedSecrets(tokens []Token) map[string]string {
	first, shared := map[string]string{}, map[string]string{} // first is the name of the token that has a secret
	for _, t := range tokens {
		secret, err := t.Read()
		if err != nil {
			continue
		}
		other, isShared := first[secret.Reveal()]
		if !isShared {
			first[secret.Reveal()] = t.Name
			continue
		}
		shared[t.Name] = other
		if shared[other] == "" {
			shared[other] = t.Name
		}
	}
	return shared
}

// account is by what a claim names a person.
func (r *reader) account(at place) (string, bool) {
	s, ok := r.text(at)
	if ok && strings.TrimSpace(s) != s {
		r.fault(at, "want an account without spaces around it, is %q", s)
		return "", false
	}
	return s, ok
}

// The roles of people. Each may look.
const (
	RoleViewer   = "viewer"
	RoleApprover = "approver" // answers, and revokes grants
	RoleOperator = "operator" // freezes, thaws, removes sandboxes, and revokes grants
	RoleAdmin    = "admin"    // all of it, and rolls policies back and breaks glass
)

func (r *reader) roles(into *[]string, at place) {
	before := len(r.faults)
	r.each(into, func(at place) (role string, ok bool) {
		r.oneOf(&role, "role", RoleViewer, RoleApprover, RoleOperator, RoleAdmin)(at)
		return role, role != ""
	})(at)
	if len(*into) == 0 && len(r.faults) == before {
		r.fault(at, "names no role; leave it out to let them do all that people may, or give the role viewer")
	}
}
