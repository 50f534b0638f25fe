package shell

import (
	"maps"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// overlay is the file system as the text leaves it: the files that the sandbox or the host has, under those that the text writes,
// links, copies, compiles and unpacks. It resolves paths, and tells of what the content of a file is made.
type overlay struct {
	*budget
	*sink
	at value.Place
	// globs are the options that the text sets for wildcards.
	globs value.Globs
	// contents are the files that the text itself writes, by path.
	contents map[string]stream
	// links are those that the text makes, and what they lead to.
	links map[string]string
	// transfers are what gets its content from files, by its path.
	transfers map[string][]transfer
	// built are the programs that are compiled of what the text wrote, by their paths; "" stands for one whose name is not told.
	built []string
	// unpacked are the folders that hold what came from the network.
	unpacked []unpacked
	// started are files that run while the text goes on.
	started []started
	// late says that a started file is being read.
	late bool
	// within are the files that are being read, see [overlay.foundIn].
	within []string
	// madeBy counts the files through which the one that is looked at is made of others.
	madeBy int
}

func newOverlay(b *budget, facts *sink, at value.Place) *overlay {
	return &overlay{budget: b, sink: facts, at: at}
}

// takeOver has an overlay begin with the files that another one wrote and unpacked.
func (fs *overlay) takeOver(other *overlay) {
	fs.contents, fs.globs, fs.unpacked = maps.Clone(other.contents), other.globs, other.unpacked
}
