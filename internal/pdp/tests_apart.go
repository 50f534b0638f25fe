package pdp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
)

// The tests of policies take many times the memory of the policies, and what they leave lies between what stays. A sidecar
// therefore has a process of its own run them, which is given the files as they were read: they may differ on the disk since.
// The process stays for some minutes, so that the next reload parses again only what changed. What passed is told to the sidecar,
// which alone remembers it beyond that.

// testRequest has the process test a set of files.
type testRequest struct {
	Files  []sentFile
	Passed []passes.Key // what is known to pass beyond what earlier requests said and found
}

// sentFile is a file, with its text where that was not sent before.
type sentFile struct {
	Name, Place, Archive string
	Digest               passes.Key
	Text                 []byte
}

// testAnswer says what is wrong, or what passed.
type testAnswer struct {
	Faults Faults
	Passed []passes.Key
}

// restTime is how long after an answer memory is given back: saves come in a row.
const restTime = time.Second

// ServeTests runs the tests of the sets of files that are read, until the reader ends, and writes how they ended.
func ServeTests(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, unread := make(chan testRequest), make(chan error, 1)
	go func() {
		unread <- readRequests(ctx, in, requests)
		cancel() // there is no sidecar that would read on
	}()
	s := &testServer{known: &passes.Memory{}, contents: contents{}}
	answers, rest := json.NewEncoder(out), time.NewTimer(restTime)
	for {
		select {
		case <-ctx.Done():
			return <-unread
		case request := <-requests:
			if err := answers.Encode(s.answer(ctx, request)); err != nil {
				return err
			}
			rest.Reset(restTime)
		case <-rest.C:
			debug.FreeOSMemory() // most of what a run takes is nothing that stays
		}
	}
}

func readRequests(ctx context.Context, in io.Reader, requests chan<- testRequest) error {
	for decoder := json.NewDecoder(in); ; {
		var request testRequest
		switch err := decoder.Decode(&request); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return fmt.Errorf("reading policies: %w", err)
		}
		select {
		case requests <- request:
		case <-ctx.Done():
			return nil
		}
	}
}

// testServer is the process that runs tests.
type testServer struct {
	known    *passes.Memory
	texts    map[passes.Key][]byte // of the last request
	contents contents
}

func (s *testServer) answer(ctx context.Context, request testRequest) testAnswer {
	files, err := s.filesOf(request)
	if err != nil {
		return testAnswer{Faults: Faults{{Message: err.Error()}}}
	}
	_ = s.known.Keep(request.Passed) // it is on no disk
	p, faults := newParsed(files, &parsed{tests: map[string]*ast.Module{}, contents: s.contents})
	s.contents = p.contents
	if len(faults) > 0 {
		return testAnswer{Faults: faults}
	}
	passed, faults := p.runTests(ctx, s.known)
	_ = s.known.Keep(passed)
	return testAnswer{faults, passed}
}

func (s *testServer) filesOf(request testRequest) ([]file, error) {
	files, texts := make([]file, len(request.Files)), map[passes.Key][]byte{}
	for i, f := range request.Files {
		text, known := s.texts[f.Digest]
		if f.Text != nil {
			text, known = f.Text, true
		}
		if !known {
			return nil, fmt.Errorf("%s was not sent", f.Name)
		}
		texts[f.Digest] = text
		files[i] = file{name: f.Name, place: f.Place, archive: f.Archive, text: text}
	}
	s.texts = texts
	return files, nil
}
