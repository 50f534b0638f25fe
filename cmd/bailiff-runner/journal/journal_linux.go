package journal

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// A journal keeps recent bytes in memory and more of them in a file, which it
// writes in blocks. The sizes divide each other.
const (
	journalMemory = 64 << 10
	journalBlock  = journalMemory / 2
	journalFile   = 4 << 20
)

// spillFolders are where a file without a name may be made.
var spillFolders = []string{"/tmp", "/var/tmp", "/dev/shm"}

// Journal is the last part of what a background command wrote, with the number
// of all bytes that it wrote. Where no file can be made or written, the part is
// what fits into memory. No reader holds up the writer for long.
type Journal struct {
	mu sync.Mutex
	// base is the offset of its first byte; what follows counts from there.
	base, written int64
	recent        []byte // a ring once it is full
	file          *os.File
	spilled       bool // a file was looked for
	// from and to are what the file holds.
	from, to int64
}

// New is an empty journal whose first byte will have that number.
func New(base int64) *Journal { return &Journal{base: base} }

// Write never fails.
func (l *Journal) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		n := min(len(rest), int(journalBlock-l.written%journalBlock))
		l.keep(rest[:n])
		rest = rest[n:]
		if l.written%journalBlock == 0 {
			l.spill()
		}
	}
	return len(p), nil
}

// keep takes bytes that do not reach beyond a block.
func (l *Journal) keep(p []byte) {
	if len(l.recent) < journalMemory {
		l.recent = append(l.recent, p...)
	} else {
		copy(l.recent[l.written%journalMemory:], p)
	}
	l.written += int64(len(p))
}

// spill writes the last block to the file.
func (l *Journal) spill() {
	if !l.spilled {
		l.file, l.spilled = openSpill(), true
	}
	if l.file == nil {
		return
	}
	begin := l.written - journalBlock
	at := begin % journalMemory
	if _, err := l.file.WriteAt(l.recent[at:at+journalBlock], begin%journalFile); err != nil {
		l.from, l.to = l.written, l.written
		return
	}
	if l.to != begin {
		l.from = begin
	}
	l.from, l.to = max(l.from, l.written-journalFile), l.written
}

// openSpill makes a file that never gets a name; nil where that cannot be done.
func openSpill() *os.File {
	for _, folder := range spillFolders {
		fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			return os.NewFile(uintptr(fd), "spill")
		}
	}
	return nil
}

// Read returns up to most bytes from an offset on, or from where the journal
// begins; it may return fewer though there are more.
func (l *Journal) Read(offset int64, most int) wire.Piece {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := min(max(offset-l.base, l.oldest()), l.written)
	buf := make([]byte, min(int64(max(0, most)), l.written-at, wire.MaxLogged))
	n, err := l.readAt(buf, at)
	if err != nil { // the file fails: what is in memory is left
		l.from, l.to = l.written, l.written
		at = l.inMemory()
		n, _ = l.readAt(buf, at)
	}
	return wire.Piece{From: l.base + at, Written: l.base + l.written, Data: buf[:n]}
}

func (l *Journal) readAt(buf []byte, at int64) (int, error) {
	if at >= l.inMemory() {
		return l.readRecent(buf, at), nil
	}
	place := at % journalFile
	return l.file.ReadAt(buf[:min(int64(len(buf)), l.to-at, journalFile-place)], place)
}

func (l *Journal) readRecent(buf []byte, at int64) int {
	place := int(at % journalMemory)
	buf = buf[:min(int64(len(buf)), l.written-at)]
	if place >= len(l.recent) {
		return 0
	}
	n := copy(buf, l.recent[place:])
	return n + copy(buf[n:], l.recent)
}

func (l *Journal) inMemory() int64 { return max(0, l.written-journalMemory) }

func (l *Journal) oldest() int64 {
	if l.from < l.to {
		return min(l.from, l.inMemory())
	}
	return l.inMemory()
}

// Close gives up the file.
func (l *Journal) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
	}
}
