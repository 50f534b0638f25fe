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
	places := []string{c.place.Home} // by whose name texts call it
	size, isCut := len(dir), false
	for _, path := range paths {
		place, home := strings.CutPrefix(path, "~")
		switch {
		case home && (place == "" || place[0] == '/'):
			place = c.place.Home + place
		case home, strings.HasPrefix(path, `\~`): // another user's, or a name that begins so
			isCut = true
			continue
		}
		if size += len(place) + 8; size > maxAsked {
			isCut = true
			break
		}
		places = append(places, place)
	}
	found, err := inquire(ctx, c, wire.Resolve, wire.Encode(wire.Files{Dir: dir, Paths: places}), wire.Decode[wire.Ground])
	ground := bailiff.Ground{Folder: found.Folder, Unseen: isCut || !found.All}
	homes := c.homes(found.Links)
	for _, l := range found.Links {
		targets := make([]string, len(l.Targets))
		for i, target := range l.Targets {
			targets[i] = homely(target, homes)
		}
		ground.Links = append(ground.Links, bailiff.Link{Path: l.Path, Targets: targets})
		if home := homely(l.Path, homes); home != l.Path {
			ground.Links = append(ground.Links, bailiff.Link{Path: home, Targets: targets})
		}
	}
	return ground, err
}

// homes are the names of the home folder: its own, and those by links on its way.
func (c *Client) homes(links []wire.Link) []string {
	homes := []string{c.place.Home}
	for _, l := range links {
		below, on := strings.CutPrefix(c.place.Home, l.Path)
		for _, target := range l.Targets {
			if on && (below == "" || below[0] == '/') {
				homes = append(homes, target+below)
			}
		}
	}
	return homes
}

// homely is a path with the home folder written as texts have it.
func homely(path string, homes []string) string {
	for _, home := range homes {
		if below, ok := strings.CutPrefix(path, home); ok && len(home) > 1 && (below == "" || below[0] == '/') {
			return "~" + below
		}
	}
	return path
}
