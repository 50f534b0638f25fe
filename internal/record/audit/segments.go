package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

var segmentPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{4}-[0-9]{2}-[0-9]{2}\.jsonl$`)

func segmentName(number int, day string) string { return fmt.Sprintf("%08d-%s.jsonl", number, day) }

// numberOf is a segment's number; 0 for the empty name.
func numberOf(segment string) int {
	number, _, _ := strings.Cut(segment, "-")
	n, _ := strconv.Atoi(number)
	return n
}

func decisionsDir(stateDir string) string { return filepath.Join(stateDir, "decisions") }

// segments returns the names of the log's segments in order, and of files that
// look like some but are none.
func segments(stateDir string) (names, strays []string, err error) {
	entries, err := os.ReadDir(decisionsDir(stateDir))
	for _, e := range entries {
		switch {
		case segmentPattern.MatchString(e.Name()):
			names = append(names, e.Name())
		case strings.HasSuffix(e.Name(), ".jsonl"):
			strays = append(strays, e.Name())
		}
	}
	return names, strays, err
}

// customOf is the end of a line, from where bailiff's own part of the event begins: no
// key custom comes after it. It is empty if there is none.
func customOf(line []byte) []byte {
	key := []byte(`,"custom":`)
	if at := bytes.LastIndex(line, key); at >= 0 {
		return line[at+len(key):]
	}
	return nil
}

// timeOf is when the event of a line happened.
func timeOf(line []byte) (time.Time, error) {
	event, err := api.ReadLine(line)
	return event.Timestamp, err
}

// timeAt is when the event happened whose line begins at an offset; it is zero at
// the end of the file.
func timeAt(path string, offset int64) (at time.Time, err error) {
	_, err = lines(path, offset, func(line []byte, _ int64) error {
		if at, err = timeOf(line); err != nil {
			return err
		}
		return io.EOF
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return at, err
}

// lines reads a file line by line from an offset. It gives each whole line,
// without its break, and returns how many bytes after the last one have none.
func lines(path string, offset int64, give func(line []byte, end int64) error) (rest int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	reader := bufio.NewReaderSize(file, 1<<18)
	for {
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			return int64(len(line)), nil
		}
		if err != nil {
			return 0, err
		}
		offset += int64(len(line))
		if err := give(line[:len(line)-1], offset); err != nil {
			return 0, err
		}
	}
}

// readLine returns the next line with its break, valid until the next call.
func readLine(reader *bufio.Reader) ([]byte, error) {
	line, err := reader.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := append([]byte(nil), line...)
	rest, err := reader.ReadBytes('\n')
	return append(long, rest...), err
}
