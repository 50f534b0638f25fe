package backends

import "log/slog"

// Catalogue holds the technologies that a sidecar knows, by the names that
// decisions use: what makes a section with its defaults.
type Catalogue map[string]func() Maker

// Maker is the section of one backend in bailiff.yaml, holding its defaults until
// the file has been read, and makes the backend of it.
type Maker interface {
	// Settings are the keys of the section.
	Settings() []Setting
	// Check says what is wrong with the section as a whole, once it has been read.
	Check() error
	// Isolated says what the backend will.
	Isolated() bool
	// DefaultImage is what sandboxes are made of where the policies name nothing; empty
	// if there are no images.
	DefaultImage() string
	// Make makes the backend. It talks to nobody yet.
	Make(in House) (Backend, error)
}

// House is what a sidecar gives each of its backends.
type House struct {
	// Runner is the path of the bailiff-runner program.
	Runner string
	// StateDir is a folder for the backend alone, which need not exist yet.
	StateDir string
	Log      *slog.Logger
}
