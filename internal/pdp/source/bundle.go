package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// A bundle, as "opa build" makes it, is a folder of policies in one archive. What is
// in there is read as files of a folder are; its manifest says which revision it is,
// to people. Nothing in it is run that is not Rego.

// manifest is where a bundle says what it is.
const manifest = ".manifest"

// maxUnpacked bounds what a bundle may hold, in bytes.
const maxUnpacked = 64 << 20

// Archive is a bundle that was fetched. With a key it must be signed by that.
type Archive struct {
	// Name is what its files are named after.
	Name string
	Text []byte
	Key  *Key
}

// Files are those in the bundle, if it is signed as it must be.
func (a *Archive) Files() ([]File, Faults) { return unpacked(a.Name, bytes.NewReader(a.Text), a.Key) }

func isBundle(p string) bool { return strings.HasSuffix(p, ".tar.gz") }

func readBundle(name string) ([]File, Faults) {
	archive, err := openRegular(name)
	if err != nil {
		return nil, Faults{Unreadable(name, err)}
	}
	defer archive.Close()
	return unpacked(name, archive, nil)
}

func unpacked(name string, archive io.Reader, key *Key) (files []File, faults Faults) {
	members, err := unpack(archive)
	if err != nil {
		return nil, Faults{{File: name, Message: fmt.Sprintf("this is no bundle as opa build makes it: %v", err)}}
	}
	if err := key.check(members); err != nil {
		return nil, Faults{{File: name, Message: err.Error()}}
	}
	for _, f := range members {
		if f.Archive, f.Name = name, name+"/"+f.Place; f.IsManifest() || isPolicyFile(f.Place) {
			files = append(files, f)
		}
	}
	return files, nil
}

// unpack returns all that is in an archive.
func unpack(archive io.Reader) (files []File, err error) {
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return nil, err
	}
	bounded := &io.LimitedReader{R: plain, N: maxUnpacked}
	members := tar.NewReader(bounded)
	room := int64(maxUnpacked) // in memory: a sparse file takes none in the archive
	for seen := map[string]bool{}; ; {
		f, err := next(members, room)
		switch {
		case bounded.N == 0:
			return nil, errTooMuch
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case seen[f.Place]:
			return nil, fmt.Errorf("it holds %s twice", f.Place)
		}
		seen[f.Place] = true
		room -= int64(len(f.Text))
		files = append(files, f)
	}
}

var errTooMuch = fmt.Errorf("it holds more than %d MiB", maxUnpacked>>20)

// next is the next file of an archive, for which there is so much room.
func next(members *tar.Reader, room int64) (File, error) {
	head, err := members.Next()
	for err == nil && head.Typeflag == tar.TypeDir {
		head, err = members.Next()
	}
	if err != nil {
		return File{}, err
	}
	place := strings.TrimPrefix(path.Clean("/"+head.Name), "/")
	if head.Typeflag != tar.TypeReg {
		return File{}, fmt.Errorf("%s is no file", place)
	}
	if why := notRego(place); why != "" {
		return File{}, fmt.Errorf("%s %s", place, why)
	}
	if head.Size > room {
		return File{}, errTooMuch
	}
	text, err := io.ReadAll(members)
	return File{Place: place, Text: text}, err
}

// notRego says why a bundle with such a file would not decide as it was meant to.
func notRego(place string) string {
	switch {
	case place == "patch.json":
		return "changes another bundle, want a whole one"
	case path.Ext(place) == ".wasm" || place == "plan.json":
		return "is a compiled policy, want Rego: build it without --target"
	}
	return ""
}

// RevisionIn reads a manifest.
func RevisionIn(f File) (string, Faults) {
	var said struct {
		Revision string `json:"revision"`
	}
	if err := json.Unmarshal(f.Text, &said); err != nil {
		return "", Faults{{File: f.Name, Line: LineOf(err, f.Text), Message: "this is no valid manifest: " + err.Error()}}
	}
	return said.Revision, nil
}
