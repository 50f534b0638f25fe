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
	// maxChannels are remembered, maxLookups are asked for at once, and maxWaiting messages
	// wait for one.
	maxChannels = 100_000
	maxLookups  = 100
	maxWaiting  = 100
)

// channelPlace is a place with the kind of its channel.
type channelPlace struct {
	chat.Place
	kind string
}

type channelData struct {
	ID     string
	Parent string `json:"parent_id"`
	Type   discordgo.ChannelType
}

func (c channelData) isThread() bool {
	return c.Type == discordgo.ChannelTypeGuildNewsThread || c.Type == discordgo.ChannelTypeGuildPublicThread ||
		c.Type == discordgo.ChannelTypeGuildPrivateThread
}

// isWhole says that it states its channel.
func (c channelData) isWhole() bool { return c.ID != "" && !(c.isThread() && c.Parent == "") }

func placeOf(c channelData) channelPlace {
	switch c.Type {
	case discordgo.ChannelTypeDM:
		return channelPlace{chat.Place{Chat: c.ID}, "dm"}
	case discordgo.ChannelTypeGroupDM:
		return channelPlace{chat.Place{Chat: c.ID}, "group"}
	}
	if c.isThread() {
		return channelPlace{chat.Place{Chat: c.Parent, Thread: c.ID}, "thread"}
	}
	return channelPlace{chat.Place{Chat: c.ID}, "channel"}
}

// channels remembers the kinds of channels, which messages do not state.
type channels struct {
	d       *Discord
	mu      sync.Mutex
	known   *recent.Map[string, channelPlace]
	waiting map[string][]func(channelPlace)
}

func newChannels(d *Discord) channels {
	return channels{d: d, known: recent.New[string, channelPlace](maxChannels), waiting: map[string][]func(channelPlace){}}
}

func (p *channels) put(c channelData) {
	if !c.isWhole() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Put(c.ID, placeOf(c))
}

func (p *channels) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known.Take(id)
}

// withPlace calls tell with a channel's place: at once, or after a lookup, which the caller
// must start if ask is true. Calls for one channel keep their order.
func (p *channels) withPlace(id string, tell func(channelPlace)) (ask bool) {
	p.mu.Lock()
	queue, asked := p.waiting[id]
	w, known := p.known.Get(id)
	if known && !asked {
		p.mu.Unlock()
		tell(w)
		return false
	}
	defer p.mu.Unlock()
	if len(queue) < maxWaiting && (asked || len(p.waiting) < maxLookups) {
		p.waiting[id] = append(queue, tell)
		return !asked
	}
	return false
}

// ask looks a channel up and serves the calls that wait for it. Without an answer they are
// dropped: a thread must not pass for its channel.
func (p *channels) ask(ctx context.Context, id string) {
	w, err := p.find(ctx, id)
	if err != nil && ctx.Err() == nil {
		p.d.cfg.Log.WarnContext(ctx, "Discord does not say what a channel is, so what was written there is dropped", "chat", id, "error",
			err)
	}
	done := false
	defer func() {
		if !done { // by a panic in tell
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

// next takes the calls that wait now. If there are none, or useless is set, the lookup ends.
func (p *channels) next(id string, useless error) []func(channelPlace) {
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

// find looks a channel up at Discord, a few times.
func (p *channels) find(ctx context.Context, id string) (channelPlace, error) {
	var c channelData
	err := p.d.retry(ctx, func() error {
		err := p.d.do(ctx, http.MethodGet, "/channels/"+url.PathEscape(id), nil, &c)
		return refusal(err, id, "View Channel")
	})
	if err == nil && !c.isWhole() {
		err = errors.New("Discord does not say of which channel a thread is")
	}
	if err != nil {
		return channelPlace{}, err
	}
	p.put(c)
	return placeOf(c), nil
}
