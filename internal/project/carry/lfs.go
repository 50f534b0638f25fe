package carry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// largeFolder is where git-lfs keeps the content of files of which git has a pointer only, each as aa/bb/aabb…: its SHA-256.
	largeFolder = "lfs/objects"
	// mostLargeBytes is how many bytes of such content one step brings, mostLargeFiles how many files it looks at.
	mostLargeBytes = 4 << 30
	mostLargeFiles = 100_000
)

// version tells the content of a file from a later one's.
type version struct {
	size int64
	at   time.Time
}

// large brings out content that git-lfs keeps. What is not what its name says stays inside; it is read once only.
type large struct {
	from, to *os.Root
	wrong    map[string]version
	left     int64
	files    int
	stays    int // files that stay inside
}

// largeOut brings out what git-lfs keeps inside and the user's repository has not, and says what stays.
func (l *Link) largeOut(ctx context.Context, from, to *os.Root) (told []string, err error) {
	if l.wrong == nil {
		l.wrong = map[string]version{}
	}
	b := large{from: from, to: to, wrong: l.wrong, left: mostLargeBytes}
	if err := b.bring(ctx); err != nil {
		return nil, fmt.Errorf("bringing out what git-lfs keeps: %w", err)
	}
	if b.stays > 0 {
		told = append(told, fmt.Sprintf("Of what git-lfs keeps, %d files stay inside: their content is not what their names say, or they "+
			"have more than %d GiB.", b.stays, mostLargeBytes>>30))
	}
	return told, nil
}

func (b *large) bring(ctx context.Context) error {
	return fs.WalkDir(b.from.FS(), largeFolder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			b.stays++ // a folder that a command closed
			return nil
		case b.files == mostLargeFiles:
			b.stays++
			return fs.SkipAll
		case e.IsDir():
			return nil
		}
		b.files++
		id := path.Base(name)
		if !repository.IsHash(id, sha256.Size) || name != path.Join(largeFolder, id[:2], id[2:4], id) || !e.Type().IsRegular() {
			return nil // one that git-lfs does not read, either
		}
		return b.one(ctx, name, id)
	})
}

// one brings out one file.
func (b *large) one(ctx context.Context, name, id string) error {
	f, err := b.from.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil // gone meanwhile, or closed by a command
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if has, err := b.to.Lstat(name); err == nil && has.Mode().IsRegular() && has.Size() == info.Size() {
		return nil
	}
	is := version{info.Size(), info.ModTime()}
	if b.wrong[name] == is || is.size > b.left {
		b.stays++
		return nil
	}
	b.left -= is.size
	isSound, err := b.copy(ctx, f, is.size, name, id)
	if err == nil && !isSound {
		b.wrong[name] = is
		b.stays++
	}
	return err
}

// copy writes a file under a fresh name, and gives it its own once the content is what that says.
func (b *large) copy(ctx context.Context, f *os.File, size int64, name, id string) (isSound bool, err error) {
	fresh := path.Join("lfs/tmp", "bailiff-"+id)
	if err := errors.Join(b.to.MkdirAll(path.Dir(name), 0o755), b.to.MkdirAll(path.Dir(fresh), 0o755)); err != nil {
		return false, err
	}
	_ = b.to.Remove(fresh)
	out, err := b.to.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false, err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), io.LimitReader(reading{ctx, f}, size))
	isSound = hex.EncodeToString(sum.Sum(nil)) == id
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil && isSound {
		return true, b.to.Rename(fresh, name)
	}
	return false, errors.Join(err, b.to.Remove(fresh))
}

// reading ends with its context.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
