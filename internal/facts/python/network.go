package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// network notes the hosts that a call names.
func (w *walk) network(c *object.Call) {
	if !w.noting {
		return
	}
	for _, key := range []string{"host", "hostname", "server"} {
		w.noteHosts(c.Keywords[key])
	}
	if !library.ReachesNetwork(c.Name) {
		return
	}
	w.feature(value.FeatureNetwork)
	w.doors(c)
	switch {
	case library.HostFirst[c.Name]:
		w.noteHosts(c.First())
	case c.Name == "socket.create_connection":
		w.noteAddress(c.First())
	case strings.HasPrefix(c.Name, "requests.") || strings.HasPrefix(c.Name, "urllib"):
		w.noteFetch(c)
	}
}

// doors notes the files and sockets that a call reaches by an address.
func (w *walk) doors(c *object.Call) {
	for _, vs := range c.Args {
		for _, v := range vs {
			scheme, rest, found := strings.Cut(v.Text, ":")
			switch scheme = strings.ToLower(scheme); {
			case v.Shape != object.IsString:
			case c.Name == "socket.socket.connect" || c.Name == "socket.socket.connect_ex":
				w.writes(object.Objects{v})
			case found && scheme == "file":
				w.reads(object.Objects{v})
			case found && (scheme == "http+unix" || scheme == "unix"):
				w.writes(object.TextOf(object.SocketOf(rest)))
			}
		}
	}
}

func (w *walk) noteHosts(vs object.Objects) {
	for _, v := range vs {
		if v.Shape == object.IsString && v.Text != "" {
			if host := value.BareHost(object.Shown(v.Text)); host != "0.0.0.0" {
				w.note(&w.notes.hosts, host)
			}
		}
	}
}

// noteAddress notes the host of a (host, port).
func (w *walk) noteAddress(vs object.Objects) {
	for _, v := range vs {
		if v.Shape == object.IsList && len(v.Items) == 2 {
			w.noteHosts(v.Items[0])
		}
	}
}

// noteFetch notes a file that a call fills from the network.
func (w *walk) noteFetch(c *object.Call) {
	if !strings.HasSuffix(c.Name, ".urlretrieve") {
		return
	}
	if to, ok := c.Arg(1, "filename"); ok {
		w.writes(to)
		w.fill(to, nil, value.Taint{Fetched: true})
	}
}

// fill notes what a program writes to files: texts, or something unknown.
func (w *walk) fill(files object.Objects, with object.Objects, t value.Taint) {
	if !w.noting {
		return
	}
	for _, f := range files {
		if f.Shape != object.IsString && f.Shape != object.IsPath && f.Shape != object.IsFile {
			continue
		}
		p := w.path(f.Text)
		all := t.With(with.Tainted())
		w.notes.fetched[p] = w.notes.fetched[p] || all.Fetched
		w.notes.decoded[p] = w.notes.decoded[p] || all.Decoded
		text, known := with.Only()
		old, again := w.notes.contents[p]
		switch {
		case !known || again && old == nil || again && len(*old)+len(text) > value.MaxValue:
			w.notes.contents[p] = nil
		case again:
			joined := *old + text
			w.notes.contents[p] = &joined
		default:
			w.notes.contents[p] = &text
		}
	}
}
