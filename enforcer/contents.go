package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
)

const (
	// maxContents bounds the text of all files that is judged with a request, in bytes.
	maxContents = 256 << 10
	// maxRead is how many files are read, maxLooked how many names are looked at, which need
	// not be there, and maxRounds how often the text of files may name more of them.
	maxRead, maxLooked, maxRounds = 64, 1024, 8
)

// budget is what is left of these bounds. Of a file beyond those of texts only the age is found; one beyond the looks may be
// anything.
type budget struct{ bytes, files, looks int }

// texts is how many bytes the text of the next file may have.
func (b budget) texts() int {
	if b.files <= 0 {
		return 0
	}
	return b.bytes
}

// finder finds files of a sandbox; [lease.Hold] is one.
type finder interface {
	Read(ctx context.Context, workdir, path string, most int) (bailiff.Content, error)
	Match(ctx context.Context, workdir, pattern string, stems []string) (paths []string, all bool, err error)
}

// unread reads those of a request's files that were not read yet: those that its text runs, and
// those on which it may depend.
func (m *judged) unread(ctx context.Context, left *budget) (more []bailiff.Content, err error) {
	for paths := slices.Concat(m.Files, m.Opens, m.modules.files); len(paths) > 0; paths = paths[1:] {
		path := paths[0]
		known := func(c bailiff.Content) bool { return c.Path == path }
		if slices.ContainsFunc(m.contents, known) || slices.ContainsFunc(more, known) {
			continue
		}
		content, matches, err := left.find(ctx, m.held, m.located.Args.Workdir, path)
		if err != nil {
			return nil, fmt.Errorf("%w: reading those that the command runs: %w", errFiles, err)
		}
		paths = append(paths, matches...)
		left.take(content)
		more = append(more, content)
	}
	return more, nil
}

// find is what a file holds, or the files that a pattern of names matches.
func (b budget) find(ctx context.Context, in finder, workdir, path string) (c bailiff.Content, matches []string, err error) {
	c.File.Path = path
	switch {
	case b.looks <= 0:
		c.Recent = true
		return c, nil, nil
	case isPattern(path):
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

// isPattern says that a name stands for the files that it matches, and all of it is known.
func isPattern(path string) bool {
	return strings.ContainsAny(path, "*?[") && !strings.ContainsAny(path, `$(\`)
}

// take counts a file that was looked at.
func (b *budget) take(c bailiff.Content) {
	b.looks--
	b.bytes -= len(c.Text)
	if c.Kind != bailiff.ContentMissing {
		b.files--
	}
}

// changedFile is a file that is not what was read.
func changedFile(contents []bailiff.Content, files []bailiff.File) string {
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
