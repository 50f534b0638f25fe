// Package source reads the files of policies, as they lie in folders and bundles, before anything is made of them.
//
// Here: files ([File]) of folders, of the program itself and of bundles of "opa build"; the signatures of bundles ([Key]); the
// revision and the digest of a set of files; what is wrong with policies and where ([Fault]).
//
// Promised: a set is read until two readings agree, so that it is never half of two versions. Files that others may write or
// replace are refused, what is no file is never opened, and a bundle that was not signed as it is is refused where a key is named.
//
// Not here: what the files say (package policyset).
package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/policies"
)

// File is one file as it was read, before anything is made of it.
type File struct {
	// name is where it lies, for people; place is where it lies below the path
	// that was configured, which decides where data appears.
	Name, Place string
	Text        []byte
	// archive is the bundle that holds it; empty where it lies by itself.
	Archive string
}

// These say what a file is by its name.
func (f File) IsTest() bool     { return strings.HasSuffix(f.Place, "_test.rego") }
func (f File) IsSchema() bool   { return isSchema(f.Place) }
func (f File) IsManifest() bool { return f.Archive != "" && f.Place == manifest }
func (f File) IsData() bool     { return !f.IsSchema() && isData(path.Base(f.Place)) }

// MayPrint says whether a file of Rego may print.
func (f File) MayPrint() bool { return path.Ext(f.Place) == ".rego" && prints.Match(f.Text) }

var prints = regexp.MustCompile(`\bprint\s*\(`)

// isSchema tells the schema of the input document, which is no data.
func isSchema(place string) bool {
	return place == "schema/input.json" || strings.HasSuffix(place, "/schema/input.json")
}

func isData(base string) bool { return base == "data.yaml" || base == "data.json" }

// isPolicyFile says whether a file is part of a set of policies.
func isPolicyFile(place string) bool {
	if isSchema(place) {
		return true
	}
	return path.Ext(place) == ".rego" || isData(path.Base(place)) && path.Base(path.Dir(place)) != "schema"
}

// ReadAll reads what lies at the paths, or the embedded policies if there are
// none. The files come in one order, however they were found.
func ReadAll(paths []string) ([]File, Faults) {
	if len(paths) == 0 {
		return readTree(policies.FS, ".", "")
	}
	var files []File
	var faults Faults
	for _, p := range paths {
		more, wrong := readPath(p)
		files, faults = append(files, more...), append(faults, wrong...)
	}
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Name == b.Name }), faults
}

func readPath(p string) ([]File, Faults) {
	p = filepath.Clean(p)
	about, err := os.Stat(p)
	switch {
	case err != nil:
		return nil, Faults{Unreadable(p, err)}
	case about.IsDir():
		return readTree(folder(p), ".", p)
	case isBundle(p):
		return readBundle(p)
	case !isPolicyFile(filepath.Base(p)):
		return nil, Faults{{File: p, Message: "this is no policy: want a folder, a .rego file, data.yaml, data.json or a bundle (.tar.gz)"}}
	}
	text, err := fs.ReadFile(folder(filepath.Dir(p)), filepath.Base(p))
	if err != nil {
		return nil, Faults{Unreadable(p, err)}
	}
	return []File{{Name: p, Place: filepath.Base(p), Text: text}}, nil
}

// folder is a folder of the disk of which nothing is opened but files and folders: to open a FIFO would wait for who writes to it.
type folder string

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return openRegular(filepath.Join(string(f), name))
}

func (f folder) Stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(string(f), name))
}

// openRegular opens a file or a folder, however its name leads to it.
func openRegular(name string) (*os.File, error) {
	opened, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		err = errNoFile // a socket
	}
	if err != nil {
		return nil, err
	}
	about, err := opened.Stat()
	if err == nil && !about.Mode().IsRegular() && !about.IsDir() {
		err = errNoFile
	}
	if err != nil {
		_ = opened.Close()
		return nil, err
	}
	return opened, nil
}

var errNoFile = errors.New("this is a FIFO, a socket or a device: want a file")

