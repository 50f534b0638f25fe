package facts

import (
	"slices"
	"strings"
	"testing"
)

func TestATextThatIsOneCallAndNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rm -r build":            "rm -r build",
		"rm -r 'a b'":            "rm|-r|a b",
		"rm -r build; rm -r src": "",
		"rm -r build && true":    "",
		"rm -r build | cat":      "",
		"rm -r build >out":       "",
		"rm -r build &":          "",
		"sudo rm -r build":       "",
		"X=1 rm -r build":        "",
		"rm -r $X":               "",
		"rm -r *":                "",
		"rm -r $(cat list)":      "",
		"cd x; rm -r build":      "",
		"sh x.sh":                "",
		"python3 -c 'print(1)'":  "",
		"(rm -r build)":          "",
		"! rm -r build":          "rm -r build", // which changes its status only
		"":                       "",
	} {
		words := strings.Fields(want)
		if strings.Contains(want, "|") {
			words = strings.Split(want, "|")
		}
		if got := OnlyCall(Shell(text, work)); !slices.Equal(got, words) {
			t.Errorf("%s is the call %q, want %q", text, got, words)
		}
	}
}
