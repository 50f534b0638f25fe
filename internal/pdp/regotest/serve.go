package regotest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/bailiff-dev/bailiff/internal/pdp/background"
	"github.com/bailiff-dev/bailiff/internal/pdp/passes"
	"github.com/bailiff-dev/bailiff/internal/pdp/policyset"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// A sidecar has a process of its own run tests, which is given the files as they were read: they may differ on the disk since.
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
	Faults source.Faults
	Passed []byte
	Lasts  bool // see [Outcome]
}

// digestOfAll tells any two sets of files apart, their names included.
func digestOfAll(files []source.File) passes.Key {
	sum := sha256.New()
	for _, f := range files {
		source.WriteParts(sum, []byte(f.Name), []byte(f.Place), []byte(f.Archive), f.Text)
	}
	return passes.Key(sum.Sum(nil))
}

// restTime is how long after an answer memory is given back: saves come in a row.
const restTime = time.Second

// Serve runs the tests of the sets of files that are read, until the reader or ctx ends, and writes how they ended.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, unread := make(chan testRequest), make(chan error, 1)
	go func() { unread <- readRequests(ctx, in, requests) }()
	s := &testServer{known: &passes.Memory{}, answers: json.NewEncoder(out)}
	defer s.running.End()
	rest := time.NewTimer(restTime)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-unread: // there is no sidecar that would read on
			return err
		case request := <-requests:
			s.running.End()
			s.begin(ctx, request)
			rest.Reset(restTime)
		case <-rest.C:
			if s.running.IsRunning() {
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
	known   *passes.Memory
	texts   map[passes.Key][]byte // of the last request
	parser  policyset.Parser
	answers *json.Encoder

	running background.Work
}

// begin runs the tests of a request, and answers unless the run is stopped.
func (s *testServer) begin(ctx context.Context, request testRequest) {
	s.running.Begin(ctx, func(ctx context.Context) {
		if answer := s.answer(ctx, request); ctx.Err() == nil {
			_ = s.answers.Encode(answer) // a sidecar that does not read has ended, which the requests tell
		}
	})
}

func (s *testServer) answer(ctx context.Context, request testRequest) testAnswer {
	files, err := s.filesOf(request)
	if err != nil {
		return testAnswer{Faults: source.Faults{{Message: err.Error()}}}
	}
	_ = s.known.Keep(passes.KeysIn(request.Passed)) // it is on no disk
	answer := testAnswer{Of: digestOfAll(files)}
	p, faults := s.parser.Parse(files)
	if answer.Faults = faults; len(faults) > 0 {
		return answer
	}
	ended := Require(ctx, p, s.known)
	_ = s.known.Keep(ended.Passed)
	answer.Faults, answer.Passed, answer.Lasts = ended.Faults, passes.BytesOf(ended.Passed), ended.Lasts
	return answer
}

func (s *testServer) filesOf(request testRequest) ([]source.File, error) {
	files, texts := make([]source.File, len(request.Files)), map[passes.Key][]byte{}
	for i, f := range request.Files {
		text, known := s.texts[f.Digest]
		if f.Text != nil {
			text, known = f.Text, true
		}
		if !known {
			return nil, fmt.Errorf("%s was not sent", f.Name)
		}
		texts[f.Digest] = text
		files[i] = source.File{Name: string(f.Name), Place: string(f.Place), Archive: string(f.Archive), Text: text}
	}
	s.texts = texts
	return files, nil
}
