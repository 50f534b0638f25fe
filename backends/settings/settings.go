// Package settings is what sections of bailiff.yaml are made of. A package that has a section
// says which keys it has, each a [Setting]; package config reads them.
//
// Secrets are no settings: a [Credential] says where one is kept, and reads it at each
// use.
//
// Not here: how a file is written, and what any section means.
package settings

// Setting is one key of a section.
type Setting struct {
	Key string
	// Into is where the value goes, and what it holds before is the default:
	// *string, *[]string, *bool, *int, *float64 (from 0 to 1), *time.Duration or
	// *Credential. A []Setting is a section below this one.
	Into any
	// Path says that a text, or each of a list, is a path of this machine: one that is
	// relative to the file, or starts with ~, is made absolute.
	Path bool
	// Valid are the only texts that there may be, in a list too; empty means any.
	Valid []string
	// Check says of a text or path, or of each of a list, what would be right, as in
	// "want unix:///path or tcp://host:port". Nil takes any that is not empty.
	Check func(value string) error
	// Present says of a text or path, or of each of a list, what is wrong with what it
	// names on this machine now. It is asked by who checks a configuration, not when one
	// is read: what a sidecar uses again and again is judged at each use. An error that is
	// a [Doubt] need not be wrong where the sidecar runs. Nil finds nothing, nor does a
	// value that the file leaves out.
	Present func(value string) error
	// Least and Most bound a number, or a duration in seconds.
	Least, Most int
}
