// Package logintest serves a real OpenID provider (zitadel/oidc) for tests: every user logs in as who they
// say, by a page with one button, and the provider vouches for the groups that a test gives them.
// A test can have the provider rotate its key, stop answering, or send tokens that prove nothing.
package logintest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// ClientID and Secret are those of the one client.
const (
	ClientID = "bailiff"
	Secret   = "a-secret-of-the-client"
)

const password = "-"

// Server is a provider.
type Server struct {
	*httptest.Server
	storage *store

	mu     sync.Mutex
	groups map[string][]string
	alter  func(claims map[string]any) string
	broken bool
}

// Open serves a provider until the test ends. It sends browsers back to where they ask to be.
func Open(t testing.TB) *Server {
	t.Helper()
	s := &Server{groups: map[string][]string{}}
	s.storage = &store{server: s, Storage: storage.NewStorageWithClients(anybody{}, map[string]*storage.Client{
		ClientID: storage.WebClient(ClientID, Secret)})}
	s.Rotate(t)
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(s.breakable(mux))
	t.Cleanup(s.Close)
	provider, err := op.NewProvider(&op.Config{CryptoKeyId: "k", CodeMethodS256: true, AuthMethodPost: true,
		DeviceAuthorization: op.DeviceAuthorizationConfig{Lifetime: time.Minute, PollInterval: time.Second, UserFormPath: "/device",
			UserCode: op.UserCodeBase20}},
		s.storage, op.StaticIssuer(s.URL), op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("GET /login/username", s.form)
	mux.HandleFunc("POST /login/username", op.NewIssuerInterceptor(provider.IssuerFromRequest).HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			id := r.FormValue("id")
			if err := s.storage.CheckUsernamePassword(r.FormValue("username"), password, id); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			http.Redirect(w, r, op.AuthCallbackURL(provider)(r.Context(), id), http.StatusFound)
		}))
	mux.Handle("/oauth/token", s.altering(provider))
	mux.Handle("/", provider)
	return s
}

// form is the page on which a person says who they are.
func (s *Server) form(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprintf(w, `<form method="post"><input type="hidden" name="id" value="%s"><input name="username" value="ana-at-work">`+
		`<button id="in">Log in</button></form>`, html.EscapeString(r.FormValue("authRequestID")))
}

// Give says of which groups an account is.
func (s *Server) Give(account string, groups ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[account] = groups
}

// Break has the provider answer nothing, or again.
func (s *Server) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Alter has another id_token sent in place of the right one, which has those claims; nil sends the right one.
func (s *Server) Alter(alter func(claims map[string]any) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alter = alter
}

// Rotate has tokens signed with a new key, and forgets the old one.
func (s *Server) Rotate(t testing.TB) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s.storage.mu.Lock()
	defer s.storage.mu.Unlock()
	s.storage.key = &key{id: rand.Text(), private: k}
}

// Sign signs claims as the provider does.
func (s *Server) Sign(claims map[string]any) string {
	k := s.storage.current()
	return SignWith(k.id, k.private, claims)
}

// SignWith signs claims with any key.
func SignWith(id string, private *rsa.PrivateKey, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: id}}, nil)
	if err != nil {
		panic(err) // a key of this package or of a test
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		panic(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		panic(err)
	}
	return compact
}

