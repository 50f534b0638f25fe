package past

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Place is where a request ran: it reads files, and finds the young ones that match a pattern.
type Place interface {
	Digest(ctx context.Context, workdir string, paths []string) ([]bailiff.File, error)
	Match(ctx context.Context, workdir, pattern string, stems []string) (paths []string, all bool, err error)
}

// Young are the young files of folders that a request may fill from archives, before it runs.
type Young map[string][]string

// YoungIn are those of a folder's origins.
func YoungIn(ctx context.Context, in Place, folder string, origins []bailiff.Origin, before *bailiff.SessionHistory) Young {
	all := Young{}
	isFilled := func(from string) bool {
		return len(before.Runs(folder, []bailiff.File{{Path: from}})) > 0 || slices.ContainsFunc(origins, func(o bailiff.Origin) bool {
			return o.Path == from && o.How != bailiff.Derived
		})
	}
	for _, o := range origins {
		if strings.HasSuffix(o.Path, "/") && slices.ContainsFunc(o.From, isFilled) {
			if paths, isAll, err := in.Match(ctx, folder, o.Path+"**/*", nil); err == nil && isAll {
				all[o.Path] = paths
			}
		}
	}
	return all
}

// Filler tells facts of files that a request filled in a folder.
type Filler struct {
	// In may be nil: then files are known by their paths alone.
	In     Place
	Folder string
	Before *bailiff.SessionHistory
	Young  Young
}

// FilesOf are the facts of origins: each by its content as far as that can be told, else by its path. What is made of other files counts
// if the session filled one of these before. A file that is not there is none, but for one that comes later.
func (f Filler) FilesOf(ctx context.Context, origins []bailiff.Origin) (facts []bailiff.FileFact) {
	for range maxSteps {
		var left []bailiff.Origin
		for _, o := range origins {
			if how := f.howOf(ctx, o, facts); how != "" {
				facts = append(facts, f.filled(ctx, o, how)...)
			} else {
				left = append(left, o)
			}
		}
		if len(left) == len(origins) {
			break
		}
		origins = left
	}
	for _, o := range origins {
		facts = append(facts, f.moved(o)...)
	}
	return facts
}

// maxSteps is how often one request makes files of those that it made, in any order.
const maxSteps = 8

// filled are the facts of one origin.
func (f Filler) filled(ctx context.Context, o bailiff.Origin, how string) []bailiff.FileFact {
	if strings.HasSuffix(o.Path, "/") {
		return f.unpacked(ctx, o, how)
	}
	digest, isThere := f.digest(ctx, o.Path)
	if !isThere && !o.Later && !strings.HasSuffix(o.Path, "*") {
		return nil
	}
	return []bailiff.FileFact{f.fact(o.Path, digest, how)}
}

func (f Filler) at(p string) string { return bailiff.Within(f.Folder, p) }

func (f Filler) fact(p, digest, how string) bailiff.FileFact { return fact(f.at(p), digest, how) }

func fact(at, digest, how string) bailiff.FileFact {
	return bailiff.FileFact{Path: at, SHA256: digest, How: how, At: time.Now().UTC()}
}

// isAround says that a folder is the one where the request ran, or holds it: other files lie there.
func (f Filler) isAround(p string) bool {
	at, here := f.at(p), f.at(".")
	return at == "." || strings.HasPrefix(here+"/", strings.TrimSuffix(at, "/")+"/")
}

// moved are the facts of what lies in a folder, at the place to which that may be copied.
func (f Filler) moved(o bailiff.Origin) (facts []bailiff.FileFact) {
	for _, from := range o.From {
		at := strings.TrimSuffix(f.at(from), "/")
		for _, known := range f.Before.Below(at) {
			to := strings.TrimSuffix(f.at(o.Path), "/") + known.Path[len(at):]
			if o.How == bailiff.Derived && !(strings.HasSuffix(to, "/") && f.isAround(to)) && len(facts) < maxFiles {
				facts = append(facts, fact(to, known.SHA256, known.How))
			}
		}
	}
	return facts
}

// howOf says how a file was filled; empty where it is made of files that the session did not fill.
func (f Filler) howOf(ctx context.Context, o bailiff.Origin, now []bailiff.FileFact) string {
	if len(o.From) == 0 {
		return o.How
	}
	told := func(from string) string {
		if o.How == bailiff.Derived {
			return from
		}
		return o.How
	}
	for _, from := range o.From {
		at := f.at(from)
		for _, known := range now {
			if known.Path == at || strings.HasSuffix(known.Path, "/") && strings.HasPrefix(at, known.Path) {
				return told(known.How)
			}
		}
		digest, _ := f.digest(ctx, from)
		if runs := f.Before.Runs(f.Folder, []bailiff.File{{Path: from, SHA256: digest}}); len(runs) > 0 {
			return told(runs[0].How)
		}
	}
	return ""
}

// unpacked are the files that lie in a folder since the request ran, or the folder where these are too many or cannot be told.
func (f Filler) unpacked(ctx context.Context, o bailiff.Origin, how string) (facts []bailiff.FileFact) {
	whole := o.Path
	if o.Beside != "" {
		whole = o.Beside
	}
	asFolder := []bailiff.FileFact{fact(f.at(path.Clean(whole))+"/", "", how)}
	before, isKnown := f.Young[o.Path]
	if f.In == nil || !isKnown {
		return asFolder
	}
	after, isAll, err := f.In.Match(ctx, f.Folder, o.Path+"**/*", nil)
	for _, p := range after {
		if !slices.Contains(before, p) {
			digest, _ := f.digest(ctx, p)
			facts = append(facts, f.fact(p, digest, how))
		}
	}
	if err != nil || !isAll {
		facts = append(facts, asFolder...)
	}
	return facts
}

// empty is the digest of a file without content, by which nothing is known.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// digest is that of a file; empty where it cannot be told.
func (f Filler) digest(ctx context.Context, at string) (digest string, isThere bool) {
	if f.In == nil {
		return "", true
	}
	files, err := f.In.Digest(ctx, f.Folder, []string{at})
	if err != nil || len(files) != 1 {
		return "", true
	}
	if digest = files[0].SHA256; digest == empty {
		return "", true
	}
	return digest, digest != ""
}
