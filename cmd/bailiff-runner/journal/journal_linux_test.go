package journal

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// A journal is checked against all that was written to it, in pieces of any size.
func FuzzJournal(f *testing.F) {
	f.Add(100, 7, 0, true)
	f.Add(journalMemory, 1000, 5, true)
	f.Add(journalMemory+1, journalBlock, 0, false)
	f.Add(3*journalMemory, 3*journalMemory, 1<<40, true)
	f.Add(journalFile+journalMemory+17, 100_000, 0, true)
	f.Add(journalFile+journalMemory+17, 100_000, 9, false)
	f.Add(3*journalFile+5, 70_001, 0, true)
	f.Fuzz(func(t *testing.T, size, step, base int, spills bool) {
		size, step, base = abs(size)%(4*journalFile), 1+abs(step)%(2*journalMemory), abs(base)%(1<<50)
		all := make([]byte, size)
		for i := range all {
			all[i] = byte(i ^ i>>8 ^ i>>16)
		}
		l := New(int64(base))
		l.spilled = !spills // otherwise it believes that no file can be made
		defer l.Close()
		for rest := all; len(rest) > 0; {
			n := min(step, len(rest))
			_, _ = l.Write(rest[:n])
			rest = rest[n:]
		}
		kept := readAll(l)
		if !bytes.HasSuffix(all, kept) || len(kept) < min(size, journalMemory) || len(kept) > journalFile+journalMemory {
			t.Fatalf("of %d bytes, %d are kept: the last ones: %t", size, len(kept), bytes.HasSuffix(all, kept))
		}
		if spills && l.file != nil && len(kept) < min(size, journalFile) {
			t.Errorf("of %d bytes, %d are kept, though there is a file", size, len(kept))
		}
		if p := l.Read(int64(base+size), 10); p.From != int64(base+size) || p.Written != p.From || len(p.Data) > 0 {
			t.Errorf("at its end there is %+v", p)
		}
	})
}

// readAll reads a journal from where it begins.
func readAll(l *Journal) (all []byte) {
	for next := int64(0); ; {
		p := l.Read(next, 1<<20)
		if len(p.Data) == 0 {
			return all
		}
		if next != 0 && p.From != next {
			panic("a journal that nobody writes to has a hole")
		}
		all, next = append(all, p.Data...), p.From+int64(len(p.Data))
	}
}

func TestAJournalWhoseFileFailsKeepsWhatIsInMemory(t *testing.T) {
	for name, damage := range map[string]func(l *Journal){
		"closed":   func(l *Journal) { l.file.Close() },
		"cut":      func(l *Journal) { _ = l.file.Truncate(0) },
		"readonly": func(l *Journal) { l.file.Close(); l.file, _ = os.Open(os.DevNull) },
	} {
		t.Run(name, func(t *testing.T) {
			l := New(0)
			defer l.Close()
			block := bytes.Repeat([]byte("0123456789abcdef"), journalBlock/16)
			for range 8 {
				_, _ = l.Write(block)
			}
			if l.file == nil {
				backendtest.Needs(t, "FILES WITHOUT A NAME", errors.New("the temporary folder has none"))
			}
			damage(l)
			_, _ = l.Write([]byte("end"))
			if kept := readAll(l); !bytes.HasSuffix(kept, []byte("cdefend")) || len(kept) < journalMemory {
				t.Errorf("%d bytes are kept, ending with %.10q", len(kept), kept[max(0, len(kept)-10):])
			}
			for range 4 {
				_, _ = l.Write(block)
			}
			if kept := readAll(l); len(kept) < journalMemory {
				t.Errorf("later, %d bytes are kept", len(kept))
			}
		})
	}
}

func abs(n int) int { return max(n, -(n + 1)) }
