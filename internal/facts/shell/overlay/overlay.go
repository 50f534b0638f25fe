// Package overlay is the file system as a text leaves it: what the sandbox or the host has, with what the text writes, links,
// copies, compiles and unpacks on top.
//
// Paths resolves the words that name files. Contents is what a file holds: the text's own words, what it hands over by a
// descriptor, or what was found there before. Provenance is of which files the content of another is made. Lookup is what
// programs look for. What is promised: what the text writes counts before what was there; a file that is made of others in a way
// that is not followed is unknown, and belongs to what runs where it runs.
//
// Not here: which call writes or runs which file, and what the content of a file does.
package overlay

import (
	"maps"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// FS is the file system as the text leaves it: the files that the sandbox or the host has, under those that the text writes,
// links, copies, compiles and unpacks. It resolves paths, and tells of what the content of a file is made.
type FS struct {
	*state.Sink
	At value.Place
	// Globs are the options that the text sets for wildcards.
	Globs value.Globs
	// contents are the files that the text itself writes, by path.
	contents map[string]word.Stream
	// links are those that the text makes, and what they lead to.
	links map[string]string
	// transfers are what gets its content from files, by its path.
	transfers map[string][]transfer
	// builds are the programs that are compiled of what the text wrote, by their paths; "" stands for one whose name is not told.
	builds []string
	// downloads are the folders that hold what came from the network.
	downloads []download
	// Aside counts the pipes and background jobs around what is being read, Rounds the loops: a file that is started in one of them
	// may be written afterwards. Piped is the first call of the pipes.
	Aside, Rounds, Piped int
	// starts are files that run while the text goes on.
	starts []start
	// within are the files that are being read, see [FS.Lookup].
	within []string
	// hops counts the files through which the one that is looked at is made of others.
	hops int32
	// late says that a started file is being read.
	late bool
}

// New is the file system of a place where nothing was written yet.
func New(facts *state.Sink, at value.Place) *FS { return &FS{Sink: facts, At: at} }

// TakeOver has an overlay begin with the files that another one wrote and unpacked.
func (fs *FS) TakeOver(other *FS) {
	fs.contents, fs.Globs, fs.downloads = maps.Clone(other.contents), other.Globs, other.downloads
}
