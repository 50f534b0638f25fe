package audit

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/bailiff-dev/bailiff"
)

const (
	maskedInput = `{"tool":"terminal","args":{"command":"git push <x>","list":[1,[2,{"deep":"y"}],3.50]},"odd key/~":1,"null":null,
		"session":{"platform":"slack","user_id":"42"}}`
	maskedResult = `{"outcome":"ask","denials":[],"approval":{"reasons":[{"rule":"a.b","match":"push"},{"rule":"c.d","match":"x"}]}}`
)

// captured is what stock OPA makes of an event.
type captured struct{ events []logs.EventV1 }

func (c *captured) Start(context.Context) error      { return nil }
func (c *captured) Stop(context.Context)             {}
func (c *captured) Reconfigure(context.Context, any) {}
func (c *captured) Log(_ context.Context, e logs.EventV1) error {
	c.events = append(c.events, e)
	return nil
}

// stock has stock OPA's decision log mask an event by a policy; nothing is logged
// where it cannot.
func stock(t *testing.T, policy string) []logs.EventV1 {
	t.Helper()
	store := inmem.New()
	err := storage.Txn(t.Context(), store, storage.WriteParams, func(txn storage.Transaction) error {
		return store.UpsertPolicy(t.Context(), txn, "mask.rego", []byte(policy))
	})
	must(t, err)
	manager, err := plugins.New(nil, "test", store)
	must(t, err)
	capture := &captured{}
	manager.Register("capture", capture)
	config, err := logs.ParseConfig([]byte(`{"plugin": "capture"}`), nil, []string{"capture"})
	must(t, err)
	must(t, manager.Start(t.Context()))
	defer manager.Stop(t.Context())
	input, result := decoded(t, maskedInput), decoded(t, maskedResult)
	info := &server.Info{DecisionID: "d1", Path: "bailiff/decision", Input: &input, Results: &result, Timestamp: time.Now()}
	err = storage.Txn(t.Context(), store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		info.Txn = txn
		return logs.New(config, manager).Log(t.Context(), info)
	})
	must(t, err)
	return capture.events
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &value))
	return value
}

// masking evaluates data.system.log.mask.
func masking(t *testing.T, policy string) Masking {
	t.Helper()
	query, err := rego.New(rego.Query("data.system.log.mask"), rego.Module("mask.rego", policy)).PrepareForEval(t.Context())
	must(t, err)
	return func(ctx context.Context, event []byte) (any, bool, error) {
		results, err := query.Eval(ctx, rego.EvalInput(decoded(t, string(event))))
		if err != nil || len(results) == 0 {
			return nil, false, err
		}
		return results[0].Expressions[0].Value, true, nil
	}
}

// told is what is left of an event, as JSON values.
func told(t *testing.T, e logs.EventV1) [4]any {
	t.Helper()
	text, err := json.Marshal([4]any{e.Input, e.Result, e.Erased, e.Masked})
	must(t, err)
	all := decoded(t, string(text)).([]any)
	return [4]any(all)
}

