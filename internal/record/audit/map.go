package audit

import (
	"context"
	"runtime"
	"sync"
)

// A stretch is at most so many lines and, but for a longer line, bytes.
const (
	stretchLines = 64
	stretchBytes = 1 << 20
)

// Place is where a line of a log stands.
type Place struct {
	File   string
	Number int
}

// Map gives every line of logs to a function, several at once, and what that makes of them to take, in the log's order. What is held
// in memory does not grow with the log. Paths are those of [Read].
func Map[T any](ctx context.Context, paths []string, of func(at Place, line []byte) T, take func(T)) error {
	stretches := make(chan *stretch[T], runtime.GOMAXPROCS(0))
	inOrder := make(chan *stretch[T], runtime.GOMAXPROCS(0))
	var making, taking sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		making.Go(func() {
			for b := range stretches {
				b.make(of)
			}
		})
	}
	taking.Go(func() {
		for b := range inOrder {
			<-b.done
			for _, one := range b.made {
				take(one)
			}
		}
	})
	err := readStretches(ctx, paths, func(b *stretch[T]) {
		inOrder <- b
		stretches <- b
	})
	close(stretches)
	close(inOrder)
	making.Wait()
	taking.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// stretch is a stretch of a log, and what was made of it.
type stretch[T any] struct {
	places []Place
	lines  [][]byte
	size   int
	made   []T
	done   chan struct{} // closed when it was
}

func (b *stretch[T]) make(of func(Place, []byte) T) {
	defer close(b.done)
	for i, line := range b.lines {
		b.made = append(b.made, of(b.places[i], line))
	}
	b.lines = nil
}

func readStretches[T any](ctx context.Context, paths []string, give func(*stretch[T])) error {
	next := &stretch[T]{done: make(chan struct{})}
	err := Read(ctx, paths, func(file string, number int, text []byte) error {
		next.places = append(next.places, Place{file, number})
		next.lines = append(next.lines, append([]byte(nil), text...))
		if next.size += len(text); len(next.lines) == stretchLines || next.size >= stretchBytes {
			give(next)
			next = &stretch[T]{done: make(chan struct{})}
		}
		return nil
	})
	give(next)
	return err
}
