package apptainer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// An image is kept unpacked. Of a compressed one that the kernel shows, each sandbox
// would have pages of its own, charged to it; where the sandbox's memory is used up,
// the kernel drops them and unpacks them again for minutes before it ends anything.

// images knows what names stand for, and lets one image be brought at a time.
type images struct {
	bringing chan struct{}
	// files are the digests of SIF files of this machine, by what tells that they are
	// what they were. Who is bringing may look at them.
	files map[state]string
}

func newImages() images { return images{make(chan struct{}, 1), map[state]string{}} }

// state tells a file from what it was. A user who changes a file and makes it look as
// it did gets the image that it was.
type state struct {
	path     string
	size     int64
	modified time.Time
}

// image is one whose content cannot change any more.
type image struct{ name, digest string }

// String is its name and its digest. It is not written as a registry's digest is,
// which stands for something else: what the SIF file was built of.
func (i image) String() string { return i.name + mark + i.digest }

const mark = "#sha256:"

var pinned = regexp.MustCompile(`^(.+)` + mark + `([0-9a-f]{64})$`)

var transports = []string{"docker://", "oras://", "library://"}

// isImage says what would be the name of an image.
func isImage(name string) error {
	remote := slices.ContainsFunc(transports, func(t string) bool { return strings.HasPrefix(name, t) && len(name) > len(t) })
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) || !remote && !filepath.IsAbs(name) {
		return errors.New("want the absolute path of a SIF file, or docker://, oras:// or library:// and a name")
	}
	return nil
}

// Resolve brings an image if it is missing and returns its name with the digest of
// its content. An empty name is the configured image. What a registry's name stands
// for is asked once; the file behind a path is looked at each time.
func (b *Backend) Resolve(ctx context.Context, name string) (string, error) {
	found, err := b.bring(ctx, name)
	if err != nil {
		return "", err
	}
	return found.String(), nil
}

func (b *Backend) bring(ctx context.Context, name string) (image, error) {
	if name == "" {
		name = b.cfg.Image
	}
	if name == "" {
		return image{}, fmt.Errorf("%w: no image is named: set it in the policies or as backends.apptainer.image", backends.ErrUnavailable)
	}
	want := ""
	if parts := pinned.FindStringSubmatch(name); parts != nil {
		name, want = parts[1], parts[2]
		if exists(b.root(want)) {
			return image{name, want}, nil
		}
	}
	if err := isImage(name); err != nil {
		return image{}, fmt.Errorf("%w: image %q: %w", backends.ErrUnsupported, name, err)
	}
	digest, err := b.look(ctx, name)
	switch {
	case err != nil:
		return image{}, fmt.Errorf("%w: bringing image %s: %w", backends.ErrUnavailable, name, err)
	case want != "" && want != digest:
		return image{}, fmt.Errorf("%w: image %s is another one than it was, and the one of digest %s is not here any more",
			backends.ErrUnavailable, name, want)
	}
	return image{name, digest}, nil
}

// look returns the digest of what a name stands for, which is here then.
func (b *Backend) look(ctx context.Context, name string) (string, error) {
	select {
	case b.images.bringing <- struct{}{}:
		defer func() { <-b.images.bringing }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if _, err := b.settle(); err != nil {
		return "", err
	}
	if filepath.IsAbs(name) {
		return b.fromFile(ctx, name)
	}
	if known, err := os.ReadFile(b.note(name)); err == nil && exists(b.root(string(known))) {
		return string(known), nil
	}
	return b.fromRegistry(ctx, name)
}

// root is where the image of a digest is, unpacked.
func (b *Backend) root(digest string) string { return b.path(imageFolder, digest) }

// note is where it is kept what a name stands for.
func (b *Backend) note(name string) string {
	sum := sha256.Sum256([]byte(name))
	return b.path(imageFolder, hex.EncodeToString(sum[:])+".name")
}

func (b *Backend) fromFile(ctx context.Context, path string) (string, error) {
	file, err := openSIF(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return "", err
	}
	was := state{path, about.Size(), about.ModTime()}
	if digest := b.images.files[was]; digest != "" && exists(b.root(digest)) {
		return digest, nil
	}
	digest, err := b.copied(ctx, path, file)
	if err != nil {
		return "", err
	}
	for other := range b.images.files {
		if other.path == path {
			delete(b.images.files, other)
		}
	}
	b.images.files[was] = digest
	return digest, nil
}

// magic stands at the beginning of each SIF file, behind a line for shells.
const (
	magic   = "SIF_MAGIC"
	magicAt = 32
)

func openSIF(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := isSIF(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return file, nil
}

func isSIF(file *os.File) error {
	about, err := file.Stat()
	if err != nil {
		return err
	}
	start := make([]byte, len(magic))
	if _, err := file.ReadAt(start, magicAt); !about.Mode().IsRegular() || err != nil || string(start) != magic {
		return errors.New("is no SIF file: build one of it with apptainer build")
	}
	return nil
}

// isImageHere says what is wrong with the file of an image of this machine. A
// registry is not asked, and of a pinned image the file may be gone.
func isImageHere(name string) error {
	if !filepath.IsAbs(name) || pinned.MatchString(name) {
		return nil
	}
	file, err := openSIF(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s: build it with apptainer build, or name another image", name)
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// copied makes the image of the file's content, whatever becomes of the file.
func (b *Backend) copied(ctx context.Context, path string, file *os.File) (string, error) {
	backends.Step(ctx, "copying image %s", path)
	return b.work(ctx, path, func(into, _ string) error { return copyTo(ctx, into, file) })
}

// work makes a SIF file in a folder that is then thrown away, and keeps what it
// holds.
func (b *Backend) work(ctx context.Context, name string, bring func(into, folder string) error) (string, error) {
	folder, end, err := b.begin()
	if err != nil {
		return "", err
	}
	made := filepath.Join(folder, "image.sif")
	if err := bring(made, folder); err != nil {
		return "", errors.Join(err, end())
	}
	digest, err := b.store(ctx, name, made)
	return digest, errors.Join(err, end())
}

func copyTo(ctx context.Context, path string, from io.Reader) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, reader{ctx, from})
	return errors.Join(err, to.Close())
}

// reader ends with its context.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// store unpacks a SIF file into a folder that is named by the file's digest.
func (b *Backend) store(ctx context.Context, name, made string) (string, error) {
	digest, err := digestOf(made)
	if err != nil || exists(b.root(digest)) {
		return digest, err
	}
	backends.Step(ctx, "unpacking image %s", name)
	root := made + ".root"
	if err := b.unpack(ctx, made, root); err != nil {
		return "", fmt.Errorf("unpacking it: %w", err)
	}
	return digest, os.Rename(root, b.root(digest))
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
