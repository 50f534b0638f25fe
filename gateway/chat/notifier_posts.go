package chat

import (
	"fmt"
	"slices"
)

// find returns a copy of an approval's post; nil if there is none.
func (n *Notifier) find(id string) *post {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.posts[id]; p != nil {
		found := *p
		return &found
	}
	return nil
}

// Shows says whether an approval's message is known to be shown.
func (n *Notifier) Shows(id string) bool {
	p := n.find(id)
	return p != nil && p.Ref != (Ref{})
}

func (n *Notifier) save(p *post) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before := n.posts[p.ID]; before != nil {
		if p.Ref == (Ref{}) && p.Nonce == before.Nonce {
			p.Ref = before.Ref // an answer to it came meanwhile
		}
		n.unindexLocked(before)
		n.forgetUsedLocked(before, p)
	}
	kept := *p
	n.indexLocked(&kept)
	if err := n.store.Keep(kept); err != nil {
		return fmt.Errorf("remembering what is posted: %w", err)
	}
	return nil
}

// forgetUsedLocked forgets the used tokens that a post has no more; n.mu is held.
func (n *Notifier) forgetUsedLocked(before, now *post) {
	for _, a := range before.Answers {
		if !slices.ContainsFunc(now.Answers, func(o option) bool { return o.Token == a.Token }) {
			delete(n.used, a.Token)
		}
	}
}

func (n *Notifier) drop(p *post) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forgetLocked(p)
	return nil
}

// forgetLocked deletes a post; n.mu is held.
func (n *Notifier) forgetLocked(p *post) {
	n.unindexLocked(p)
	for _, a := range p.Answers {
		delete(n.used, a.Token)
	}
	if err := n.store.Drop(p.ID); err != nil {
		n.config.Log.Debug("forgetting what was posted", "service", n.config.Service, "error", err)
	}
}

// indexLocked and unindexLocked keep the maps by which posts are found; n.mu is held.
func (n *Notifier) indexLocked(p *post) {
	n.posts[p.ID] = p
	if p.Ref != (Ref{}) {
		n.shown[p.Ref] = p.ID
	}
	for _, token := range p.Spent {
		n.spent[token] = p.ID
	}
	if p.Done {
		return
	}
	for _, a := range p.Answers {
		if !n.used[a.Token] {
			n.tokens[a.Token] = p.ID
		}
	}
}

func (n *Notifier) unindexLocked(p *post) {
	delete(n.posts, p.ID)
	delete(n.shown, p.Ref)
	for _, token := range p.Spent {
		delete(n.spent, token)
	}
	for _, a := range p.Answers {
		delete(n.tokens, a.Token)
	}
}
