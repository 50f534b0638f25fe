package gateway

import "testing"

func TestALoggedRequestIsToldByWhatItAsksFor(t *testing.T) {
	for input, want := range map[string]string{
		`"tool": "terminal", "args": {"command": "ls", "workdir": "/x", "timeout": 3}`:      "ls",
		`"tool": "execute_code", "args": {"code": "print()", "reset": true}`:                "print()",
		`"tool": "process", "args": {"action": "list", "process_id": "", "data": ""}`:       "list",
		`"tool": "process", "args": {"action": "write", "process_id": "p1", "data": "yes"}`: "write p1 yes",
		`"tool": "call", "args": {"name": "web_search", "arguments": {"query": "x", "deep": [1, {"a": null}]}}`: "web_search " +
			`{"query": "x", "deep": [1, {"a": null}]}`,
	} {
		if event, ok := readLine([]byte(`{"decision_id": "d1", "input": {` + input + `}}`)); !ok || event.Text != want {
			t.Errorf("%s: told %q (%v), want %q", input, event.Text, ok, want)
		}
	}
}

func TestAMaskedRequestIsToldAsFarAsItIsLeft(t *testing.T) {
	const line = `{"decision_id": "d1", "requested_by": "hermes", "input": {"session": {"platform": "slack"},
		"tool": "terminal", "args": "masked"},
		"result": {"outcome": "deny", "denials": "masked"}, "custom": {"event": "decision", "session": "s1"}}`
	event, ok := readLine([]byte(line))
	if !ok || event.Platform != "slack" || event.Tool != "terminal" || event.Text != "" || event.Outcome != "deny" ||
		event.Session != "s1" {
		t.Errorf("told %+v (%v)", event, ok)
	}
}
