package pdp

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

// file is one file as it was read, before anything is made of it.
type file struct {
	// name is where it lies, for people; place is where it lies below the path
	// that was configured, which decides where data appears.
	name, place string
	text        []byte
	// archive is the bundle that holds it; empty where it lies by itself.
	archive string
}

func (f file) isTest() bool     { return strings.HasSuffix(f.place, "_test.rego") }
func (f file) isSchema() bool   { return isSchema(f.place) }
func (f file) isManifest() bool { return f.archive != "" && f.place == manifest }
func (f file) isData() bool     { return !f.isSchema() && isData(path.Base(f.place)) }

// mayPrint says whether a file of Rego may print.
func (f file) mayPrint() bool { return path.Ext(f.place) == ".rego" && prints.Match(f.text) }

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

// readAll reads what lies at the paths, or the embedded policies if there are
// none. The files come in one order, however they were found.
func readAll(paths []string) ([]file, Faults) {
	if len(paths) == 0 {
		return readTree(policies.FS, ".", "")
	}
	var files []file
	var faults Faults
	for _, p := range paths {
		more, wrong := readPath(p)
		files, faults = append(files, more...), append(faults, wrong...)
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return slices.CompactFunc(files, func(a, b file) bool { return a.name == b.name }), faults
}

func readPath(p string) ([]file, Faults) {
	p = filepath.Clean(p)
	about, err := os.Stat(p)
	switch {
	case err != nil:
		return nil, Faults{unreadable(p, err)}
	case about.IsDir():
		return readTree(folder(p), ".", p)
	case isBundle(p):
		return readBundle(p)
	case !isPolicyFile(filepath.Base(p)):
		return nil, Faults{{File: p, Message: "this is no policy: want a folder, a .rego file, data.yaml, data.json or a bundle (.tar.gz)"}}
	}
	text, err := fs.ReadFile(folder(filepath.Dir(p)), filepath.Base(p))
	if err != nil {
		return nil, Faults{unreadable(p, err)}
	}
	return []file{{name: p, place: filepath.Base(p), text: text}}, nil
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
func readTree(tree fs.FS, folder, root string) ([]file, Faults) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, Faults{unreadable(filepath.Join(root, folder), err)}
	}
	var files []file
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

// maxDepth ends a folder that holds a link to itself.
const maxDepth = 16

func readEntry(tree fs.FS, place, root string) ([]file, Faults) {
	name := filepath.Join(root, place)
	about, err := fs.Stat(tree, place)
	switch {
	case err != nil && !isPolicyFile(place) && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, Faults{unreadable(name, err)}
	case about.IsDir() && strings.Count(place, "/") >= maxDepth:
		return nil, Faults{{File: name, Message: "the folders are nested too deeply; does a link lead back to one of them?"}}
	case about.IsDir():
		return readTree(tree, place, root)
	case !isPolicyFile(place):
		return nil, nil
	case !about.Mode().IsRegular():
		return nil, Faults{unreadable(name, errNoFile)}
	}
	text, err := fs.ReadFile(tree, place)
	if err != nil {
		return nil, Faults{unreadable(name, err)}
	}
	return []file{{name: name, place: place, text: text}}, nil
}

func unreadable(name string, err error) Fault {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return Fault{File: name, Message: fmt.Sprintf("reading it: %v", err)}
}

// readTrusted reads like readAll, and refuses files that others may write or
// replace. Asking about every file asks about every folder on its way too, and
// lets be what is no policy, such as the lock of an editor.
func readTrusted(paths []string) ([]file, Faults) {
	files, faults := readSettled(paths)
	if len(paths) == 0 || len(faults) > 0 {
		return files, faults
	}
	told := map[string]bool{} // a folder that others may write is one fault, though all files in it have it
	for _, f := range files {
		onDisk := cmp.Or(f.archive, f.name)
		if err := trust.Path(onDisk); err != nil && !told[err.Error()] {
			told[err.Error()] = true
			faults = append(faults, Fault{File: onDisk, Message: err.Error()})
		}
	}
	return files, faults.sorted()
}

// settling is how often files are read anew that change while they are read.
const settling = 20

// readSettled reads until two readings agree: a folder that is swapped for
// another while it is read would give files of both.
func readSettled(paths []string) ([]file, Faults) {
	files, faults := readAll(paths)
	for range settling {
		again, wrong := readAll(paths)
		if digest(files) == digest(again) && faults.Error() == wrong.Error() {
			return files, faults
		}
		files, faults = again, wrong
	}
	return files, append(faults, Fault{Message: "the files of the policies change faster than they can be read: replace a whole folder " +
		"at once"})
}

// revision is the SHA-256 over the places and contents of all files that take
// part in a decision: two copies of the same policies have one revision.
func revision(files []file) string {
	return digest(slices.DeleteFunc(slices.Clone(files), func(f file) bool { return f.isTest() || f.isSchema() || f.isManifest() }))
}

// RevisionOf is the revision that policies in these places have, once they are in force.
func RevisionOf(paths []string) (string, error) {
	files, faults := readTrusted(paths)
	if len(faults) > 0 {
		return "", faults
	}
	return revision(files), nil
}

// digest is the SHA-256 over places and contents.
func digest(files []file) string {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(a.place, b.place) })
	sum := sha256.New()
	for _, f := range files {
		writeParts(sum, []byte(f.place), f.text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// writeParts writes each part with its length, so that no parts are written as others are.
func writeParts(sum hash.Hash, parts ...[]byte) {
	for _, part := range parts {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(part)))
		_, _ = sum.Write(part)
	}
}
