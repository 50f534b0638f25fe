package client

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// shapes are what a client wants to be there, by the names in openapi.yaml.
var shapes = map[string][]string{"Decided": inDecided, "Answer": inAnswer, "Decision": inDecision, "Approval": inApproval,
	"Output": inOutput, "ToolCall": inToolCall, "SessionEnded": inEnded}

func TestBothClientsWantWhatTheAPIPromises(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string `yaml:"required"`
				Properties map[string]struct {
					Enum []string `yaml:"enum"`
				} `yaml:"properties"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	python := shapesInPython(t)
	for name, shape := range shapes {
		promised := slices.Sorted(slices.Values(api.Components.Schemas[name].Required))
		if got := slices.Sorted(slices.Values(shape)); !slices.Equal(got, promised) {
			t.Errorf("the client in Go wants %v of %s, the API promises %v", got, name, promised)
		}
		if !slices.Equal(python[name], promised) {
			t.Errorf("the client in Python wants %v of %s, the API promises %v", python[name], name, promised)
		}
	}
	for name, words := range map[string]any{"Answer.status": statuses, "Approval.state": states, "Output.encoding": encodings} {
		schema, property, _ := strings.Cut(name, ".")
		promised := slices.Sorted(slices.Values(api.Components.Schemas[schema].Properties[property].Enum))
		known := reflect.ValueOf(words)
		var got []string
		for i := range known.Len() {
			got = append(got, known.Index(i).String())
		}
		if slices.Sort(got); !slices.Equal(got, promised) {
			t.Errorf("the client in Go knows %v for %s, the API %v", got, name, promised)
		}
		if !slices.Equal(python[name], promised) {
			t.Errorf("the client in Python knows %v for %s, the API %v", python[name], name, promised)
		}
	}
}

// shapesInPython are those of the client in Python, by the same names.
func shapesInPython(t *testing.T) (all map[string][]string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	command := exec.Command(python, "-B", "-c", `
import bailiff, json
e = bailiff._EVENTS
shapes = {"Decided": e["decision"], "Answer": e["result"], "Decision": e["decision"]["decision"], "Approval": e["approval"],
          "Output": e["output"], "ToolCall": e["tool_call"], "SessionEnded": bailiff._ENDED}
all = {name: sorted(part for part in shape if not part.endswith("?")) for name, shape in shapes.items()}
for word in ("Answer.status", "Approval.state", "Output.encoding"):
    name, part = word.split(".")
    all[word] = sorted(shapes[name][part])
print(json.dumps(all))`)
	command.Dir, command.Stderr = filepath.Join("..", "..", "examples", "python"), os.Stderr
	printed, err := command.Output()
	if err == nil {
		err = json.Unmarshal(printed, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhatIsNotWholeIsNoAnswer(t *testing.T) {
	const decision = `{"outcome": "allow", "denials": [], "backend": {}, "env": {}, "limits": {}, "revision": ""}`
	if d, err := taken([]byte(`{"decision_id": "d1", "decision": `+decision+`}`), checkDecided); err != nil || d.DecisionID != "d1" {
		t.Fatalf("what is whole: %+v, %v", d, err)
	}
	for name, text := range map[string]string{
		"nothing":               ``,
		"an empty object":       `{}`,
		"null":                  `null`,
		"a list":                `[` + decision + `]`,
		"no decision":           `{"decision_id": "d1"}`,
		"a decision of null":    `{"decision_id": "d1", "decision": null}`,
		"no outcome":            `{"decision_id": "d1", "decision": ` + strings.Replace(decision, "outcome", "outcomes", 1) + `}`,
		"an outcome of null":    `{"decision_id": "d1", "decision": ` + strings.Replace(decision, `"allow"`, `null`, 1) + `}`,
		"an unknown outcome":    `{"decision_id": "d1", "decision": ` + strings.Replace(decision, `allow`, `Allow`, 1) + `}`,
		"an outcome elsewhere":  `{"decision_id": "d1", "outcome": "allow", "decision": {}}`,
		"another spelling":      `{"Decision_id": "d1", "Decision": ` + decision + `}`,
		"something after it":    `{"decision_id": "d1", "decision": ` + decision + `} allow`,
		"a decision in a word":  `{"decision_id": "d1", "decision": "allow"}`,
		"an id that is no text": `{"decision_id": 1, "decision": ` + decision + `}`,
	} {
		if d, err := taken([]byte(text), checkDecided); err == nil || !reflect.DeepEqual(d, api.Decided{}) {
			t.Errorf("%s: taken as %+v, %v", name, d, err)
		}
	}
}