// Login does what a person and a browser do at the provider: it follows where Begin sends them, logs in
// and returns where they are sent back to.
func (s *Server) Login(t testing.TB, begun, account string) *url.URL {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	at := s.follow(t, browser, begun)
	resp, err := browser.PostForm(s.URL+"/login/username", url.Values{"id": {at.Query().Get("authRequestID")}, "username": {account}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return s.follow(t, browser, s.absolute(t, resp.Header.Get("Location")))
}

func (s *Server) absolute(t testing.TB, path string) string {
	t.Helper()
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	at, err := base.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return at.String()
}

func (s *Server) follow(t testing.TB, browser *http.Client, address string) *url.URL {
	t.Helper()
	resp, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	at, err := resp.Location()
	if err != nil {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("the provider sends nowhere: %s %s", resp.Status, text)
	}
	return at
}

// Confirm does what a person does who is shown the code of a login on a command line.
func (s *Server) Confirm(t testing.TB, code, account string) {
	t.Helper()
	if err := s.storage.CompleteDeviceAuthorization(context.Background(), code, account); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) breakable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		broken := s.broken
		s.mu.Unlock()
		if broken {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// altering puts another token in the place of the right one.
func (s *Server) altering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		alter := s.alter
		s.mu.Unlock()
		if alter == nil {
			next.ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		var answer map[string]any
		text := recorded.Body.Bytes()
		if json.Unmarshal(text, &answer) == nil && answer["id_token"] != nil {
			answer["id_token"] = alter(claimsOf(answer["id_token"].(string)))
			text, _ = json.Marshal(answer)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(recorded.Code)
		_, _ = io.Copy(w, bytes.NewReader(text))
	})
}

func claimsOf(token string) (claims map[string]any) {
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.RS256})
	if err == nil {
		err = json.Unmarshal(parsed.UnsafePayloadWithoutVerification(), &claims)
	}
	if err != nil {
		panic(err) // the provider made it
	}
	return claims
}

// anybody is a user of the name.
type anybody struct{}

func (anybody) GetUserByID(id string) *storage.User {
	return &storage.User{ID: id, Username: id, Password: password, Email: id + "@example.com"}
}

func (a anybody) GetUserByUsername(name string) *storage.User { return a.GetUserByID(name) }

func (anybody) ExampleClientID() string { return "none" }

// store is the library's, with keys that can change and with groups.
type store struct {
	*storage.Storage
	server *Server

	mu  sync.Mutex
	key *key
}

func (s *store) current() *key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

// SigningKey is the key of the moment.
func (s *store) SigningKey(context.Context) (op.SigningKey, error) { return s.current(), nil }

// KeySet is that key alone.
func (s *store) KeySet(context.Context) ([]op.Key, error) { return []op.Key{public{s.current()}}, nil }

// SetUserinfoFromRequest tells the groups too.
func (s *store) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, r op.IDTokenRequest, scopes []string) error {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if groups, ok := s.server.groups[r.GetSubject()]; ok {
		info.AppendClaims("groups", groups)
	}
	return s.Storage.SetUserinfoFromRequest(ctx, info, r, scopes)
}

// GetClientByClientID is the client, as this package wants it.
func (s *store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := s.Storage.GetClientByClientID(ctx, id)
	return client{c}, err
}

// client may do all that bailiff does, and be sent back anywhere on this machine.
type client struct{ op.Client }

// GrantTypes are those of a browser and of a command line.
func (client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeDeviceCode}
}

// IDTokenUserinfoClaimsAssertion puts what is known of the account into the token.
func (client) IDTokenUserinfoClaimsAssertion() bool { return true }

// RedirectURIGlobs are where browsers may be sent back to.
func (client) RedirectURIGlobs() []string {
	return []string{"http://127.0.0.1:*/oidc/callback", "http://localhost:*/oidc/callback", "https://localhost:*/oidc/callback"}
}

// PostLogoutRedirectURIGlobs are none.
func (client) PostLogoutRedirectURIGlobs() []string { return nil }

// LoginURL is the page of this package.
func (client) LoginURL(id string) string {
	return "/login/username?authRequestID=" + url.QueryEscape(id)
}

type key struct {
	id      string
	private *rsa.PrivateKey
}

// SignatureAlgorithm is that of the key.
func (*key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Key is the private one.
func (k *key) Key() any { return k.private }

// ID names it.
func (k *key) ID() string { return k.id }

type public struct{ *key }

// Algorithm is that of the key.
func (public) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }

// Use is what the key is for.
func (public) Use() string { return "sig" }

// Key is the public one.
func (p public) Key() any { return &p.private.PublicKey }

// UnsignedToken is a token of algorithm none.
func UnsignedToken(claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return strings.Join([]string{encode([]byte(`{"alg":"none"}`)), encode(text), ""}, ".")
}

func encode(text []byte) string { return base64.RawURLEncoding.EncodeToString(text) }
