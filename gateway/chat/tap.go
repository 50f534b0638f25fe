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

// Tapped takes an answer, and returns what to tell who gave it.
func (d *Desk) Tapped(ctx context.Context, t Tap) Text {
	told, result := d.answer(ctx, t)
	d.config.Observer.ChatTapped(d.config.Service, result)
	return Text{{Text: told}}
}

func (d *Desk) answer(ctx context.Context, t Tap) (told, result string) {
	p, o, taken := d.take(t)
	if p == nil && d.mayStand(t) {
		return "It is not known here yet which approval that is. Answer again in a moment; nothing was changed.", "late"
	}
	if p == nil {
		return "This is no approval of mine, or one of long ago. Nothing was changed.", "invalid"
	}
	e, found := d.config.Book.Get(p.ID)
	switch {
	case !found: // it was resolved long ago, or the store fails
		if taken {
			d.giveBack(p, o)
		}
		return "Nothing can be read of approval " + p.ID + " now. Nothing was changed.", "late"
	case e.State != bailiff.ApprovalPending:
		return "Too late: " + bailiff.Sentence(e.Message), "late"
	case !taken || e.Digest != p.Digest:
		d.plan(p.ID)
		return "The message has other buttons by now, so nothing was changed. Look at it again.", "invalid"
	}
	v := bailiff.Verdict{Approve: o.Scope != "", Scope: o.Scope}
	if !v.Approve {
		v.Reason = shortened(strings.TrimSpace(t.Reason), longestReason)
	}
	answered, err := d.config.Book.Answer(ctx, p.ID, d.config.Identify(d.config.Service, t.By.ID), v)
	if err != nil {
		d.giveBack(p, o)
		return d.refused(p.ID, err)
	}
	return thanks(answered, v), "taken"
}

// mayStand says whether an answer in words or signs may be to a message of which nobody
// knows yet whether it is shown.
func (d *Desk) mayStand(t Tap) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.posts {
		if t.Token == "" && p.Tried && p.Ref == (Ref{}) {
			return true
		}
	}
	return false
}

// refused is what is told of an answer that was not taken.
func (d *Desk) refused(id string, err error) (told, result string) {
	switch {
	case errors.Is(err, api.ErrIneligible), errors.Is(err, api.ErrVoted):
		return bailiff.Sentence(err.Error()), "barred"
	case errors.Is(err, api.ErrSettled), errors.Is(err, api.ErrUnknown):
		return "Too late: " + bailiff.Sentence(err.Error()), "late"
	}
	if errors.Is(err, api.ErrScope) {
		return "Nothing was changed: " + bailiff.Sentence(err.Error()), "invalid"
	}
	d.config.Log.Error("an answer by chat was not taken", "service", d.config.Service, "approval", id, "error", err)
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

// take finds the post that an answer is to, and what it says. Taken is false if that is
// nothing that the post offers now; while it is true nobody else can give that answer by
// the same token, until it is given back.
func (d *Desk) take(t Tap) (p *post, o option, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, known := d.tokens[t.Token]
	if t.Token == "" || !known {
		id = cmp.Or(d.spent[t.Token], d.shown[t.On])
	}
	if p = d.posts[id]; p == nil {
		return nil, o, false
	}
	if p.Ref == (Ref{}) && known && t.On != (Ref{}) {
		p = d.learn(p, t.On)
	}
	for _, o = range p.Answers {
		if t.Token != "" && o.Token == t.Token || t.Token == "" && t.Word != "" && o.button().Word == t.Word {
			_, free := d.tokens[o.Token]
			delete(d.tokens, o.Token)
			d.used[o.Token] = true
			return p, o, free
		}
	}
	return p, option{}, false
}

// learn takes in where a message stands that nobody knew to be shown; d.mu is held.
func (d *Desk) learn(p *post, at Ref) *post {
	found := *p
	found.Ref = at
	d.unknow(p)
	d.know(&found)
	if err := d.shelf.Keep(found); err != nil {
		d.config.Log.Debug("remembering where an approval is posted", "service", d.config.Service, "error", err)
	}
	return &found
}

// giveBack lets an answer be given again that was not taken.
func (d *Desk) giveBack(p *post, o option) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.used, o.Token)
	if now := d.posts[p.ID]; now != nil && !now.Done {
		for _, offered := range now.Answers {
			if offered.Token == o.Token {
				d.tokens[o.Token] = p.ID
			}
		}
	}
}

// shortened is at most so many characters of a text.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
