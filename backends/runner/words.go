package runner

import (
	"log/slog"

	"github.com/bailiff-dev/bailiff/internal/headtail"
)

// Words logs what a runner that is no child of this process writes to its standard
// error, and keeps the end for the error that tells why it did not start.
type Words struct {
	Log *slog.Logger
	headtail.Last
}

func (w *Words) Write(p []byte) (int, error) {
	w.Log.Warn("the runner wrote to standard error", "text", string(p))
	return w.Last.Write(p)
}
