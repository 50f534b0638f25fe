package discord

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// mostPlaces bounds what is known of channels, mostWaiting the messages that wait for it.
	mostPlaces  = 100_000
	mostWaiting = 100
)

// where is a place with its kind.
type where struct {
	chat.Place
	kind string
}

func whereIs(c *discordgo.Channel) where {
	switch c.Type {
	case discordgo.ChannelTypeDM:
		return where{chat.Place{Chat: c.ID}, "dm"}
	case discordgo.ChannelTypeGroupDM:
		return where{chat.Place{Chat: c.ID}, "group"}
	}
	if c.IsThread() {
		return where{chat.Place{Chat: c.ParentID, Thread: c.ID}, "thread"}
	}
	return where{chat.Place{Chat: c.ID}, "channel"}
}

// places are the channels of which it is known what they are: a message does not say.
type places struct {
	d       *Discord
	mu      sync.Mutex
	known   map[string]where
	waiting map[string][]func(where)
}

func newPlaces(d *Discord) places {
	return places{d: d, known: map[string]where{}, waiting: map[string][]func(where){}}
}

func (p *places) learn(c *discordgo.Channel) {
	if c == nil || c.ID == "" || c.IsThread() && c.ParentID == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= mostPlaces {
		clear(p.known)
	}
	p.known[c.ID] = whereIs(c)
}

func (p *places) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, id)
}

// when tells where a channel is: at once, or when Discord has answered. What waits is
// told in the order in which it came.
func (p *places) when(ctx context.Context, work *sync.WaitGroup, id string, tell func(where)) {
	p.mu.Lock()
	queue, asked := p.waiting[id]
	w, known := p.known[id]
	if !known || asked {
		if len(queue) < mostWaiting {
			p.waiting[id] = append(queue, tell)
		}
		if !asked {
			work.Go(func() { p.ask(ctx, id) })
		}
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	tell(w)
}

// ask finds out where a channel is and tells whoever waits. Where Discord does not say
// it, nobody is told: a thread must not pass for its channel.
func (p *places) ask(ctx context.Context, id string) {
	w, err := p.find(ctx, id)
	for {
		p.mu.Lock()
		queue := p.waiting[id]
		if len(queue) == 0 || err != nil {
			delete(p.waiting, id)
			p.mu.Unlock()
			return
		}
		p.waiting[id] = nil
		p.mu.Unlock()
		for _, tell := range queue {
			tell(w)
		}
	}
}

// find asks Discord, a few times.
func (p *places) find(ctx context.Context, id string) (where, error) {
	var c discordgo.Channel
	err := p.d.persist(ctx, func() error {
		err := p.d.do(ctx, http.MethodGet, "/channels/"+url.PathEscape(id), nil, &c)
		return refusal(err, id, "View Channel")
	})
	if err != nil {
		return where{}, err
	}
	p.learn(&c)
	return whereIs(&c), nil
}
