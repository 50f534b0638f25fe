package operate

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

func TestTheBeginningOfAnIDNamesASandboxIfNoOtherBeginsSo(t *testing.T) {
	t.Parallel()
	list := []api.Sandbox{{ID: "0123456789abcdef"}, {ID: "0123456789abxxxx"}, {ID: "fedcba9876543210"}, {ID: "short"}}
	for text, want := range map[string]string{"0123456789abcdef": "0123456789abcdef", "fedcba987654": "fedcba9876543210",
		"short": "short"} {
		if id, err := sandboxNamed(list, text); id != want || err != nil {
			t.Errorf("%s names %q, %v", text, id, err)
		}
	}
	for text, says := range map[string]string{"fedcba98765": "no sandbox", "0123456789ab": "2 sandboxes", "shor": "no sandbox",
		"": "no sandbox"} {
		if id, err := sandboxNamed(list, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q names %q, %v", text, id, err)
		}
	}
}
