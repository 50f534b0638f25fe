package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// largestTrust bounds what the folder of an image's certificates may hold.
const largestTrust = 16 << 20

// trust has programs of a sandbox trust its outlet without a variable: the folder of the image's
// certificates is shown from a volume in which a link to the runner's file is in the place of
// the bundle. All sandboxes of an image share the volume and cannot write to it. Where the engine
// does not give or take the certificates, programs have the variables alone.
func (b *Backend) trust(ctx context.Context, spec backends.Spec, found image.InspectResponse) ([]mount.Mount, error) {
	if spec.Network != backends.Egress {
		return nil, nil
	}
	b.seeding.Lock()
	defer b.seeding.Unlock()
	shown, err := b.trustVolume(ctx, spec, found)
	if err == nil || ctx.Err() != nil {
		return shown, err
	}
	b.cfg.Log.WarnContext(ctx, "programs trust the way out by variables alone", "image", found.ID, "error", err)
	if errors.Is(err, errTooLarge) {
		b.bundles[found.ID] = ""
	}
	return nil, nil
}

// trustVolume shows the volume, unless the image or the mounts have no place for it. b.seeding is held.
func (b *Backend) trustVolume(ctx context.Context, spec backends.Spec, found image.InspectResponse) ([]mount.Mount, error) {
	bundle, err := b.bundleOf(ctx, spec.Owner, found.ID)
	folder := path.Dir(bundle)
	if bundle == "" || err != nil || declares(found, folder) || backends.Overlaps(spec.Mounts, folder) ||
		backends.Overlaps(spec.Mounts, wire.TrustFolder) { // where the link leads
		return nil, err
	}
	made, err := b.makeVolume(ctx, volume.CreateOptions{
		Name:   ownersVolumes(trustVolumes, spec.Owner) + backends.Digest(found.ID+bundle),
		Labels: map[string]string{labelOwner: spec.Owner, labelTrust: found.ID},
	})
	if err != nil {
		return nil, err
	}
	err = b.seed(made, func() error { return b.copyTrust(ctx, spec.Owner, found.ID, made.Name, bundle) })
	return []mount.Mount{volumeAt(made.Name, folder, true)}, err
}

var errTooLarge = errors.New("the folder of the image's certificates is too large to be copied")

// declares says whether an image declares a volume at a folder, which is closed.
func declares(found image.InspectResponse, folder string) bool {
	if found.Config == nil {
		return false
	}
	for target := range found.Config.Volumes {
		if path.Clean(target) == folder {
			return true
		}
	}
	return false
}

// bundleOf is the file of certificates of an image that is itself one, and no link to
// another; empty if it has none. b.seeding is held.
func (b *Backend) bundleOf(ctx context.Context, owner, image string) (bundle string, err error) {
	if bundle, known := b.bundles[image]; known {
		return bundle, nil
	}
	err = b.beside(ctx, owner, image, nil, func(name string) error {
		for _, candidate := range wire.RootBundles {
			stat, err := b.engine.ContainerStatPath(ctx, name, candidate)
			if err == nil && stat.Mode.IsRegular() {
				bundle = candidate
				return nil
			}
			if err != nil && !errdefs.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", b.fault("looking for the certificates of image "+image, err)
	}
	b.bundles[image] = bundle
	return bundle, nil
}

// copyTrust fills a volume with the folder of a bundle.
func (b *Backend) copyTrust(ctx context.Context, owner, image, into, bundle string) error {
	engine, err := b.describe(ctx)
	if err != nil {
		return err
	}
	const target = "certificates"
	return b.beside(ctx, owner, image, []mount.Mount{volumeAt(into, "/"+target, false)}, func(name string) error {
		link, err := b.engine.ContainerStatPath(ctx, name, path.Join("/", target, path.Base(bundle)))
		if err == nil && link.Mode&os.ModeSymlink != 0 { // it is unpacked last, and sandboxes read what is there
			return nil
		}
		content, _, err := b.engine.CopyFromContainer(ctx, name, path.Dir(bundle)+"/.")
		if err != nil {
			return err
		}
		defer content.Close()
		where, prefix := engine.seedPath(target)
		archive, err := linked(content, prefix, path.Base(bundle))
		if err != nil {
			return err
		}
		return b.unpack(ctx, name, where, archive)
	})
}

// linked is the archive of a folder with a link in the place of the bundle, which it keeps
// under another name. Names begin with the prefix.
func linked(from io.Reader, prefix, bundle string) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	bounded := &io.LimitedReader{R: from, N: largestTrust}
	w := tar.NewWriter(&archive)
	err := moved(w, tar.NewReader(bounded), prefix, bundle)
	if bounded.N == 0 {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, largestTrust)
	}
	if err == nil {
		err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: prefix + bundle, Linkname: wire.TrustBundle, Mode: 0o777})
	}
	return &archive, errors.Join(err, w.Close())
}

// moved copies an archive's entries, the bundle under another name.
func moved(w *tar.Writer, r *tar.Reader, prefix, bundle string) error {
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		header.Name = movedName(header.Name, prefix, bundle)
		if header.Typeflag == tar.TypeLink {
			header.Linkname = movedName(header.Linkname, prefix, bundle)
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
}

// movedName is the name of an entry in the copy, by which links lead to it too.
func movedName(name, prefix, bundle string) string {
	switch name = path.Clean(name); name {
	case ".":
		return prefix + "./"
	case bundle:
		return prefix + bundle + wire.KeptRoots
	}
	return prefix + name
}
