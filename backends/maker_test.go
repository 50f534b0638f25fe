package backends_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
)

func TestARunningSidecarTakesOverTheFoldersThatSandboxesMayShowAndNothingElseOfABackend(t *testing.T) {
	sections := func(change func(key string, list *[]string)) map[string]backends.Maker {
		all := map[string]backends.Maker{}
		for name, defaults := range catalogue.All() {
			all[name] = defaults()
			for _, s := range all[name].Settings() {
				if list, ok := s.Into.(*[]string); ok {
					change(s.Key, list)
				}
			}
		}
		return all
	}
	now := sections(func(string, *[]string) {})
	changed := map[string]bool{}
	for key, want := range map[string]bool{"": false, backends.MountsAllowed: false, "accept_missing_limits": true} {
		next := sections(func(k string, list *[]string) {
			if k == key {
				*list, changed[key] = append(*list, "other"), true
			}
		})
		if got := backends.NeedRestart(now, next); got != want || changed[key] != (key != "") {
			t.Errorf("of a change of %q it says %v, want %v", key, got, want)
		}
	}
	less := sections(func(string, *[]string) {})
	delete(less, "local")
	if !backends.NeedRestart(now, less) {
		t.Error("a backend less needs no restart")
	}
}