// readTree reads a folder with everything in it. Symbolic links are followed,
// since that is what a mounted ConfigMap consists of; names that begin with a
// dot are not, since there lie the versions that those links lead to.
func readTree(tree fs.FS, folder, root string) ([]File, Faults) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, Faults{Unreadable(filepath.Join(root, folder), err)}
	}
	var files []File
	var faults Faults
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		more, wrong := readEntry(tree, path.Join(folder, e.Name()), root)
		files, faults = append(files, more...), append(faults, wrong...)
	}
	return files, faults
}

// MaxDepth ends a folder that holds a link to itself.
const MaxDepth = 16

func readEntry(tree fs.FS, place, root string) ([]File, Faults) {
	name := filepath.Join(root, place)
	about, err := fs.Stat(tree, place)
	switch {
	case err != nil && !isPolicyFile(place) && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, Faults{Unreadable(name, err)}
	case about.IsDir() && strings.Count(place, "/") >= MaxDepth:
		return nil, Faults{{File: name, Message: "the folders are nested too deeply; does a link lead back to one of them?"}}
	case about.IsDir():
		return readTree(tree, place, root)
	case !isPolicyFile(place):
		return nil, nil
	case !about.Mode().IsRegular():
		return nil, Faults{Unreadable(name, errNoFile)}
	}
	text, err := fs.ReadFile(tree, place)
	if err != nil {
		return nil, Faults{Unreadable(name, err)}
	}
	return []File{{Name: name, Place: place, Text: text}}, nil
}

// Unreadable is that a file cannot be read.
func Unreadable(name string, err error) Fault {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return Fault{File: name, Message: fmt.Sprintf("reading it: %v", err)}
}

// ReadTrusted reads like readAll, and refuses files that others may write or
// replace. Asking about every file asks about every folder on its way too, and
// lets be what is no policy, such as the lock of an editor.
func ReadTrusted(paths []string) ([]File, Faults) {
	files, faults := readSettled(paths)
	if len(paths) == 0 || len(faults) > 0 {
		return files, faults
	}
	told := map[string]bool{} // a folder that others may write is one fault, though all files in it have it
	for _, f := range files {
		onDisk := cmp.Or(f.Archive, f.Name)
		if err := trust.Path(onDisk); err != nil && !told[err.Error()] {
			told[err.Error()] = true
			faults = append(faults, Fault{File: onDisk, Message: err.Error()})
		}
	}
	return files, faults.Sorted()
}

// settling is how often files are read anew that change while they are read.
const settling = 20

// readSettled reads until two readings agree: a folder that is swapped for
// another while it is read would give files of both.
func readSettled(paths []string) ([]File, Faults) {
	files, faults := ReadAll(paths)
	for range settling {
		again, wrong := ReadAll(paths)
		if Digest(files) == Digest(again) && faults.Error() == wrong.Error() {
			return files, faults
		}
		files, faults = again, wrong
	}
	return files, append(faults, Fault{Message: "the files of the policies change faster than they can be read: replace a whole folder " +
		"at once"})
}

// Revision is the SHA-256 over the places and contents of all files that take
// part in a decision: two copies of the same policies have one revision.
func Revision(files []File) string {
	return Digest(slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.IsTest() || f.IsSchema() || f.IsManifest() }))
}

// RevisionOf is the revision that policies in these places have, once they are in force.
func RevisionOf(paths []string) (string, error) {
	files, faults := ReadTrusted(paths)
	if len(faults) > 0 {
		return "", faults
	}
	return Revision(files), nil
}

// Digest is the SHA-256 over places and contents.
func Digest(files []File) string {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(a.Place, b.Place) })
	sum := sha256.New()
	for _, f := range files {
		WriteParts(sum, []byte(f.Place), f.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// WriteParts writes each part with its length, so that no parts are written as others are.
func WriteParts(sum hash.Hash, parts ...[]byte) {
	for _, part := range parts {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(part)))
		_, _ = sum.Write(part)
	}
}
