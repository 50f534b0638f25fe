package offline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
)

// replay judges a row after what its session did: each earlier request is judged, and remembered by what became of it.
func (j *RowJudge) replay(ctx context.Context, row rows.Row) bailiff.Judgement {
	store, on := past.InMemory(), told{}
	for _, earlier := range row.Before {
		req := j.request(earlier.Of(row))
		judged := j.recall(ctx, req, store, on)
		f := past.Filler{Folder: req.Args.Workdir, Before: store.Of(req)}
		if f.In = on.place(); f.In != nil {
			f.Young = past.YoungIn(ctx, f.In, f.Folder, judged.Origins, f.Before)
		}
		on.hold(f.Folder, earlier.Files)
		f.In = on.place()
		did := past.DeedOf(req, judged)
		if did.Ran = earlier.Outcome != rows.Denied; did.Ran {
			did.Denied = false
			did.Done(judged, f.FilesOf(ctx, judged.Origins))
		} else {
			did.Denied = true
		}
		store.Add(req, did)
	}
	req := j.request(row)
	on.hold(req.Args.Workdir, row.Files)
	return j.recall(ctx, req, store, on)
}

// recall judges a request by the content of the files that it runs.
func (j *RowJudge) recall(ctx context.Context, req bailiff.Request, store *past.Store, on told) bailiff.Judgement {
	judged := j.decide(ctx, req, store.Of(req), nil)
	if len(on) == 0 || len(judged.Loads) == 0 {
		return judged
	}
	files, _ := on.Digest(ctx, req.Args.Workdir, judged.Loads) // which cannot fail
	return j.decide(ctx, req, store.Of(req), files)
}

// told are the files of a recorded session, by their paths, with their contents.
type told map[string]string

func (t told) hold(folder string, files map[string]string) {
	for p, text := range files {
		t[bailiff.Within(folder, p)] = text
	}
}

// place is nil where nothing is told of files.
func (t told) place() past.Place {
	if len(t) == 0 {
		return nil
	}
	return t
}

// Digest tells the digests of files. One of which nothing is told is not there.
func (t told) Digest(_ context.Context, folder string, paths []string) (files []bailiff.File, err error) {
	for _, p := range paths {
		f := bailiff.File{Path: p}
		if text := t[bailiff.Within(folder, p)]; text != "" {
			sum := sha256.Sum256([]byte(text))
			f.SHA256 = hex.EncodeToString(sum[:])
		}
		files = append(files, f)
	}
	return files, nil
}

// Match finds all files below the folder of a pattern that ends in "**/*".
func (t told) Match(_ context.Context, folder, pattern string, _ []string) (paths []string, all bool, err error) {
	below, ok := strings.CutSuffix(pattern, "**/*")
	if !ok {
		return nil, false, errors.ErrUnsupported
	}
	for _, p := range slices.Sorted(maps.Keys(t)) {
		if strings.HasPrefix(p, filepath.Clean(bailiff.Within(folder, below))+"/") {
			paths = append(paths, p)
		}
	}
	return paths, true, nil
}
