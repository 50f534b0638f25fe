package gateway

import (
	stdjson "encoding/json"
	"strings"
	"testing"
)

// FuzzParse holds that a request which is taken means the same to every reader
// of JSON, and that every refusal has a place and a reason.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		telegramRequest, benchRequest, args(`"{\"command\": \"ls\"}"`), code(`{"code": "1", "timeout": 1e2}`),
		process(`{"action": "list"}`), with(`"env": ["A"]`), with(`"tool": 1`), session(`"unattended": true`), "{", "[]", "\xff",
		`"\ud800"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		req, p := parse(body)
		if p != nil {
			if len(p.Errors) == 0 || p.Errors[0].Message == "" || !strings.HasPrefix(p.Errors[0].At+"/", "/") {
				t.Errorf("refused %q with %+v", body, p)
			}
			return
		}
		var other struct {
			Tool    string `json:"tool"`
			Session struct {
				ID       string `json:"id"`
				Platform string `json:"platform"`
			} `json:"session"`
			Args any `json:"args"`
		}
		if err := stdjson.Unmarshal(body, &other); err != nil {
			t.Fatalf("%q was taken, and another reader says %v", body, err)
		}
		if text, isText := other.Args.(string); isText {
			if err := stdjson.Unmarshal([]byte(text), &other.Args); err != nil {
				t.Fatalf("the args of %q were taken, and another reader says %v", body, err)
			}
		}
		members, _ := other.Args.(map[string]any)
		command, _ := members["command"].(string)
		if other.Tool != string(req.Tool) || other.Session.ID != req.Session.ID || other.Session.Platform != req.Session.Platform ||
			command != req.Args.Command {
			t.Errorf("%q was read as %+v, and by another reader as %+v", body, req, other)
		}
	})
}
