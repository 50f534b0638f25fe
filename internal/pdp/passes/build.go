package passes

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"io"
	"os"
	"regexp"
	"sync"
)

// Build names the program that runs, with all that is compiled into it, and the machine's time zones, which policies can read.
var Build = sync.OnceValues(func() (build Key, err error) {
	program, err := os.Open(self)
	if err != nil {
		if program, err = openExecutable(); err != nil {
			return Key{}, err
		}
	}
	defer program.Close()
	sum := sha256.New()
	if id := linkedID(program); id != nil {
		writeText(sum, string(id))
	} else if _, err := io.Copy(sum, program); err != nil {
		return Key{}, err
	}
	for _, zones := range []string{"/etc/localtime", "/usr/share/zoneinfo/tzdata.zi"} {
		text, _ := os.ReadFile(zones) // a machine may have neither
		writeText(sum, string(text))
	}
	return Key(sum.Sum(nil)), nil
})

// self is the program that runs, on Linux, though another may lie in its file by now.
const self = "/proc/self/exe"

func openExecutable() (*os.File, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// anID is the form of a program's ID: the digests of what the linker was given, of what it made of that, and of both for what is
// linked; see cmd/go/internal/work/buildid.go. Another form may have been given by hand, and be that of many builds.
var anID = regexp.MustCompile(`^[\w-]{20}/[\w-]{20}/[\w-]{20}/[\w-]{20}$`)

// linkedID is the ID that Go's linker gives a program of ELF: a digest of all that it was made of. Nil where it has none.
func linkedID(program io.ReaderAt) []byte {
	file, err := elf.NewFile(program)
	if err != nil {
		return nil
	}
	section := file.Section(".note.go.buildid")
	if section == nil {
		return nil
	}
	note, err := section.Data()
	const head = 16 // sizes, kind and the name "Go"
	if err != nil || len(note) < head {
		return nil
	}
	if id := bytes.TrimRight(note[head:], "\x00"); anID.Match(id) {
		return id
	}
	return nil
}
