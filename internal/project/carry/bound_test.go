package carry

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestNothingRunsWhileGitInSandboxesHasWrittenTooMuch(t *testing.T) {
	w := start(t)
	r := w.repositories()
	r.mostBytes = 4 << 20
	var log bytes.Buffer
	r.log = slog.New(slog.NewTextHandler(&log, nil))
	own := r.Mounts(w.dir, w.dir, me())
	for script, at := range map[string]string{
		"head -c 5000000 /dev/urandom >.git/objects/x; chmod 0 .git/objects/x":       ".git/objects/x",
		"head -c 5000000 /dev/urandom >" + own[0].Target + "/x":                      own[0].Target + "/x",
		"mkdir .git/deep; cd .git/deep; for i in $(seq 200); do mkdir d; cd d; done": ".git/deep",
	} {
		watch := r.Watch(own, "r", nil)
		if err := watch.Begin(t.Context()); err != nil {
			t.Fatalf("before %s: %v", script, err)
		}
		w.show(w.dir, own, script)
		clear(r.measured) // as if some time had passed
		for name, err := range map[string]error{"a look": watch.Look(t.Context()),
			"the next command": r.Watch(own, "r", nil).Begin(t.Context())} {
			if err == nil || !strings.Contains(err.Error(), "nothing runs in the project until that is less") {
				t.Errorf("after %s %s says %v", script, name, err)
			}
		}
		if said := strings.Count(log.String(), "git in sandboxes has written too much"); said != 1 { // not once a look
			t.Errorf("after %s the log says it %d times: %s", script, said, log.String())
		}
		log.Reset()
		w.show(w.dir, own, "rm -rf "+at)
	}
	if err := r.Watch(own, "r", nil).Begin(t.Context()); err != nil {
		t.Errorf("once all is removed: %v", err)
	}
}
