package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// post is what a desk knows of an approval's message.
type post struct {
	// ID and Digest are the approval's.
	ID     string `json:"id"`
	Digest string `json:"digest"`
	// Ref is the message; empty while none is known to be shown.
	Ref Ref `json:"ref"`
	// Nonce is the message's key, so that it is shown once. Tried says that a try to
	// show something may have had its effect.
	Nonce string `json:"nonce"`
	Tried bool   `json:"tried,omitempty"`
	// Answers are what its buttons mean, as the votes were that Votes counts.
	Answers []option `json:"answers"`
	Votes   int      `json:"votes"`
	// Spent are the tokens of the last buttons that it had, for who answers too late.
	Spent []string `json:"spent,omitempty"`
	// Shown is the digest of what it says, Done that it will never say anything else.
	Shown string    `json:"shown"`
	Done  bool      `json:"done"`
	At    time.Time `json:"at"`

	message Message
}

// option is an answer that a button stands for.
type option struct {
	Token string `json:"token"`
	// Scope is what is granted; empty denies.
	Scope string `json:"scope,omitempty"`
	// Asks says that the button asks for a reason.
	Asks bool `json:"asks,omitempty"`
}

// Key is the post's name on disk.
func (p post) Key() string { return p.ID }

func newPost(e api.Entry) *post {
	p := &post{ID: e.ID, Digest: e.Digest, Nonce: secret(), At: time.Now()}
	p.mint(e)
	return p
}

// anew is the same approval's next message.
func (p *post) anew() *post {
	next := *p
	next.Ref, next.Nonce, next.Shown, next.Tried = Ref{}, secret(), "", false
	return &next
}

// of is a post as it is to be by now.
func (p *post) of(e api.Entry, person string, pending bool) *post {
	next := *p
	if len(e.Votes) != p.Votes || pending && len(p.Answers) == 0 {
		next.mint(e)
	}
	if !pending {
		next.Spent, next.Answers, next.At = append(next.Spent, p.tokens()...), nil, time.Now()
	}
	next.message = notice(e, person, next.Answers)
	return &next
}

func (p *post) tokens() (all []string) {
	for _, o := range p.Answers {
		all = append(all, o.Token)
	}
	return all
}

// mint makes new buttons; those before mean nothing any more.
func (p *post) mint(e api.Entry) {
	p.Votes, p.Answers = len(e.Votes), nil
	for _, scope := range e.Scopes {
		p.Answers = append(p.Answers, option{Token: secret(), Scope: scope})
	}
	p.Answers = append(p.Answers, option{Token: secret()}, option{Token: secret(), Asks: true})
}

// secret is 130 random bits in letters and digits.
func secret() string { return strings.ToLower(rand.Text()) }

// words are those by which scopes are granted in writing.
var words = map[string]string{bailiff.ScopeOnce: "approve", bailiff.ScopeSession: "session", bailiff.ScopeAlways: "always", "": "deny"}

func (o option) button() Button {
	b := Button{Token: o.Token, Word: words[o.Scope], Yes: o.Scope != ""}
	switch {
	case o.Scope == bailiff.ScopeOnce:
		b.Label, b.Sign = "Approve once", "✅"
	case o.Scope == bailiff.ScopeSession:
		b.Label, b.Sign = "For this session", "🕐"
	case o.Scope == bailiff.ScopeAlways:
		b.Label, b.Sign = "Always", "♾️"
	case o.Asks:
		b.Label, b.Word, b.Asks = "Deny, and say why…", "", "Why is it denied?"
	default:
		b.Label, b.Sign = "Deny", "❌"
	}
	return b
}

func digestOf(m Message) string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("a message of texts: %v", err)) // cannot fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
