package runner

import (
	"log/slog"

	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// Words logs what a runner that is no child of this process writes to its standard
// error, and keeps the end for the error that tells why it did not start.
type Words struct {
	Log  *slog.Logger
	last headtail.Last
}

func (w *Words) Write(p []byte) (int, error) {
	w.Log.Warn("the runner wrote to standard error", "text", string(p))
	return w.last.Write(p)
}

// String is the end of what it wrote.
func (w *Words) String() string { return w.last.String() }
