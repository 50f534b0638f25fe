package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// longestReason is how many characters a reason may have.
const longestReason = 1000

// Clicked takes an answer, and returns the text for the person who gave it.
func (n *Notifier) Clicked(ctx context.Context, t Click) Text {
	told, result := n.answer(ctx, t)
	n.config.Observer.ChatClicked(n.config.Service, result)
	return Text{{Text: told}}
}

// opine shows the opinion of a program with the approval of a message. It counts as no answer.
func (n *Notifier) opine(ctx context.Context, t Click) (told, result string) {
	n.mu.Lock()
	id := n.shown[t.On]
	n.mu.Unlock()
	if id == "" {
		return "This is no approval of mine, or one of long ago. Nothing was changed.", "invalid"
	}
	if err := n.config.Approvals.Opine(ctx, id, n.config.Service+":"+t.By.ID, t.Opinion); err != nil {
		return n.refusalText(id, err)
	}
	return "The opinion is shown with approval " + id + ". It is no answer.", "taken"
}

func (n *Notifier) answer(ctx context.Context, t Click) (told, result string) {
	if t.Opinion != "" {
		return n.opine(ctx, t)
	}
	p, o, taken := n.claim(t)
	if p == nil && n.mayBeShown(t) {
		return "It is not known here yet which approval that is. Answer again in a moment; nothing was changed.", "late"
	}
	if p == nil {
		return "This is no approval of mine, or one of long ago. Nothing was changed.", "invalid"
	}
	e, found := n.config.Approvals.Get(p.ID)
	switch {
	case !found: // it was resolved long ago, or the store fails
		if taken {
			n.release(p, o)
		}
		return "Nothing can be read of approval " + p.ID + " now. Nothing was changed.", "late"
	case e.State != bailiff.ApprovalPending:
		return "Too late: " + bailiff.Sentence(e.Message), "late"
	case !taken || e.Digest != p.Digest:
		n.enqueue(p.ID)
		return "The message has other buttons by now, so nothing was changed. Look at it again.", "invalid"
	}
	v := bailiff.Verdict{Approve: o.Scope != "", Scope: o.Scope, Match: o.Match}
	if t.Terms != "" {
		var are bool
		if v.For, v.Times, are = ReadTerms(t.Terms); !are || !v.Approve || o.Listed > 0 {
			n.release(p, o)
			return "Nothing was changed: behind a yes to one request stands for how long or how often it is, as \"for 2h\" or \"5 times\".",
				"invalid"
		}
		if v.Scope == bailiff.ScopeOnce {
			v.Scope = "" // which the terms tell
		}
	}
	if !v.Approve {
		v.Reason = beginningOf(strings.TrimSpace(t.Reason), longestReason)
	}
	who := n.config.Identify(n.config.Service, t.By.ID)
	answered, err := n.config.Approvals.Answer(ctx, p.ID, who, v)
	if err != nil {
		n.release(p, o)
		return n.refusalText(p.ID, err)
	}
	if o.Listed > 0 {
		return thanks(answered, v) + n.answerListed(ctx, p.Listed, who, v), "listed"
	}
	return thanks(answered, v), "taken"
}

// mayBeShown says whether an answer in words or signs may be to a message of which it is
// not known yet whether it is shown.
func (n *Notifier) mayBeShown(t Click) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.posts {
		if t.Token == "" && p.Tried && p.Ref == (Ref{}) {
			return true
		}
	}
	return false
}

// refusalText is the text for an answer that was not taken.
func (n *Notifier) refusalText(id string, err error) (told, result string) {
	switch {
	case errors.Is(err, api.ErrIneligible), errors.Is(err, api.ErrVoted):
		return bailiff.Sentence(err.Error()), "barred"
	case errors.Is(err, api.ErrSettled), errors.Is(err, api.ErrUnknown):
		return "Too late: " + bailiff.Sentence(err.Error()), "late"
	}
	if errors.Is(err, api.ErrScope) {
		return "Nothing was changed: " + bailiff.Sentence(err.Error()), "invalid"
	}
	n.config.Log.Error("an answer by chat was not taken", "service", n.config.Service, "approval", id, "error", err)
	return "Nothing was changed: bailiff cannot take answers at the moment, and its log says why.", "invalid"
}

func thanks(e api.Entry, v bailiff.Verdict) string {
	switch {
	case !v.Approve:
		return "You denied approval " + e.ID + "."
	case e.State == bailiff.ApprovalPending:
		return fmt.Sprintf("You said yes to approval %s; %d of %d have.", e.ID, len(e.Votes), e.Plan.Quorum)
	}
	return "You approved " + e.ID + "."
}

// claim finds the post that an answer is to, and the answer. Taken is false if the post does
// not offer that answer now. If it is true, no other click can use the same token until
// release.
func (n *Notifier) claim(t Click) (p *post, o option, taken bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, known := n.tokens[t.Token]
	if t.Token == "" || !known {
		id = cmp.Or(n.spent[t.Token], n.shown[t.On])
	}
	if p = n.posts[id]; p == nil {
		return nil, o, false
	}
	if p.Ref == (Ref{}) && known && t.On != (Ref{}) {
		p = n.setRefLocked(p, t.On)
	}
	for _, o = range p.Answers {
		if t.Token != "" && o.Token == t.Token || t.Token == "" && t.Word != "" && o.button().Word == t.Word {
			_, free := n.tokens[o.Token]
			delete(n.tokens, o.Token)
			n.used[o.Token] = true
			return p, o, free
		}
	}
	return p, option{}, false
}

// setRefLocked takes in where a message is that was not known to be shown; n.mu is held.
func (n *Notifier) setRefLocked(p *post, at Ref) *post {
	found := *p
	found.Ref = at
	n.unindexLocked(p)
	n.indexLocked(&found)
	if err := n.store.Keep(found); err != nil {
		n.config.Log.Debug("remembering where an approval is posted", "service", n.config.Service, "error", err)
	}
	return &found
}

// release lets an answer that was not taken be given again.
func (n *Notifier) release(p *post, o option) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.used, o.Token)
	if now := n.posts[p.ID]; now != nil && !now.Done {
		for _, offered := range now.Answers {
			if offered.Token == o.Token {
				n.tokens[o.Token] = p.ID
			}
		}
	}
}

// beginningOf returns at most so many characters of a text.
func beginningOf(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
