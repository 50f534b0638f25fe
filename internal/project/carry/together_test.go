package carry

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// perRound is how many commits each of both makes in a round of the following test.
const perRound = 10

// userCommits is a user who commits the half while the agent does, and the half while that is brought out.
const userCommits = `for i in $(seq 0 9); do test $i != 5 || read x <../gate; echo $i >>u
	until git commit -qm user-%d-$i u 2>&-; do echo locked; done; done`

// TestNoCommitIsLostThatUserAndAgentMakeAtTheSameTime has both commit to one branch. With BAILIFF_TEST_ALL there are 1,000 commits.
func TestNoCommitIsLostThatUserAndAgentMakeAtTheSameTime(t *testing.T) {
	rounds := 2
	if os.Getenv("BAILIFF_TEST_ALL") != "" {
		rounds = 1000 / (2 * perRound)
	}
	w := start(t)
	w.outside("mkfifo ../gate; touch u; git add u; git commit -qm second")
	var users, agents []string
	locked := 0
	for round := range rounds {
		for i := range perRound {
			users, agents = append(users, fmt.Sprintf("user-%d-%d", round, i)), append(agents, fmt.Sprintf("agent-%d-%d", round, i))
		}
		said := make(chan string)
		go func() {
			out, err := w.try(fmt.Sprintf(userCommits, round))
			said <- fmt.Sprint(out, err)
		}()
		if _, err := w.link.In(t.Context(), nil); err != nil {
			t.Error(err)
		}
		w.inside(fmt.Sprintf("for i in $(seq 0 9); do echo $i >>a; git commit -qm agent-%d-$i a; done", round))
		w.outside("echo >../gate")
		if _, err := w.link.Out(t.Context(), "request", nil); err != nil {
			t.Error(err)
		}
		out := <-said
		if locked += strings.Count(out, "locked"); !strings.HasSuffix(out, "<nil>") {
			t.Fatalf("the user's git said %s", out)
		}
	}
	w.run("true") // brings out what waited for the user's lock
	for of, want := range map[string][]string{"main": users, "--all": agents} {
		has := map[string]bool{}
		for subject := range strings.Lines(w.outside("git log --format=%s " + of)) {
			has[strings.TrimSpace(subject)] = true
		}
		for _, subject := range want {
			if !has[subject] {
				t.Errorf("%s is lost", subject)
			}
		}
	}
	t.Logf("%d commits each; the user's met %d times a lock of the sidecar's", len(users), locked)
	w.want("git fsck --strict 2>&1 | grep -v 'dangling\\|notice' || true", "")
}
