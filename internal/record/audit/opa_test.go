package audit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff/api"
)

// asOPA reads a line as OPA's own events are read: with no name that they lack.
// Their error is an interface, of which OPA writes the one type named here.
func asOPA(t *testing.T, line string) (event logs.EventV1) {
	t.Helper()
	read := struct {
		*logs.EventV1
		Error *topdown.Error `json:"error"`
	}{EventV1: &event}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if read.Error != nil {
		event.Error = read.Error
	}
	return event
}

func TestEveryLineIsAnEventOfOPAsDecisionLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Scrub: func(text []byte) []byte {
		return []byte(strings.ReplaceAll(string(text), "hunter2", "[secret]"))
	}})
	began := time.Now().Add(-time.Second)
	whole := filled(t)
	whole.Path, whole.RequestedBy = "bailiff/decision", "hunter2"
	whole.Bundles = map[string]api.Bundle{"policies": {Revision: "v7"}}
	record(t, l, decision("d1"), execution("d1"), whole)
	for i, line := range written(t, dir) {
		e := asOPA(t, line)
		if e.Labels["app"] != "bailiff" || e.DecisionID == "" || e.Timestamp.Before(began) || time.Since(e.Timestamp) < 0 ||
			e.Custom["hash"] == nil {
			t.Errorf("line %d is read as %+v", i, e)
		}
	}
	e := asOPA(t, written(t, dir)[2])
	if e.Path != "bailiff/decision" || e.RequestedBy != "[secret]" || e.Bundles["policies"].Revision != "v7" {
		t.Errorf("it is read as %+v", e)
	}
	if want := any(map[string]any{"a": "b"}); e.Input == nil || !reflect.DeepEqual(*e.Input, want) {
		t.Errorf("the input is read as %v", e.Input)
	}
	if e.Result == nil || !strings.Contains(e.Error.Error(), "x") || len(e.Metrics) != 2 {
		t.Errorf("it is read as %+v", e)
	}
}
