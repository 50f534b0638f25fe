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

// post is an approval's message.
type post struct {
	// ID and Digest are the approval's.
	ID     string `json:"id"`
	Digest string `json:"digest"`
	// Ref is the message; empty while it is not known to be shown.
	Ref Ref `json:"ref"`
	// Nonce is the message's key, so that it is shown once. Tried says that a try to post
	// it may have succeeded.
	Nonce string `json:"nonce"`
	Tried bool   `json:"tried,omitempty"`
	// Answers are what its buttons mean, after as many votes as Votes counts.
	Answers []option `json:"answers"`
	Votes   int      `json:"votes"`
	// Spent are the tokens of its last buttons, so that a late answer is recognised.
	Spent []string `json:"spent,omitempty"`
	// Shown is the digest of its text, Done says that the text is final.
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
	p := &post{ID: e.ID, Digest: e.Digest, Nonce: newToken(), At: time.Now()}
	p.newButtons(e)
	return p
}

// repost is the same approval's post as a new message.
func (p *post) repost() *post {
	next := *p
	next.Ref, next.Nonce, next.Shown, next.Tried = Ref{}, newToken(), "", false
	return &next
}

// rendered is a post as it is to be shown now.
func (p *post) rendered(e api.Entry, person string, pending bool) *post {
	next := *p
	if len(e.Votes) != p.Votes || pending && len(p.Answers) == 0 {
		next.newButtons(e)
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

// newButtons replaces the buttons; those before mean nothing any more.
func (p *post) newButtons(e api.Entry) {
	p.Votes, p.Answers = len(e.Votes), nil
	for _, scope := range e.Scopes {
		p.Answers = append(p.Answers, option{Token: newToken(), Scope: scope})
	}
	p.Answers = append(p.Answers, option{Token: newToken()}, option{Token: newToken(), Asks: true})
}

// newToken returns 130 random bits in letters and digits.
func newToken() string { return strings.ToLower(rand.Text()) }

// wordOf are those by which scopes are granted in writing.
var wordOf = map[string]string{bailiff.ScopeOnce: "approve", bailiff.ScopeSession: "session", bailiff.ScopeAlways: "always", "": "deny"}

func (o option) button() Button {
	b := Button{Token: o.Token, Word: wordOf[o.Scope], Yes: o.Scope != ""}
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
