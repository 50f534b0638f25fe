package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// same holds what marshal wrote against what encoding/json writes.
func same(t *testing.T, e api.Event) {
	t.Helper()
	line, err := marshal(e)
	must(t, err)
	e.Timestamp = e.Timestamp.UTC()
	reference, err := json.Marshal(struct {
		Labels map[string]string `json:"labels"`
		api.Event
	}{map[string]string{"app": "bailiff"}, e})
	must(t, err)
	var got, want any
	if err := json.Unmarshal(append(line, unclosed...), &got); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	must(t, json.Unmarshal(reference, &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s}}\nwant %s", line, reference)
	}
	if strings.ContainsAny(string(line), "\n\r") {
		t.Errorf("more than a line: %q", line)
	}
}

func TestMarshalWritesEveryField(t *testing.T) { same(t, filled(t)) }

// A line that holds a secret is taken apart and put together again.
func TestScrubbingKeepsEveryField(t *testing.T) {
	t.Parallel()
	line, err := marshal(filled(t))
	must(t, err)
	clean, err := scrubLine(line, func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("No."), []byte("Yes")) })
	must(t, err)
	var got, want any
	must(t, json.Unmarshal(append(clean, unclosed...), &got))
	must(t, json.Unmarshal([]byte(strings.Replace(string(line), "No.", "Yes", 1)+unclosed), &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", clean, line)
	}
}

// filled fills an event by reflection, so that a field added to it cannot be
// forgotten here.
func filled(t *testing.T) api.Event {
	var e api.Event
	code := 3
	for value := range fields(reflect.ValueOf(&e).Elem()) {
		switch value.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Int64:
			value.SetInt(7)
		}
	}
	e.Timestamp = time.Now()
	e.Input = rawInput("{\"a\":\n\"b\"}")
	e.Result = bailiff.Denial("a.b", "No.")
	e.Bundles = map[string]api.Bundle{"b": {Revision: "2"}, "a": {Revision: "1"}}
	e.Metrics = map[string]int64{"b": 2, "a": 1}
	e.Error = &api.EventError{Message: "x"}
	e.Custom.ExitCode = &code
	e.Custom.Approval = &bailiff.Approval{ID: "a-1", State: bailiff.ApprovalDenied, By: "ana", Via: "uid:1000 on operator", Message: "x"}
	e.Custom.BreakGlass = &api.BreakGlass{By: "ana", Via: "uid:1000 on operator", Reason: "x"}
	e.Custom.Rollback = &api.Rollback{Revision: "x", By: "ana", Via: "uid:1000 on operator", Reason: "x", At: time.Now().UTC()}
	e.Custom.Shadow = &api.Shadow{Revision: "x", Outcome: bailiff.Ask, Rules: []string{"a.b"},
		Differences: []api.Difference{{What: "outcome", From: "allow", To: "ask", Direction: api.Stricter}}}
	e.Custom.Connection = &api.Connection{What: "closed", Protocol: "https", Via: "connect", Host: "a.test", Port: 443, Method: "GET",
		Path: "/a", Rule: "a.b", Sent: 1, Received: 2}
	e.Custom.Snapshot = map[string]string{"/p": "0123"}
	e.Custom.MCP = &api.MCPTrust{Server: "files", Digest: "01", By: "ana"}
	e.Custom.Agent = bailiff.Agent{ID: "a", Parent: "b", Depth: 2}
	e.Custom.Undo = &api.Undo{Of: "x", By: "ana", Restored: 1, Left: 2, Failed: 3, Force: true}
	for value := range fields(reflect.ValueOf(e)) {
		if value.IsZero() {
			t.Errorf("a field of type %s is new: fill it here", value.Type())
		}
	}
	return e
}

// fields yields the fields of an event and of its custom part.
func fields(event reflect.Value) func(func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		custom := event.FieldByName("Custom")
		for _, v := range []reflect.Value{event, custom} {
			for i := range v.NumField() {
				if v.Field(i).Type() != custom.Type() && !yield(v.Field(i)) {
					return
				}
			}
		}
	}
}

func TestAnEmptyEventIsALine(t *testing.T) { same(t, api.Event{}) }

func FuzzMarshal(f *testing.F) {
	f.Add("a", "\"\\\n\x00\x7f<é\u2028\xff", int64(1))
	f.Fuzz(func(t *testing.T, name, text string, n int64) {
		same(t, api.Event{
			DecisionID: text, Timestamp: time.Unix(n%1e9, n&0xffff), Result: text, Error: &api.EventError{Message: text},
			Bundles: map[string]api.Bundle{"policies": {Revision: text}},
			Metrics: map[string]int64{"n": n},
			Custom:  api.Custom{Message: name + text, Nanoseconds: n},
		})
	})
}
