package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Read gives every line of logs, without its line break and valid during the call, with
// its file and number; what follows the last line break is a line too. A path is a file,
// a folder of segments or a state folder. Nothing is verified: see [Verify].
func Read(ctx context.Context, paths []string, give func(file string, number int, line []byte) error) error {
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return fmt.Errorf("reading a decision log: %w", err)
		}
		for _, file := range files {
			if err := readFile(ctx, file, give); err != nil {
				return fmt.Errorf("reading %s: %w", file, err)
			}
		}
	}
	return nil
}

func readFile(ctx context.Context, file string, give func(file string, number int, line []byte) error) error {
	if err := refuseGzip(file); err != nil {
		return err
	}
	number, end := 0, int64(0)
	rest, err := lines(file, 0, func(line []byte, at int64) error {
		number, end = number+1, at
		return errors.Join(ctx.Err(), give(file, number, line))
	})
	if err != nil || rest == 0 {
		return err
	}
	line := make([]byte, rest)
	if err := readAt(file, line, end); err != nil {
		return err
	}
	return give(file, number+1, line)
}

// refuseGzip refuses a file that gzip made, of which every line would be unreadable.
func refuseGzip(file string) error {
	magic := make([]byte, 2)
	err := readAt(file, magic, 0)
	if err == nil && string(magic) == "\x1f\x8b" {
		return errors.New("it is compressed: unpack it first, as with gunzip")
	}
	if errors.Is(err, io.EOF) { // shorter than that
		return nil
	}
	return err
}

func readAt(path string, into []byte, offset int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.ReadAt(into, offset)
	return err
}

// filesOf are the files that hold the log at a path, in the order of their names.
func filesOf(path string) ([]string, error) {
	about, err := os.Stat(path)
	if err != nil || !about.IsDir() {
		return []string{path}, err
	}
	for _, folder := range []string{decisionsDir(path), path} {
		files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil || len(files) > 0 {
			return files, err
		}
	}
	return nil, fmt.Errorf("%s holds no decision log: want files named .jsonl, or a state folder", path)
}
