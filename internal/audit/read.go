package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Read gives every whole line of logs, without its line break and valid during the
// call, with its file and number. A path is a file, a folder of segments or a state
// folder. Nothing is verified: see [Verify].
func Read(ctx context.Context, paths []string, give func(file string, number int, line []byte) error) error {
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return fmt.Errorf("reading a decision log: %w", err)
		}
		for _, file := range files {
			number := 0
			_, err := lines(file, 0, func(line []byte, _ int64) error {
				number++
				return errors.Join(ctx.Err(), give(file, number, line))
			})
			if err != nil {
				return fmt.Errorf("reading %s: %w", file, err)
			}
		}
	}
	return nil
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
