package headtail

import (
	"bytes"
	"sync"
)

// lastBytes are enough for an error message.
const lastBytes = 512

// Last keeps the last bytes written to it, such as the standard error of a program that
// ended early. Its zero value is empty.
type Last struct {
	mu   sync.Mutex
	kept []byte
}

func (l *Last) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p[max(0, len(p)-lastBytes):]...)
	l.kept = l.kept[max(0, len(l.kept)-lastBytes):]
	return len(p), nil
}

// String is that end, without the white space around it.
func (l *Last) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.kept))
}
