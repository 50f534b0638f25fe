package pdp

import (
	"encoding/json"
	"testing"
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
	if p.inForce.Load().memo == nil {
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
