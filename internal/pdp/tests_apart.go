package pdp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
)

// The tests of policies take many times the memory of the policies, and what they leave lies between what stays. A sidecar
// therefore has a process of its own run them, which is given the files as they were read: they may differ on the disk since.
// The process stays for some minutes, so that the next reload parses again only what changed; a request ends the run of the one
// before, and what passed in that run stays known. The sidecar alone remembers what passed beyond that.

// testRequest has the process test a set of files.
type testRequest struct {
	Files  []sentFile
	Passed []byte // the keys that are known to pass beyond those that earlier requests said and found
}

// sentFile is a file, with its text where that was not sent before. The names of a bundle's files are of any bytes.
type sentFile struct {
	Name, Place, Archive []byte
	Digest               passes.Key
	Text                 []byte
}

// testAnswer says what is wrong, or what passed. The zero answer is none.
type testAnswer struct {
	// Of is the digest of the files that were tested.
	Of     passes.Key
	Faults Faults
	Passed []byte
	Lasts  bool // see [verdict]
}

// digestOfAll tells any two sets of files apart, their names included.
func digestOfAll(files []file) passes.Key {
	sum := sha256.New()
	for _, f := range files {
		writeParts(sum, []byte(f.name), []byte(f.place), []byte(f.archive), f.text)
	}
	return passes.Key(sum.Sum(nil))
}

// restTime is how long after an answer memory is given back: saves come in a row.
const restTime = time.Second

// ServeTests runs the tests of the sets of files that are read, until the reader or ctx ends, and writes how they ended.
func ServeTests(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, unread := make(chan testRequest), make(chan error, 1)
	go func() { unread <- readRequests(ctx, in, requests) }()
	s := &testServer{known: &passes.Memory{}, contents: contents{}, answers: json.NewEncoder(out)}
	defer s.running.end()
	rest := time.NewTimer(restTime)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-unread: // there is no sidecar that would read on
			return err
		case request := <-requests:
			s.running.end()
			s.begin(ctx, request)
			rest.Reset(restTime)
		case <-rest.C:
			if s.running.isRunning() {
				rest.Reset(restTime)
			} else {
				debug.FreeOSMemory() // most of what a run takes is nothing that stays
			}
		}
	}
}

func readRequests(ctx context.Context, in io.Reader, requests chan<- testRequest) error {
	for decoder := json.NewDecoder(in); ; {
		var request testRequest
		if err := decoder.Decode(&request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading policies: %w", err)
		}
		select {
		case requests <- request:
		case <-ctx.Done():
			return nil
		}
	}
}

// testServer is the process that runs tests, those of one request at a time.
type testServer struct {
	known    *passes.Memory
	texts    map[passes.Key][]byte // of the last request
	contents contents
	answers  *json.Encoder

	running beside
}

// begin runs the tests of a request, and answers unless the run is stopped.
func (s *testServer) begin(ctx context.Context, request testRequest) {
	s.running.begin(ctx, func(ctx context.Context) {
		if answer := s.answer(ctx, request); ctx.Err() == nil {
			_ = s.answers.Encode(answer) // a sidecar that does not read has ended, which the requests tell
		}
	})
}

func (s *testServer) answer(ctx context.Context, request testRequest) testAnswer {
	files, err := s.filesOf(request)
	if err != nil {
		return testAnswer{Faults: Faults{{Message: err.Error()}}}
	}
	_ = s.known.Keep(passes.KeysIn(request.Passed)) // it is on no disk
	answer := testAnswer{Of: digestOfAll(files)}
	p, faults := newParsed(files, &parsed{tests: map[string]*ast.Module{}, contents: s.contents})
	s.contents = p.contents
	if answer.Faults = faults; len(faults) > 0 {
		return answer
	}
	ended := p.runTests(ctx, s.known)
	_ = s.known.Keep(ended.passed)
	answer.Faults, answer.Passed, answer.Lasts = ended.faults, passes.BytesOf(ended.passed), ended.lasts
	return answer
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
		files[i] = file{name: string(f.Name), place: string(f.Place), archive: string(f.Archive), text: text}
	}
	s.texts = texts
	return files, nil
}
