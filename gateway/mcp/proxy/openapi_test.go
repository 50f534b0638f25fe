package proxy

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

func TestWhatOpensAConnectionIsDescribed(t *testing.T) {
	spec, err := openapi3.NewLoader().LoadFromFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operation := spec.Paths.Value(Path).Post
	opening := operation.RequestBody.Value.Content["application/json"].Schema.Value
	for _, c := range []struct {
		name, method, body string
		upgrades, ends     bool
		want               int
	}{
		{"a command", "POST", `{"server":"a","command":["x"],"session":{"platform":"cli"},"wait_seconds":0}`, true, true, 503},
		{"another name", "POST", `{"server":"a b","command":["x"],"session":{"platform":"cli"}}`, true, false, 400},
		{"no upgrade", "POST", `{}`, false, false, 426},
	} {
		p, err := New(Config{Trust: &trust.Store{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if c.ends {
			p.Close()
		}
		r := httptest.NewRequest(c.method, Path, strings.NewReader(c.body))
		if c.upgrades {
			r.Header.Set("Upgrade", operation.Parameters.GetByInAndName("header", "Upgrade").Schema.Value.Enum[0].(string))
		}
		w := httptest.NewRecorder()
		p.Handler("test", &sidecar{}).ServeHTTP(w, r)
		var body, answer any
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		response := operation.Responses.Value(strconv.Itoa(w.Code))
		if w.Code != c.want || response == nil {
			t.Fatalf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if err := response.Value.Content["application/json"].Schema.Value.VisitJSON(answer); err != nil {
			t.Errorf("%s: the answer is not as described: %v", c.name, err)
		}
		_ = json.Unmarshal([]byte(c.body), &body)
		if err := opening.VisitJSON(body); (err == nil) != (c.want == 503) {
			t.Errorf("%s: the body is described: %v", c.name, err)
		}
	}
}
