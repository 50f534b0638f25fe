package chat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
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
	// offer is what it offers, after as many votes as Votes counts.
	offer
	Votes int `json:"votes"`
	// Spent are the tokens of its last buttons, so that a late answer is recognised.
	Spent []string `json:"spent,omitempty"`
	// Shown is the digest of its text, Done says that the text is final.
	Shown string    `json:"shown"`
	Done  bool      `json:"done"`
	At    time.Time `json:"at"`

	message Message
}

// offer is what a message offers, until it has other buttons.
type offer struct {
	// Answers are what its buttons mean.
	Answers []option `json:"answers"`
	// Pattern is one that may be approved, with what it would have covered.
	Pattern *api.Preview `json:"pattern,omitempty"`
	// Listed are the other questions that a yes to all covers.
	Listed []alsoListed `json:"listed,omitempty"`
}

// option is an answer that a button stands for.
type option struct {
	Token string `json:"token"`
	// Scope is what is granted; empty denies.
	Scope string `json:"scope,omitempty"`
	// Match is the pattern that it is granted for.
	Match string `json:"match,omitempty"`
	// Listed is how many questions it is a yes to, where the message lists others.
	Listed int `json:"listed,omitempty"`
	// Asks says that the button asks for a reason.
	Asks bool `json:"asks,omitempty"`
}

// Key is the post's name on disk.
func (p post) Key() string { return p.ID }

func newPost(e api.Entry, others []alsoListed) *post {
	p := &post{ID: e.ID, Digest: e.Digest, Nonce: newToken(), At: time.Now()}
	p.newButtons(e, others)
	return p
}

// repost is the same approval's post as a new message.
func (p *post) repost() *post {
	next := *p
	next.Ref, next.Nonce, next.Shown, next.Tried = Ref{}, newToken(), "", false
	return &next
}

// render returns the post as it is to be shown now. Others are the questions that it may list.
func (p *post) render(e api.Entry, person string, pending bool, others []alsoListed) *post {
	next := *p
	if len(e.Votes) != p.Votes || pending && len(p.Answers) == 0 {
		next.newButtons(e, others)
	}
	if !pending {
		next.Spent, next.offer, next.At = append(next.Spent, p.tokens()...), offer{}, time.Now()
	}
	next.message = notice(e, person, next.offer)
	return &next
}

func (p *post) tokens() (all []string) {
	for _, o := range p.Answers {
		all = append(all, o.Token)
	}
	return all
}

// newButtons replaces the buttons; those before mean nothing any more.
func (p *post) newButtons(e api.Entry, others []alsoListed) {
	p.Votes, p.offer = len(e.Votes), offer{Listed: others}
	for _, scope := range e.Scopes {
		p.Answers = append(p.Answers, option{Token: newToken(), Scope: scope})
	}
	if offersPattern(e) {
		p.Pattern = e.Pattern
		for _, scope := range e.Scopes[slices.Index(e.Scopes, bailiff.ScopeOnce)+1:] {
			p.Answers = append(p.Answers, option{Token: newToken(), Scope: scope, Match: e.Pattern.Match})
		}
	}
	if len(others) > 0 {
		p.Answers = append(p.Answers, option{Token: newToken(), Scope: bailiff.ScopeOnce, Listed: len(others) + 1})
	}
	p.Answers = append(p.Answers, option{Token: newToken()}, option{Token: newToken(), Asks: true})
}

// offersPattern says whether a message offers the pattern that is suggested: one that would have
// covered another request, and that is shown whole.
func offersPattern(e api.Entry) bool {
	return e.Pattern != nil && e.Pattern.Covered > 1 && termsafe.Brief(e.Pattern.Match, longestLine) == e.Pattern.Match
}

// newToken returns 130 random bits in letters and digits.
func newToken() string { return strings.ToLower(rand.Text()) }

// wordOf are those by which scopes are granted in writing.
var wordOf = map[string]string{bailiff.ScopeOnce: "approve", bailiff.ScopeSession: "session", bailiff.ScopeAlways: "always", "": "deny"}

func (o option) button() Button {
	b := Button{Token: o.Token, Word: wordOf[o.Scope], Yes: o.Scope != ""}
	switch {
	case o.Listed > 0:
		b.Label, b.Word, b.Sign = fmt.Sprintf("Approve all %d, once", o.Listed), "all", "☑️"
	case o.Match != "" && o.Scope == bailiff.ScopeSession:
		b.Label, b.Word, b.Sign = "The pattern, this session", "pattern", "🧩"
	case o.Match != "":
		b.Label, b.Word = "The pattern, 30 days", "pattern always"
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
