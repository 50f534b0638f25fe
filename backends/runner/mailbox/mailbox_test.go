package mailbox_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/mailbox"
)

func TestALetterSaysWhenItIsWhole(t *testing.T) {
	data := []byte("some bytes")
	letter := mailbox.Seal(data)
	for n := range letter {
		if got, err := mailbox.Open(letter[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a letter: %q", n, len(letter), got)
		}
	}
	if got, err := mailbox.Open(append(bytes.Clone(letter[:len(letter)-2]), 0, 0)); err == nil {
		t.Errorf("a letter whose end is not written yet was taken: %q", got)
	}
	if got, err := mailbox.Open(letter); err != nil || !bytes.Equal(got, data) {
		t.Errorf("it holds %q, %v", got, err)
	}
}

func TestASenderPutsWhatCameMeanwhileIntoOneLetter(t *testing.T) {
	begun, letters := make(chan int), make(chan string)
	s := mailbox.NewSender(func(number int, letter []byte) error {
		begun <- number
		data, err := mailbox.Open(letter)
		letters <- string(data)
		return err
	}, func(err error) { t.Error(err) })
	say := func(text string) {
		if n, err := io.WriteString(s, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	say("one")
	if number := <-begun; number != 1 {
		t.Errorf("the first letter is number %d", number)
	}
	for range 3 {
		say("more")
	}
	if got := <-letters; got != "one" {
		t.Errorf("the first letter holds %q", got)
	}
	if number, got := <-begun, <-letters; number != 2 || got != "moremoremore" {
		t.Errorf("letter %d holds %q", number, got)
	}
}

func TestASenderKeepsNoMoreThanALetterOrTwo(t *testing.T) {
	letters := make(chan int)
	s := mailbox.NewSender(func(_ int, letter []byte) error { letters <- len(letter); return nil }, func(err error) { t.Error(err) })
	const parts = 4 * mailbox.MaxBytes / (32 << 10)
	written := make(chan int, parts)
	go func() {
		for i := range parts {
			_, _ = s.Write(make([]byte, 32<<10))
			written <- i
		}
		close(written)
	}()
	total, longest := 0, 0
	for total < 4*mailbox.MaxBytes {
		n := <-letters - len(mailbox.Seal(nil))
		total, longest = total+n, max(longest, n)
		if ahead := len(written)*32<<10 - total; ahead > 3*mailbox.MaxBytes {
			t.Fatalf("%d bytes were taken in that are under way nowhere", ahead)
		}
	}
	if longest > mailbox.MaxBytes {
		t.Errorf("a letter carries %d bytes", longest)
	}
}

func TestASenderEndsWithTheFirstFault(t *testing.T) {
	fault, told, calls := errors.New("no room"), make(chan error, 2), 0
	s := mailbox.NewSender(func(int, []byte) error { calls++; return fault }, func(err error) { told <- err })
	_, _ = s.Write([]byte("x"))
	if err := <-told; err != fault {
		t.Errorf("told of %v", err)
	}
	if _, err := s.Write([]byte("x")); err != fault || calls != 1 {
		t.Errorf("after %d letters, writing gave %v", calls, err)
	}
	s = mailbox.NewSender(func(int, []byte) error { return nil }, func(error) {})
	s.Close()
	if _, err := s.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed, it says %v", err)
	}
}
