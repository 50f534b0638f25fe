package vercel

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
)

// Names at Vercel are of letters, digits, - and _; those of drives have 64 at most.
// All begin with whose they are, so that they can be listed.
const (
	prefix      = "bailiff-"
	trials      = prefix + "image-"
	ownerLength = 11
	mostEncoded = 64 - len(prefix) - ownerLength - len("-p")
)

// ofOwner begins the names of all that belongs to an owner.
func ofOwner(owner string) string { return prefix + backends.Digest(owner)[:ownerLength] + "-" }

var plain = regexp.MustCompile(`^[a-z0-9]+$`)

// driveName holds the workspace's own name, so that it can be told from the drive: a
// plain one as it is, another one encoded.
func driveName(owner, workspace string) (string, error) {
	text := "p" + workspace
	if !plain.MatchString(workspace) {
		text = "e" + base64.RawURLEncoding.EncodeToString([]byte(workspace))
	}
	if len(text) > mostEncoded+1 {
		return "", fmt.Errorf("%w: workspace: the name %q is too long for a drive at Vercel", backends.ErrUnsupported, workspace)
	}
	return ofOwner(owner) + text, nil
}

// workspaceOf is the reverse.
func workspaceOf(owner, drive string) (workspace string, ok bool) {
	text, ok := strings.CutPrefix(drive, ofOwner(owner))
	if !ok || text == "" {
		return "", false
	}
	if text[0] == 'p' {
		return text[1:], true
	}
	name, err := base64.RawURLEncoding.DecodeString(text[1:])
	return string(name), text[0] == 'e' && err == nil
}

// Sweep removes the owner's machines. Names of images are asked for by machines that
// have no owner: those that have ended go too.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	found, err := b.api.list(ctx, ofOwner(owner))
	if err != nil {
		return 0, unavailable("listing machines at Vercel", err)
	}
	tried, err := b.api.list(ctx, trials)
	if err != nil {
		return 0, unavailable("listing machines at Vercel", err)
	}
	removed := 0
	for _, machine := range found {
		if b.opening.Has(machine.Name) || keep(machine.Name) {
			continue
		}
		if err := b.api.remove(ctx, machine.Name); err != nil {
			return removed, unavailable("removing a machine at Vercel", err)
		}
		removed++
	}
	for _, machine := range tried {
		if machine.Status == "stopped" {
			_ = b.api.remove(ctx, machine.Name) // the next sweep finds it again
		}
	}
	return removed, nil
}
