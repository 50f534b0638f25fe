package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// readCursor is the log's beginning as long as nothing was sent. It clears away what a
// sidecar that was killed had begun to write of it.
func readCursor(path string) (cursor audit.Position, err error) {
	if err := records.Clear(filepath.Dir(path)); err != nil {
		return cursor, fmt.Errorf("reading how far the decision log is exported: %w", err)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cursor, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &cursor)
	}
	if err != nil {
		return cursor, fmt.Errorf("reading how far the decision log is exported: %w; move %s away to have all of it sent again", err, path)
	}
	return cursor, nil
}

// writeCursor waits for the disk: half a cursor would keep the next sidecar from
// starting.
func writeCursor(path string, cursor audit.Position) error {
	text, err := json.Marshal(cursor)
	if err == nil {
		err = records.Write(path, text, true)
	}
	if err != nil {
		return fmt.Errorf("writing down how far the decision log is exported: %w", err)
	}
	return nil
}
