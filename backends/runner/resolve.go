package runner

import (
	"context"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// maxAsked bounds the text of the paths that are asked for at once, so that a question is one frame.
const maxAsked = wire.MaxPayload / 2

// Resolve finds the links on the way of paths, as [backends.Reader] says.
func (c *Client) Resolve(ctx context.Context, dir string, paths []string) (bailiff.Ground, error) {
	if dir == "" {
		dir = c.place.Workspace
	}
	var places []string
	size, long := len(dir), false
	for _, path := range paths {
		place, home := strings.CutPrefix(path, "~")
		switch {
		case home && (place == "" || place[0] == '/'):
			place = c.place.Home + place
		case home, strings.HasPrefix(path, `\~`):
			continue
		}
		if size += len(place) + 8; size > maxAsked {
			long = true
			break
		}
		places = append(places, place)
	}
	found, err := inquire(ctx, c, wire.Resolve, wire.Encode(wire.Files{Dir: dir, Paths: places}), wire.Decode[wire.Ground])
	ground := bailiff.Ground{Folder: found.Folder, Unseen: long || !found.All}
	for _, l := range found.Links {
		targets := make([]string, len(l.Targets))
		for i, target := range l.Targets {
			targets[i] = c.homely(target)
		}
		ground.Links = append(ground.Links, bailiff.Link{Path: l.Path, Targets: targets})
		if home := c.homely(l.Path); home != l.Path {
			ground.Links = append(ground.Links, bailiff.Link{Path: home, Targets: targets})
		}
	}
	return ground, err
}

// homely is a path with the home folder written as texts have it.
func (c *Client) homely(path string) string {
	if below, ok := strings.CutPrefix(path, c.place.Home); ok && c.place.Home != "" && (below == "" || below[0] == '/') {
		return "~" + below
	}
	return path
}
