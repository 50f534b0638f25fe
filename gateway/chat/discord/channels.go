package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

const (
	// mostPlaces bounds what is known of channels, mostAsked of how many it is asked at a
	// time, and mostWaiting the messages that wait for one.
	mostPlaces  = 100_000
	mostAsked   = 100
	mostWaiting = 100
)

// where is a place with its kind.
type where struct {
	chat.Place
	kind string
}

type channelData struct {
	ID     string
	Parent string `json:"parent_id"`
	Type   discordgo.ChannelType
}

func (c channelData) isThread() bool {
	return c.Type == discordgo.ChannelTypeGuildNewsThread || c.Type == discordgo.ChannelTypeGuildPublicThread || c.Type == discordgo.ChannelTypeGuildPrivateThread
}

// isWhole says that it is told where it is.
func (c channelData) isWhole() bool { return c.ID != "" && !(c.isThread() && c.Parent == "") }

func whereIs(c channelData) where {
	switch c.Type {
	case discordgo.ChannelTypeDM:
		return where{chat.Place{Chat: c.ID}, "dm"}
	case discordgo.ChannelTypeGroupDM:
		return where{chat.Place{Chat: c.ID}, "group"}
	}
	if c.isThread() {
		return where{chat.Place{Chat: c.Parent, Thread: c.ID}, "thread"}
	}
	return where{chat.Place{Chat: c.ID}, "channel"}
}

// places are the channels of which it is known what they are: a message does not say.
type places struct {
	d       *Discord
	mu      sync.Mutex
	known   *recent.Map[string, where]
	waiting map[string][]func(where)
}

func newPlaces(d *Discord) places {
	return places{d: d, known: recent.New[string, where](mostPlaces), waiting: map[string][]func(where){}}
}

func (p *places) learn(c channelData) {
	if !c.isWhole() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Put(c.ID, whereIs(c))
}

func (p *places) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Take(id)
}

// when tells where a channel is: at once, or when Discord has been asked, which the caller
// is to do if it is said. What waits is told in the order in which it came.
func (p *places) when(id string, tell func(where)) (ask bool) {
	p.mu.Lock()
	queue, asked := p.waiting[id]
	w, known := p.known.Get(id)
	if known && !asked {
		p.mu.Unlock()
		tell(w)
		return false
	}
	defer p.mu.Unlock()
	if len(queue) < mostWaiting && (asked || len(p.waiting) < mostAsked) {
		p.waiting[id] = append(queue, tell)
		return !asked
	}
	return false
}

// ask finds out where a channel is and tells whoever waits. Where Discord does not say
// it, nobody is told: a thread must not pass for its channel.
func (p *places) ask(ctx context.Context, id string) {
	w, err := p.find(ctx, id)
	if err != nil && ctx.Err() == nil {
		p.d.cfg.Log.WarnContext(ctx, "Discord does not say what a channel is, so what was written there is dropped", "chat", id, "error", err)
	}
	done := false
	defer func() {
		if !done { // by a panic of whom was told
			p.next(id, context.Canceled)
		}
	}()
	for {
		queue := p.next(id, err)
		if done = len(queue) == 0; done {
			return
		}
		for _, tell := range queue {
			tell(w)
		}
	}
}

// next is what waits now. Where that is nothing, or is of no use, nobody waits any more.
func (p *places) next(id string, useless error) []func(where) {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.waiting[id]
	if len(queue) == 0 || useless != nil {
		delete(p.waiting, id)
		return nil
	}
	p.waiting[id] = nil
	return queue
}

// find asks Discord, a few times.
func (p *places) find(ctx context.Context, id string) (where, error) {
	var c channelData
	err := p.d.persist(ctx, func() error {
		err := p.d.do(ctx, http.MethodGet, "/channels/"+url.PathEscape(id), nil, &c)
		return refusal(err, id, "View Channel")
	})
	if err == nil && !c.isWhole() {
		err = errors.New("Discord does not say of which channel a thread is")
	}
	if err != nil {
		return where{}, err
	}
	p.learn(c)
	return whereIs(c), nil
}
