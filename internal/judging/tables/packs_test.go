package tables

import (
	"slices"
	"testing"
)

func TestPacksAreReadStrictly(t *testing.T) {
	pack := func(program map[string]any) any {
		return map[string]any{"ours": map[string]any{"programs": map[string]any{"acme": program}}}
	}
	for wrong, all := range map[string]any{
		"": pack(map[string]any{"source": "known", "verbs": map[string]any{"rm": []any{"destroys"}}}),
		`"destroy": unknown word, nearest valid word is "destroys"`: pack(map[string]any{"verbs": map[string]any{"rm": []any{"destroy"}}}),
		"is \"destroys\", want a list":                              pack(map[string]any{"options": map[string]any{"--rm": "destroys"}}),
		"is 7, want text":                                           pack(map[string]any{"source": 7}),
		"unknown key, nearest valid key is \"verbs\"":               pack(map[string]any{"verb": map[string]any{}}),
		"is a list, want an object":                                 []any{},
	} {
		var told []string
		for _, f := range CheckPacks(all) {
			told = append(told, f.Wrong)
		}
		if wrong == "" && told != nil || wrong != "" && !slices.Contains(told, wrong) {
			t.Errorf("%v: got %q, want %q", all, told, wrong)
		}
	}
}
