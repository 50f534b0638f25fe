package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	question := wire.Encode(r)
	if len(question) > wire.MaxPayload {
		return wire.Part{}, errors.New("the path of a file is too long to be asked for")
	}
	answer, err := c.question(ctx, wire.Frame{Kind: wire.Read, Payload: question})
	if err != nil {
		return wire.Part{}, err
	}
	part, err := wire.Decode[wire.Part](answer.Payload)
	if err != nil {
		return wire.Part{}, errors.Join(err, errors.New("the runner does not answer what it was asked"))
	}
	return part, nil
}
