package pdp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const maskRules = `# METADATA
# scope: package
# schemas:
#   - input: {}
package system.log

mask contains "/input/args/command" if input.input.tool == "terminal"
`

func TestTheMaskOfTheDecisionLogIsAskedAboutTheEvent(t *testing.T) {
	event := []byte(`{"decision_id": "d1", "input": {"tool": "terminal"}}`)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"rules":                 {map[string]string{"mask.rego": maskRules}, `["/input/args/command"]`},
		"data":                  {map[string]string{"system/log/data.json": `{"mask": ["/input"]}`}, `["/input"]`},
		"none":                  {nil, "null"},
		"rules of another name": {map[string]string{"log.rego": "package system.log\n\nother := 1\n"}, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"allow.rego": allowing}
			for name, text := range c.files {
				files[name] = text
			}
			p := opened(t, files)
			mask, defined, err := p.Mask(t.Context(), event)
			got, _ := json.Marshal(mask)
			if err != nil || string(got) != c.want || defined != (c.want != "null") {
				t.Errorf("got %s (%v), %v; want %s", got, defined, err, c.want)
			}
		})
	}
}

// A mask reads the event, which has a time, and must not cost what is remembered.
func TestAMaskLeavesWhatIsRememberedAlone(t *testing.T) {
	p := opened(t, map[string]string{"allow.rego": allowing, "mask.rego": maskRules})
	if p.inForce.Load().requests == nil {
		t.Error("judgements are not remembered")
	}
}

func TestWithoutAMaskNothingIsRead(t *testing.T) {
	p := opened(t, map[string]string{"allow.rego": allowing})
	if mask, defined, err := p.Mask(t.Context(), []byte("no JSON")); mask != nil || defined || err != nil {
		t.Errorf("got %v, %v, %v", mask, defined, err)
	}
	if n := testing.AllocsPerRun(10, func() { _, _, _ = p.Mask(t.Context(), nil) }); n > 0 {
		t.Errorf("it allocates %v times", n)
	}
}

func TestAMaskThatFitsNoEventDoesNotComeIntoForce(t *testing.T) {
	const head = "package system.log\n\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"a path": {"mask.rego", head + `mask contains "/custom/hash"`,
			`mask.rego:3: system.log.mask: a path is "/custom/hash", want one that begins with /input or /result`},
		"under a condition": {"mask.rego", head + `mask contains "input/args" if input.input.tool == "terminal"`,
			`mask.rego:3: system.log.mask: a path is "input/args"`},
		"an object": {"mask.rego", head + `mask contains {"op": "remove", "path": "/custom/hash"}`,
			`mask.rego:3: system.log.mask: a path is "/custom/hash"`},
		"with a computed value": {"mask.rego",
			head + `mask contains {"op": "upsert", "path": "/labels/id", "value": v} if v := input.input.tool`, `a path is "/labels/id"`},
		"an op": {"mask.rego", head + `mask contains {"op": "hash", "path": "/input/args"}`,
			`for /input/args op is hash, want "remove" or "upsert"`},
		"no path": {"mask.rego", head + `mask contains {"op": "remove"}`, `a path is ""`},
		"one of those chosen": {"mask.rego", head + "mask contains path if {\n\tsome path in [\"/input/args\",\n\t\t\"/custom/hash\"]\n}",
			`mask.rego:5: system.log.mask: a path is "/custom/hash"`},
		"by its key": {"mask.rego", head + `mask contains path if some _, path in {"a": "/input", "b": "/result"}` +
			"\n\nmask contains path if some _, path in [\"/bundles\"]", `mask.rego:5: system.log.mask: a path is "/bundles"`},
		"a list": {"mask.rego", head + "mask := [\n\t\"/input/args\",\n\t\"/custom\",\n]",
			`mask.rego:5: system.log.mask: a path is "/custom"`},
		"a number": {"mask.rego", head + `mask contains 7`, `mask.rego:3: system.log.mask: an entry is of type json.Number`},
		"in another package": {"mask.rego", "package system\n\nlog.mask contains \"/custom\"",
			`mask.rego:3: system.log.mask: a path is "/custom"`},
		"data": {"system/log/data.yaml", "mask:\n- /input/args\n- /custom/hash",
			`data.yaml:3: system.log.mask.1: a path is "/custom/hash"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), Config{Paths: []string{tree(t, map[string]string{"allow.rego": allowing, c.file: c.text + "\n"})},
				EvalTimeout: time.Minute})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAMaskThatMayFitAnEventComesIntoForce(t *testing.T) {
	for name, rule := range map[string]string{
		"paths":                 `mask contains path if some path in ["/input/args", "/result"]`,
		"a computed path":       `mask contains concat("/", ["", "custom", "hash"]) if input.path == "/never"`,
		"a computed entry":      `mask contains {"op": "remove", "path": sprintf("/input/%s", [input.input.tool])}`,
		"a computed operation":  `mask contains {"op": op, "path": "/input/args"} if op := "remove"`,
		"nothing":               `mask := []`,
		"another rule's words":  `other contains "/custom/hash"`,
		"a choice of something": `mask contains "/input" if some tool in ["/custom"]`,
	} {
		t.Run(name, func(t *testing.T) {
			opened(t, map[string]string{"allow.rego": allowing,
				"mask.rego": "# METADATA\n# scope: package\n# schemas:\n#   - input: {}\npackage system.log\n\n" + rule + "\n"})
		})
	}
}
