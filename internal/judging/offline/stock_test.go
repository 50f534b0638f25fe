package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
)

// said is what became of a request: the outcome, and the rules that spoke.
type said struct {
	outcome string
	rules   []string
}

// recorder keeps the input documents of recorded sessions, with what the judge said of them.
type recorder struct {
	*RowJudge

	mu     sync.Mutex
	inputs []json.Marshaler
	ours   []said
}

func (r *recorder) Judge(ctx context.Context, row rows.Row) rows.Verdict {
	judged := r.replay(ctx, row)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs = append(r.inputs, judged.Input)
	r.ours = append(r.ours, said{judged.Decision.Outcome.String(), sorted(judged.Decision.Rules())})
	return rows.Verdict{Outcome: judged.Decision.Outcome, Fault: judged.Fault}
}

func sorted(rules []string) []string { return slices.Compact(slices.Sorted(slices.Values(rules))) }

// OPA's own command says of recorded sessions what the sidecar's judge says: of one in thirty, or of all.
func TestStockOPAJudgesRecordedSessionsAlike(t *testing.T) {
	t.Parallel()
	judge, err := JudgeRows(t.Context(), &config.Config{}, []string{"../../../policies"}, false)
	if err != nil {
		t.Fatal(err)
	}
	r, each := &recorder{RowJudge: judge}, 30
	if os.Getenv("BAILIFF_TEST_ALL") != "" {
		each = 1
	}
	for _, file := range []string{"sessions.jsonl", "unseen-sessions.jsonl"} {
		text, err := os.ReadFile("../corpus/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for some := range slices.Chunk(slices.Collect(bytes.Lines(text)), each) {
			if err := (&rows.Run{Judge: r}).Add(t.Context(), bytes.NewReader(some[0]), file); err != nil {
				t.Fatal(err)
			}
		}
	}
	theirs := byStock(t, r.inputs)
	if len(theirs) != len(r.ours) || len(theirs) != 300/each {
		t.Fatalf("stock OPA says %d decisions, the sidecar's judge %d", len(theirs), len(r.ours))
	}
	for n, ours := range r.ours {
		if !reflect.DeepEqual(theirs[n], ours) {
			t.Errorf("stock OPA says %+v and the sidecar's judge %+v", theirs[n], ours)
		}
	}
}

// byStock is what OPA's own command, of the version that is built in, says of input documents.
func byStock(t *testing.T, inputs []json.Marshaler) (all []said) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"recorded": inputs})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "recorded.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "tool", "opa", "eval", "--format", "raw", "--ignore", "*_test.rego",
		"--data", "../../../policies", "--data", file, "[d | some c in data.recorded; d := data.bailiff.decision with input as c]")
	command.Stderr = &strings.Builder{}
	printed, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, command.Stderr)
	}
	var decisions []struct {
		Outcome  string
		Denials  []bailiff.Reason
		Approval struct{ Reasons []bailiff.Reason }
	}
	if err := json.Unmarshal(printed, &decisions); err != nil {
		t.Fatalf("%v: %.500s", err, printed)
	}
	for _, d := range decisions {
		var rules []string
		for _, reason := range append(d.Denials, d.Approval.Reasons...) {
			rules = append(rules, reason.Rule)
		}
		all = append(all, said{d.Outcome, sorted(rules)})
	}
	return all
}