func TestAMaskDoesWhatItDoesInStockOPA(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]string{
		"nothing":      `mask contains "/input/x" if input.input.tool == "none"`,
		"no such rule": `other := 1`,
		"a path":       `mask contains "/input/args/command"`,
		"where the event says so": `mask contains "/input/args" if { input.input.session.platform == "slack"; ` +
			`input.result.outcome == "ask"; input.path == "bailiff/decision" }`,
		"a path to nothing": `mask := ["/input/args/nothing", "/input/args/command/deeper", "/input/args/list/9", ` +
			`"/input/args/list/x", "/input/null/x"]`,
		"the whole input":    `mask contains "/input"`,
		"the whole result":   `mask contains "/result"`,
		"both, and within":   `mask := ["/input", "/result", "/input/args", {"op": "upsert", "path": "/input", "value": 1}]`,
		"an entry of a list": `mask := ["/input/args/list/0", "/input/args/list/0/1/deep", "/result/approval/reasons/0"]`,
		"a name within every reason": `mask contains sprintf("/result/approval/reasons/%d/match", [i]) if some i, _ in ` +
			`input.result.approval.reasons`,
		"an index written oddly":      `mask := ["/input/args/list/+1", "/input/args/list/-1", "/input/args/list/01"]`,
		"an object that removes":      `mask contains {"op": "remove", "path": "/input/args/command"}`,
		"a value in its place":        `mask contains {"op": "upsert", "path": "/input/args/command", "value": "masked"}`,
		"a value of any shape":        `mask contains {"op": "upsert", "path": "/input/args", "value": {"a": [1, null, {"b": 2.50}]}}`,
		"null in its place":           `mask contains {"op": "upsert", "path": "/input", "value": null}`,
		"no value":                    `mask contains {"op": "upsert", "path": "/input/args/command"}`,
		"the whole result replaced":   `mask contains {"op": "upsert", "path": "/result", "value": {"outcome": "hidden"}}`,
		"a value where there is none": `mask contains {"op": "upsert", "path": "/input/new/deep/place", "value": true}`,
		"in a list": `mask := [{"op": "upsert", "path": "/input/args/list/1/1/deep", "value": 1}, {"op": ` +
			`"upsert", "path": "/input/args/list/3", "value": 1}, {"op": "upsert", "path": "/input/args/list/5/x", "value": 1}]`,
		"beneath a text":             `mask contains {"op": "upsert", "path": "/input/tool/x", "value": 1}`,
		"beneath what it would make": `mask contains {"op": "upsert", "path": "/input/a/b/c", "value": 1}`,
		"a name that needs escaping": `mask := ["/input/odd key~1~0", "/input/odd key%2F~", {"op": "upsert", "path": "/input/odd ` +
			`key", "value": 2}]`,
		"a cache that no event has":    `mask contains "/nd_builtin_cache/time.now_ns"`,
		"an empty last step":           `mask := ["/input/", "/input/args/"]`,
		"an object with more":          `mask contains {"op": "remove", "path": "/input/tool", "why": "x"}`,
		"what may not be masked":       `mask contains "/custom/message"`,
		"no slash":                     `mask contains "input/args"`,
		"an empty path":                `mask contains ""`,
		"only a slash":                 `mask contains "/"`,
		"an unknown op":                `mask contains {"op": "hash", "path": "/input/args"}`,
		"no op":                        `mask contains {"path": "/input/args"}`,
		"no path":                      `mask contains {"op": "remove"}`,
		"a bad escape":                 `mask contains "/input/%zz"`,
		"a number":                     `mask contains 1`,
		"an object for a set":          `mask := {"a": "/input/args"}`,
		"a text for a set":             `mask := "/input/args"`,
		"null":                         `mask := null`,
		"two that contradict":          "mask := [\"/input/args\"] if input.path\nmask := [\"/result\"] if input.result",
		"one that is good and one not": `mask := ["/input/args", "/custom"]`,
		"the same twice":               `mask := ["/input/tool", "/input/tool"]`,
		"what another one has replaced": `mask := [{"op": "upsert", "path": "/input/args", "value": {"x": {"y": 1}}}, ` +
			`"/input/args/x/y", {"op": "upsert", "path": "/input/args/x/z", "value": [1]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			policy := "package system.log\n\n" + rules + "\n"
			want := stock(t, policy)
			dir := t.TempDir()
			l := open(t, Config{StateDir: dir, Mask: masking(t, policy)})
			e := decision("d1")
			e.Input, e.Result = rawInput(maskedInput), rawInput(maskedResult)
			err := l.Record(t.Context(), e)
			if err == nil != (len(want) == 1) {
				t.Fatalf("stock OPA logs %d events, here recording said %v", len(want), err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), "masking the event by data.system.log.mask: ") || len(written(t, dir)) > 0 {
					t.Errorf("refused with %v, and %q is written", err, written(t, dir))
				}
				return
			}
			if got, want := told(t, asOPA(t, written(t, dir)[0])), told(t, want[0]); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%v, stock OPA has\n%v", got, want)
			}
			verified(t, dir)
		})
	}
}

func TestWhatIsMaskedIsNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hide := func(context.Context, []byte) (any, bool, error) {
		return []any{"/input/args/command", map[string]any{"op": "upsert", "path": "/input/tool", "value": "hunter2"}}, true, nil
	}
	scrub := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "hunter2", "[secret]")) }
	l := open(t, Config{StateDir: dir, Mask: hide, Scrub: scrub})
	lines, stop := l.Watch()
	defer stop()
	record(t, l, decision("d1"))
	for where, line := range map[string]string{"in the file": written(t, dir)[0], "for who watches": string(<-lines),
		"remembered": string(l.Recent("", 1)[0])} {
		if strings.Contains(line, "git push") || strings.Contains(line, "hunter2") || !strings.Contains(line, `"masked":["/input/tool"]`) {
			t.Errorf("%s stands %s", where, line)
		}
	}
}

func TestAnEventThatCannotBeMaskedIsNotWritten(t *testing.T) {
	t.Parallel()
	dir, observed := t.TempDir(), &counts{}
	l := open(t, Config{StateDir: dir, Observer: observed, Mask: func(context.Context, []byte) (any, bool, error) {
		return nil, false, errors.New("no answer within 250ms")
	}})
	if err := l.Record(t.Context(), decision("d1")); err == nil || !strings.Contains(err.Error(), "no answer within 250ms") {
		t.Errorf("got %v", err)
	}
	l.Note(decision("d2"))
	if observed.failed.Load() != 2 || len(written(t, dir)) > 0 {
		t.Errorf("%d failures are counted, and %q is written", observed.failed.Load(), written(t, dir))
	}
	record(t, l, execution("d1")) // which tells nothing that could be masked
}

// Nobody may run a request again because its outcome is masked.
func TestARequestWhoseOutcomeIsMaskedMayHaveRun(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/result": 2, "/result/outcome": 2, "/result/denials": 1, "/input": 1} {
		dir := t.TempDir()
		l := open(t, Config{StateDir: dir, Mask: func(context.Context, []byte) (any, bool, error) {
			return []any{map[string]any{"op": "upsert", "path": path, "value": map[string]any{}}}, true, nil
		}})
		denied := decision("denied")
		denied.Result = bailiff.Denial("a.b", "No.")
		record(t, l, decision("allowed"), denied, decision("ended"), execution("ended"))
		l.Close()
		var open []string
		l, err := Open(Config{StateDir: dir})
		must(t, err)
		for _, u := range l.UnfinishedRequests(time.Time{}) {
			if !u.Ended {
				open = append(open, u.RequestID)
			}
		}
		l.Close()
		if len(open) != want || !slices.Contains(open, "r-allowed") {
			t.Errorf("with %s masked, %v may have run", path, open)
		}
	}
}

func TestALineOfWhichNotAllIsKnownIsNotTakenApart(t *testing.T) {
	t.Parallel()
	if _, err := readDocument([]byte(`{"decision_id":"d","novel":1,"custom":{"event":"decision"`)); err == nil {
		t.Error("a key that nobody knows was lost in silence")
	}
}
