package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Read reads a plain file, as [backends.Reader] says.
func (c *Client) Read(ctx context.Context, dir, path string, most int) (bailiff.Content, error) {
	if dir == "" {
		dir = c.place.Workspace
	}
	place, err := c.located(path)
	if err != nil {
		return bailiff.Content{}, err
	}
	first, err := c.part(ctx, wire.Reading{Dir: dir, Path: place})
	if err != nil {
		return bailiff.Content{}, err
	}
	if first.Missing {
		return bailiff.Content{File: bailiff.File{Path: path}, Kind: bailiff.ContentMissing}, nil
	}
	content := bailiff.Content{File: bailiff.File{Path: path}, Recent: time.Duration(first.Now-first.Changed) < bailiff.RecentlyMade}
	if first.Folder {
		return bailiff.Content{File: bailiff.File{Path: path}, Kind: bailiff.ContentFolder}, nil
	}
	if first.Size > int64(most) {
		return content, nil
	}
	text := []byte(first.Text)
	for part := first; int64(len(text)) < first.Size; text = append(text, part.Text...) {
		if part, err = c.part(ctx, wire.Reading{Dir: dir, Path: place, Offset: int64(len(text))}); err != nil {
			return bailiff.Content{}, err
		}
		if part.Text == "" || part.Missing || part.Size != first.Size || part.Changed != first.Changed {
			return bailiff.Content{}, fmt.Errorf("%s changed while it was read", path)
		}
	}
	sum := sha256.Sum256(text)
	content.SHA256, content.Text, content.Kind = hex.EncodeToString(sum[:]), string(text), bailiff.ContentText
	return content, nil
}

func (c *Client) part(ctx context.Context, r wire.Reading) (wire.Part, error) {
	return inquire(ctx, c, wire.Read, wire.Encode(r), wire.Decode[wire.Part])
}

// inquire asks the runner about files.
func inquire[T any](ctx context.Context, c *Client, kind wire.Kind, question []byte, decode func([]byte) (T, error)) (answer T, err error) {
	if len(question) > wire.MaxPayload {
		return answer, errors.New("the path of a file is too long to be asked for")
	}
	frame, err := c.question(ctx, wire.Frame{Kind: kind, Payload: question})
	if err != nil {
		return answer, err
	}
	answer, err = decode(frame.Payload)
	if err != nil {
		return answer, errors.Join(err, errors.New("the runner does not answer what it was asked"))
	}
	return answer, nil
}

// Match finds the files that match a pattern, as [backends.Reader] says.
func (c *Client) Match(ctx context.Context, dir, pattern string, stems []string) (paths []string, all bool, err error) {
	folder, below := split(pattern)
	place := "."
	if folder != "" {
		if place, err = c.located(folder); err != nil {
			return nil, false, err
		}
	}
	if dir == "" {
		dir = c.place.Workspace
	}
	asked := wire.Pattern{Dir: dir, Folder: place, Pattern: below, Within: bailiff.RecentlyMade, Stems: stems}
	found, err := inquire(ctx, c, wire.Match, wire.Encode(asked), wire.Decode[wire.Matches])
	for _, p := range found.Paths {
		paths = append(paths, folder+p)
	}
	return paths, found.All, err
}

// split divides a pattern into the folder before its first wildcard, with the slash, and the rest.
func split(pattern string) (folder, below string) {
	literal := pattern
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		literal = pattern[:i]
	}
	end := strings.LastIndexByte(literal, '/') + 1
	return pattern[:end], pattern[end:]
}
