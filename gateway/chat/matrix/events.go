package matrix

import (
	"context"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// handle hands an event on, if it is used. With an error it is to be tried again.
func (r reader) handle(ctx context.Context, room string, e event) error {
	switch e.Type {
	case "m.room.member", "m.room.name":
		r.rooms.Take(room)
		r.direct.forget(room)
	case "m.room.encryption", "m.room.encrypted":
		r.warnEncrypted(room)
	case "m.room.message":
		if c := e.content(); e.Sender != r.self.ID && c.isTyped() {
			return r.onMessage(ctx, room, e, c)
		}
	case "m.reaction":
		if e.Sender != r.self.ID {
			return r.onReaction(ctx, room, e)
		}
	}
	return nil
}

// warnEncrypted logs once for a room that it is encrypted.
func (r reader) warnEncrypted(room string) {
	if _, said := r.informed.Get(room); !said {
		r.informed.Put(room, struct{}{})
		r.cfg.Log.Warn("a room of Matrix's is encrypted, so nothing that is written there is read: use a room without encryption", "room",
			room)
	}
}

// onMessage takes a message: an answer to one of bailiff's, or a command.
func (r reader) onMessage(ctx context.Context, room string, e event, c content) error {
	about, err := r.room(ctx, room)
	if err != nil {
		return err
	}
	by := personIn(about, e.Sender)
	text, named := r.self.addressee(c)
	if on := c.on(); on != "" {
		q, err := r.question(ctx, room, on)
		if err != nil {
			return err
		}
		if word, reason, is := q.byWords(text); is {
			r.onAnswer(ctx, e.ID, chat.Click{By: by, On: q.ref, Word: word, Reason: reason})
			return nil
		}
		if word, terms, is := q.byTerms(text); is {
			r.onAnswer(ctx, e.ID, chat.Click{By: by, On: q.ref, Word: word, Terms: terms})
			return nil
		}
	}
	ref := chat.Ref{Place: chat.Place{Chat: room, Thread: c.thread()}, Message: e.ID}
	r.in.Said(ctx, chat.Said{Ref: ref, Kind: about.kind(ref.Thread), By: by, Text: command(text), Mentioned: named})
	return nil
}

func (r reader) onReaction(ctx context.Context, room string, e event) error {
	to := e.content().Relates
	if to == nil || to.Type != annotates || to.Event == "" {
		return nil
	}
	q, err := r.question(ctx, room, to.Event)
	if err != nil {
		return err
	}
	word, is := q.bySign(to.Key)
	if !is {
		return nil
	}
	about, err := r.room(ctx, room)
	if err != nil {
		return err
	}
	r.onAnswer(ctx, e.ID, chat.Click{By: personIn(about, e.Sender), On: q.ref, Word: word})
	return nil
}

// onAnswer hands on an answer, and replies to the person in the background.
func (r reader) onAnswer(ctx context.Context, event string, click chat.Click) {
	if text := r.in.Clicked(ctx, click); len(text) > 0 {
		r.background.add(func(ctx context.Context) error {
			return r.sendPrivately(ctx, click.By.ID, text, "told\x00"+event, click.On)
		})
	}
}

// question returns the answers that a message offers: none, if it is not bailiff's.
func (r reader) question(ctx context.Context, room, id string) (question, error) {
	if q, known := r.asking.Get(room + id); known || !isEvent(id) {
		return q, nil
	}
	e, err := r.event(ctx, room, id)
	if err != nil && !isFinal(err) {
		return question{}, err
	}
	var q question
	if err == nil && e.Sender == r.self.ID {
		q = question{ref: chat.Ref{Place: chat.Place{Chat: room, Thread: e.content().thread()}, Message: id}, answers: e.answers()}
	}
	if len(q.answers) == 0 {
		q = question{}
	}
	r.asking.Put(room+id, q)
	return q, nil
}
