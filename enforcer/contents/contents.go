// Package contents reads files of a sandbox whose text is judged with a request, within bounds.
//
// Here: one file, or the files that a pattern of names matches ([Budget.Find]), and whether they are still what was read ([Changed]).
//
// Promised: a file beyond the bounds is never taken for one that is known.
//
// Not here: which files belong to a request (package facts), and in which order they are read (enforcer).
package contents

import (
	"context"
	"errors"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

// Budget is what is left of the bounds: the text of files in bytes, how many of them are read, and how many names are looked at,
// which need not be there. Of a file beyond those of texts only the age is found; one beyond the looks may be anything.
type Budget struct{ Bytes, Files, Looks int }

// Whole is the budget of a request.
func Whole() Budget { return Budget{256 << 10, 64, 1024} }

// MaxRounds is how often the text of files may name more of them.
const MaxRounds = 8

// texts is how many bytes the text of the next file may have.
func (b Budget) texts() int {
	if b.Files <= 0 {
		return 0
	}
	return b.Bytes
}

// Finder finds files of a sandbox.
type Finder interface {
	Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error)
	Match(ctx context.Context, workdir, pattern string, stems []string) (paths []string, all bool, err error)
}

// Find is what a file holds, or the files that a pattern of names matches.
func (b Budget) Find(ctx context.Context, in Finder, workdir, path string) (c bailiff.Content, matches []string, err error) {
	c.File.Path = path
	switch {
	case b.Looks <= 0:
		c.Recent = true
		return c, nil, nil
	case IsPattern(path):
		var all bool
		if matches, all, err = in.Match(ctx, workdir, path, nil); err == nil {
			if c.Recent = !all; all {
				c.Kind = bailiff.ContentMissing
			}
			return c, matches, nil
		}
	default:
		if c, err = in.Read(ctx, workdir, path, b.texts()); err == nil {
			if isProgram(c.Text) {
				c.Text, c.Kind = "", bailiff.ContentCompiled
			}
			return c, nil, nil
		}
	}
	if errors.Is(err, errors.ErrUnsupported) || ctx.Err() != nil {
		return c, nil, err
	}
	// It is no plain file, so that its content is what comes; or its name leaves it open.
	return bailiff.Content{File: bailiff.File{Path: path}, Recent: !strings.ContainsAny(path, "*?[$(")}, nil, nil
}

// IsPattern says that a name stands for the files that it matches, and all of it is known.
func IsPattern(path string) bool {
	return strings.ContainsAny(path, "*?[") && !strings.ContainsAny(path, `$(\`)
}

// Take counts a file that was looked at.
func (b *Budget) Take(c bailiff.Content) {
	b.Looks--
	b.Bytes -= len(c.Text)
	if c.Kind != bailiff.ContentMissing {
		b.Files--
	}
}

// Changed is a file that is not what was read.
func Changed(contents []bailiff.Content, files []bailiff.File) string {
	for _, c := range contents {
		for _, f := range files {
			if c.SHA256 != "" && c.Path == f.Path && c.SHA256 != f.SHA256 {
				return c.Path
			}
		}
	}
	return ""
}

// isProgram says that a file's content is machine code, by the marks that Linux' and macOS'
// executables begin with.
func isProgram(text string) bool {
	return strings.HasPrefix(text, "\x7fELF") || strings.HasPrefix(text, "\xcf\xfa\xed\xfe") || strings.HasPrefix(text, "\xca\xfe\xba\xbe")
}
