package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Digest reads files and returns them by their content, as [backends.Sandbox] says.
func (c *Client) Digest(ctx context.Context, dir string, paths []string) ([]bailiff.File, error) {
	if dir == "" {
		dir = c.place.Workspace
	}
	places := make([]string, len(paths))
	for i, path := range paths {
		var err error
		if places[i], err = c.located(path); err != nil {
			return nil, err
		}
	}
	question := wire.Encode(wire.Files{Dir: dir, Paths: places})
	if len(question) > wire.MaxPayload {
		return nil, fmt.Errorf("the paths of %d files are too long to be asked for at once", len(paths))
	}
	answer, err := c.question(ctx, wire.Frame{Kind: wire.Digest, Payload: question})
	if err != nil {
		return nil, err
	}
	digests, err := wire.Decode[wire.Digests](answer.Payload)
	if err != nil || len(digests) != len(paths) {
		return nil, errors.Join(err, errors.New("the runner does not answer what it was asked"))
	}
	files := make([]bailiff.File, len(paths))
	for i, path := range paths {
		files[i] = bailiff.File{Path: path, SHA256: digests[i]}
	}
	return files, nil
}

// located is a path as the runner opens it. One that leaves open which file it
// is, or that is another file for each program, is no path to a content.
func (c *Client) located(path string) (string, error) {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = c.place.Home + path[1:]
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, `\~`):
		return "", unbindable(path)
	}
	if path == "" || strings.ContainsAny(path, "*?[$\x00") || strings.Contains(path, "(…)") || strings.Contains(path, "{…}") {
		return "", unbindable(path)
	}
	for _, folder := range []string{"/proc", "/dev"} {
		if clean := filepath.Clean(path); clean == folder || strings.HasPrefix(clean, folder+"/") {
			return "", unbindable(path)
		}
	}
	return path, nil
}

func unbindable(path string) error {
	return fmt.Errorf("%q cannot be bound to an approval: name the file", path)
}
