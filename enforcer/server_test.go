package enforcer

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// server is a request that starts an MCP server.
func server() bailiff.Request {
	req := request("node s.js")
	req.Args.Server, req.Args.Background = "echo", true
	return req
}

func TestAServerWhoseFilesChangeWhileItStartsIsEnded(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]bool{"the same": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) {
				b.judge.files = []string{"s.js"}
				b.fakeBackend.files = map[string]string{"s.js": "ab"}
			})
			started := make(chan *talk, 1)
			b.fakeBackend.talks = func(talk *talk) error {
				if changes {
					b.fakeBackend.write("s.js", "cd")
				}
				started <- talk
				return nil
			}
			var told []bailiff.File
			a := b.Execute(t.Context(), server(), func(p bailiff.Progress) {
				if p.Say != nil {
					told = p.Files
					(<-started).ends(backends.Exit{Code: 3})
				}
			})
			if changes && (a.Status == bailiff.Completed || told != nil || (<-started).lives() ||
				!strings.Contains(a.Message, "changed while it")) {
				t.Errorf("a server of other files: %+v, told of %v", a, told)
			}
			if !changes && (a.Status != bailiff.Completed || a.ExitCode != 3 || len(told) != 1 || told[0].SHA256 != "ab") {
				t.Errorf("a server of the same files: %+v, told of %v", a, told)
			}
		})
	}
}

func TestTheLastWordsOfAServerAreWholeAndWithoutValues(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"TOKEN": "ghp-12345678"}
		b.judge.decision = allow(forward("TOKEN"))
	})
	up := make(chan struct{})
	b.fakeBackend.talks = func(talk *talk) error {
		go func() {
			<-up
			talk.prints("no ghp-12345678, only ghp-1234")
			talk.ends(backends.Exit{Code: 3})
		}()
		return nil
	}
	req := server()
	req.Env = []string{"TOKEN"}
	a := b.Execute(t.Context(), req, func(p bailiff.Progress) {
		if p.Say != nil {
			close(up)
		}
	})
	if string(a.Output) != "no [TOKEN redacted], only ghp-1234" {
		t.Errorf("it said %q: %+v", a.Output, a)
	}
}
