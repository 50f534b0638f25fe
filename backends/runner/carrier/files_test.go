package carrier_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
)

func TestAFileSaysWhenItIsComplete(t *testing.T) {
	t.Parallel()
	data := []byte("some bytes")
	file := carrier.Seal(data)
	for n := range file {
		if got, err := carrier.Unseal(file[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a file: %q", n, len(file), got)
		}
	}
	if got, err := carrier.Unseal(append(bytes.Clone(file[:len(file)-2]), 0, 0)); err == nil {
		t.Errorf("a file whose end is not written yet was taken: %q", got)
	}
	if got, err := carrier.Unseal(file); err != nil || !bytes.Equal(got, data) {
		t.Errorf("it holds %q, %v", got, err)
	}
}

func TestAFileHoldsTheBytesThatCameMeanwhile(t *testing.T) {
	t.Parallel()
	begun, files := make(chan int), make(chan string)
	s := carrier.NewFileWriter(func(number int, file []byte) error {
		begun <- number
		data, err := carrier.Unseal(file)
		files <- string(data)
		return err
	}, func(err error) { t.Error(err) })
	say := func(text string) {
		if n, err := io.WriteString(s, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	say("one")
	if number := <-begun; number != 1 {
		t.Errorf("the first file is number %d", number)
	}
	for range 3 {
		say("more")
	}
	if got := <-files; got != "one" {
		t.Errorf("the first file holds %q", got)
	}
	if number, got := <-begun, <-files; number != 2 || got != "moremoremore" {
		t.Errorf("file %d holds %q", number, got)
	}
}

func TestAWriterKeepsNoMoreThanAFileOrTwo(t *testing.T) {
	t.Parallel()
	files := make(chan int)
	s := carrier.NewFileWriter(func(_ int, file []byte) error { files <- len(file); return nil }, func(err error) { t.Error(err) })
	const parts = 4 * carrier.MaxChunk / (32 << 10)
	written := make(chan int, parts)
	go func() {
		for i := range parts {
			_, _ = s.Write(make([]byte, 32<<10))
			written <- i
		}
		close(written)
	}()
	total, longest := 0, 0
	for total < 4*carrier.MaxChunk {
		n := <-files - len(carrier.Seal(nil))
		total, longest = total+n, max(longest, n)
		if ahead := len(written)*32<<10 - total; ahead > 3*carrier.MaxChunk {
			t.Fatalf("%d bytes were taken in that are under way nowhere", ahead)
		}
	}
	if longest > carrier.MaxChunk {
		t.Errorf("a file carries %d bytes", longest)
	}
}

func TestAWriterEndsWithTheFirstFault(t *testing.T) {
	t.Parallel()
	fault, told, calls := errors.New("no room"), make(chan error, 2), 0
	s := carrier.NewFileWriter(func(int, []byte) error { calls++; return fault }, func(err error) { told <- err })
	_, _ = s.Write([]byte("x"))
	if err := <-told; err != fault {
		t.Errorf("told of %v", err)
	}
	if _, err := s.Write([]byte("x")); err != fault || calls != 1 {
		t.Errorf("after %d files, writing gave %v", calls, err)
	}
	s = carrier.NewFileWriter(func(int, []byte) error { return nil }, func(error) {})
	s.Close()
	if _, err := s.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed, it says %v", err)
	}
}
