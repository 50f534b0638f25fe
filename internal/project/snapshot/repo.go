package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/keeper"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Where a job sees a folder and its store.
const (
	project = "/project"
	store   = "/store"
)

// mostSaid bounds what a job says, but for contents: names of files, mostly.
const mostSaid = 256 << 20

// settings are those of a store: files are taken as they are, and what is written is on disk.
const settings = `[core]
	repositoryformatversion = 0
	bare = false
	filemode = true
	symlinks = true
	ignorecase = false
	protectNTFS = false
	protectHFS = false
	looseCompression = 0
	fsync = objects
	fsyncMethod = batch
[pack]
	compression = 0
`

// attributes let no filter run, and change no byte.
const attributes = "* -text -filter -ident -eol -working-tree-encoding\n"

// makeRepo makes the store of a folder, unless it is there, and takes away what a killed job left.
func (f *folder) makeRepo() error {
	repo := f.repo()
	for _, dir := range []string{"objects", "refs", "info", "in"} {
		if err := os.MkdirAll(filepath.Join(repo, dir), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": settings, "info/attributes": attributes} {
		if err := records.Write(filepath.Join(repo, name), []byte(text), false); err != nil {
			return err
		}
	}
	for _, name := range []string{"files.lock", "ignored.lock"} {
		if err := os.Remove(filepath.Join(repo, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// run runs a script of sh with git as "$@" on a folder's store. The script is part of the program.
func (s *Store) run(ctx context.Context, f *folder, script string, stdin []byte) ([]byte, error) {
	j := s.job(f, script)
	var said bytes.Buffer
	j.Stdin, j.Stdout, j.MaxOutput = bytes.NewReader(stdin), &said, mostSaid
	if err := s.config.Jobs.Run(ctx, j); err != nil {
		return nil, worded(err)
	}
	return said.Bytes(), nil
}

func (s *Store) job(f *folder, script string) keeper.Job {
	return keeper.Job{
		Binds: []keeper.Bind{{Source: f.path, Target: project}, {Source: f.repo(), Target: store, Writable: true}},
		Dir:   project,
		Args:  append([]string{"sh", "-ec", script, "sh"}, keeper.GitArgs(store)...),
		Env:   []string{"GIT_WORK_TREE=" + project, "GIT_INDEX_FILE=" + store + "/files"},
	}
}

// worded says what a job's program said, since its arguments are a script.
func worded(err error) error {
	var failure *keeper.Failure
	if errors.As(err, &failure) && failure.Stderr != "" {
		return fmt.Errorf("git: %w: %s", failure.Err, failure.Stderr)
	}
	if errors.As(err, &failure) {
		return fmt.Errorf("git: %w", failure.Err)
	}
	return err
}

// give writes a list of names where a job reads it.
func (f *folder) give(name string, list []string) error {
	var text strings.Builder
	for _, one := range list {
		text.WriteString(one)
		text.WriteByte(0)
	}
	return os.WriteFile(filepath.Join(f.repo(), "in", name), []byte(text.String()), 0o600)
}

// lists splits what a script says: lists of names that each end with an empty one.
func lists(said []byte, count int) ([][]string, error) {
	all := make([][]string, 1, count+1)
	for name := range strings.SplitSeq(string(said), "\x00") {
		if name == "" {
			all = append(all, nil)
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], name)
	}
	if len(all) < count {
		return nil, fmt.Errorf("git gave %d of %d lists", len(all), count)
	}
	return all, nil
}
