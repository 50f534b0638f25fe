package past

import (
	"context"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Digester reads files where a request ran.
type Digester interface {
	Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error)
}

// FilesOf are the facts of files that a request filled, in a folder: each by its content as far as in can tell that, which may be nil,
// else by its path. What is compiled or copied of other files counts if the session filled one of these before. A file that is not
// there is none.
func FilesOf(ctx context.Context, in Digester, folder string, origins []bailiff.Origin,
	before *bailiff.SessionHistory) (facts []bailiff.FileFact) {
	for _, o := range origins {
		how := howOf(ctx, in, folder, o, before, facts)
		if how == "" {
			continue
		}
		digest, isThere := digestOf(ctx, in, folder, o.Path)
		if isThere {
			facts = append(facts, bailiff.FileFact{Path: bailiff.Within(folder, o.Path), SHA256: digest, How: how, At: time.Now().UTC()})
		}
	}
	return facts
}

// howOf says how a file was filled; empty where it is made of files that the session did not fill.
func howOf(ctx context.Context, in Digester, folder string, o bailiff.Origin, before *bailiff.SessionHistory,
	now []bailiff.FileFact) string {
	if len(o.From) == 0 {
		return o.How
	}
	for _, from := range o.From {
		at := bailiff.Within(folder, from)
		if slices.ContainsFunc(now, func(f bailiff.FileFact) bool { return f.Path == at }) {
			return o.How
		}
		digest, _ := digestOf(ctx, in, folder, from)
		if len(before.Runs(folder, []bailiff.File{{Path: from, SHA256: digest}})) > 0 {
			return o.How
		}
	}
	return ""
}

// empty is the digest of a file without content, by which nothing is known.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// digestOf is that of a file; empty where it cannot be told.
func digestOf(ctx context.Context, in Digester, folder, at string) (digest string, isThere bool) {
	if in == nil {
		return "", true
	}
	files, err := in.Digest(ctx, folder, []string{at})
	if err != nil || len(files) != 1 {
		return "", true
	}
	if digest = files[0].SHA256; digest == empty {
		return "", true
	}
	return digest, digest != ""
}
