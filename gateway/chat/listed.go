package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

const (
	// longestListed is how many characters of a question are listed, and listedRunes how many
	// those of one message have together: what a yes covers must be seen whole in any service.
	longestListed, listedRunes = 160, 600
	// mostListed is how many questions a message lists.
	mostListed = 9
)

// alsoListed is another waiting question that a message shows by number.
type alsoListed struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	// Text is what would run, and why it is asked about.
	Text string `json:"text"`
	// Ended is its state once it waits no more.
	Ended bailiff.ApprovalState `json:"ended,omitempty"`
}

// asTheyStand are listed questions with what became of them meanwhile.
func (n *Notifier) asTheyStand(listed []alsoListed) []alsoListed {
	now := slices.Clone(listed)
	for i, other := range now {
		if e, found := n.config.Approvals.Get(other.ID); found && e.State != bailiff.ApprovalPending {
			now[i].Ended = e.State
		}
	}
	return now
}

// listing are the approvals whose messages list a question.
func (n *Notifier) listing(question string) (ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, p := range n.posts {
		if !p.Done && slices.ContainsFunc(p.Listed, func(other alsoListed) bool { return other.ID == question }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// alsoWaiting are the other questions of the same session that differ from an approval in their
// text alone, the oldest first, as far as each is short enough to be shown whole.
func (n *Notifier) alsoWaiting(e api.Entry) (all []alsoListed) {
	if e.Request.Session.ID == "" || !slices.Contains(e.Scopes, bailiff.ScopeOnce) || textOf(e) == "" {
		return nil
	}
	same, room := besidesText(e), listedRunes
	waiting, _ := n.config.Approvals.List(api.Query{State: bailiff.ApprovalPending, Session: e.Request.Session.ID})
	for i := range waiting {
		other := &waiting[i]
		if other.ID == e.ID || !n.isAsked(other) || besidesText(*other) != same {
			continue
		}
		text := termsafe.Text(textOf(*other))
		line := text + " (" + strings.Join(rulesOf(*other), ", ") + ")"
		length := utf8.RuneCountInString(line)
		if length > longestListed || length > room || len(all) == mostListed {
			continue
		}
		all, room = append(all, alsoListed{ID: other.ID, Digest: other.Digest, Text: line}), room-length
	}
	return all
}

func textOf(e api.Entry) string {
	if e.Request.Tool == bailiff.ExecuteCode {
		return e.Request.Args.Code
	}
	return e.Request.Args.Command
}

func rulesOf(e api.Entry) (rules []string) {
	for _, r := range e.Reasons {
		rules = append(rules, r.Rule)
	}
	return rules
}

// besidesText is all that an answer to an approval hangs on, besides the text and the reasons.
func besidesText(e api.Entry) string {
	args := e.Request.Args
	args.Command, args.Code = "", ""
	text, err := json.Marshal([]any{e.Caller, e.Peer, e.Request.Session, e.Request.Tool, args, e.Decision.Obligations,
		e.Scopes, e.Plan.Approvers, e.Plan.Quorum})
	if err != nil {
		panic(fmt.Sprintf("an approval of texts and numbers: %v", err)) // cannot fail
	}
	return string(text)
}

// answerListed gives a yes to the others that a message listed, each by the digest that it had,
// and says of each what came of it.
func (n *Notifier) answerListed(ctx context.Context, others []alsoListed, who bailiff.Approver, v bailiff.Verdict) (told string) {
	for _, other := range others {
		e, found := n.config.Approvals.Get(other.ID)
		if !found || e.Digest != other.Digest {
			told += " Nothing can be read of approval " + other.ID + " now, so it was not answered."
			continue
		}
		if answered, err := n.config.Approvals.Answer(ctx, other.ID, who, v); err != nil {
			refusal, _ := n.refusalText(other.ID, err)
			told += " Of " + other.ID + ": " + refusal
		} else {
			told += " " + thanks(answered, v)
		}
	}
	return told
}
