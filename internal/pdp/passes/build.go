package passes

import (
	"crypto/sha256"
	"debug/elf"
	"io"
	"os"
	"sync"
)

// Build names the program that runs, with all that is compiled into it.
var Build = sync.OnceValues(func() (Key, error) {
	program, err := os.Open(self)
	if err != nil {
		if program, err = openExecutable(); err != nil {
			return Key{}, err
		}
	}
	defer program.Close()
	if id := linkedID(program); len(id) > 0 {
		return sha256.Sum256(append([]byte("id\x00"), id...)), nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, program); err != nil {
		return Key{}, err
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
	id, err := section.Data()
	if err != nil {
		return nil
	}
	return id
}
