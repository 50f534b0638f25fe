package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"

	"github.com/bailiff-dev/bailiff/backends"
)

// about is what an engine says of itself.
type about struct {
	system.Info
	// podman says that it is podman's service, which speaks the Engine API and means
	// other things by some of its words: those that this file is about.
	podman bool
}

func isPodman(version types.Version) bool {
	return slices.ContainsFunc(version.Components, func(c types.ComponentVersion) bool { return c.Name == "Podman Engine" })
}

// owned are the options by which a folder in memory is the unprivileged user's. Podman
// gives it to the container's user, and copies into it what the image has
// there, unless it is told not to.
func (a *about) owned(uid, gid int) string {
	if a.podman {
		return "notmpcopyup,U"
	}
	return fmt.Sprintf("uid=%d,gid=%d", uid, gid)
}

// closed are the options of a folder in which an image wants to keep files.
func (a *about) closed() string {
	const options = "ro,noexec,nosuid,nodev,size=4k"
	if a.podman {
		return options + ",notmpcopyup"
	}
	return options
}

// quota asks for a bound on a volume. Podman takes the engine's own word for it without
// a complaint and bounds nothing.
func (a *about) quota(size string) map[string]string {
	if a.podman {
		return map[string]string{"o": quotaOption + size}
	}
	return map[string]string{"size": size}
}

const quotaOption = "size="

// quotaOf is the bound that the options of a volume hold.
func quotaOf(options map[string]string) string {
	if size, ok := strings.CutPrefix(options["o"], quotaOption); ok {
		return size
	}
	return options["size"]
}

// seedPath says where an archive is unpacked so that it ends in a volume mounted at
// target, and what its names begin with. Podman sees a volume only in a path that
// begins there; the engine leaves the mode of such a path's own folder alone.
func (a *about) seedPath(target string) (path, prefix string) {
	if a.podman {
		return "/" + target, ""
	}
	return "/", target + "/"
}

// checkCapabilities sees to it that podman left a container no capability. Where the engine
// repeats what it was asked for, podman tells a difference from a list of its own.
func (b *Backend) checkCapabilities(ctx context.Context, id string) error {
	var got struct{ EffectiveCaps, BoundingCaps []string }
	if err := b.askPodman(ctx, http.MethodGet, "/containers/"+id+"/json", &got); err != nil {
		return b.fault("asking podman which capabilities the sandbox has", err)
	}
	if left := append(got.EffectiveCaps, got.BoundingCaps...); len(left) > 0 {
		return fmt.Errorf("%w: podman left the capabilities %s", backends.ErrUnsupported, strings.Join(left, ", "))
	}
	return nil
}

// isEnding says that podman did not remove a container since it came to its end by
// itself at that moment; a little later it does.
func isEnding(err error) bool {
	return err != nil && strings.Contains(err.Error(), "container state improper")
}

// ready has podman make a container ready to start, which attaching does otherwise
// without telling what was wrong.
func (b *Backend) ready(ctx context.Context, id string) error {
	engine, err := b.describe(ctx)
	if err != nil || !engine.podman {
		return err
	}
	if err := b.askPodman(ctx, http.MethodPost, "/containers/"+id+"/init", nil); err != nil {
		return b.fault("starting the sandbox", err)
	}
	return nil
}

// askPodman asks in podman's own words, which the engine's client has not.
func (b *Backend) askPodman(ctx context.Context, method, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://podman/v4.0.0/libpod"+path, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := b.engine.HTTPClient().Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text := json.NewDecoder(io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode >= http.StatusBadRequest {
		var said struct{ Message string }
		_ = text.Decode(&said) // the status is told anyway
		return fmt.Errorf("podman answers %s: %s", answer.Status, said.Message)
	}
	if into == nil {
		return nil
	}
	return text.Decode(into)
}
