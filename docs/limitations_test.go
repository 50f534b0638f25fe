package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const limitations = "docs/limitations.md"

// ofLimits are headings of sections that tell of limits.
var ofLimits = regexp.MustCompile(`(?m)^## ((?:What|Why|Limits)\b.*)$`)

// isOfLimits tells them from headings that begin alike.
func isOfLimits(heading string) bool {
	return heading == "Limits" || regexp.MustCompile(`\b(not|cannot)\b`).MatchString(heading)
}

// anchor is where a heading is found on its page.
func anchor(heading string) string { return strings.ReplaceAll(strings.ToLower(heading), " ", "-") }

func TestEverySectionOfLimitsIsInOnePlace(t *testing.T) {
	t.Parallel()
	listed := read(t, limitations)
	// These lead here, or tell of words.
	apart := []string{limitations, "docs/words.md", "docs/versioning.md", "docs/threat-model.md", "docs/compare.md"}
	found := 0
	for _, p := range pages(t) {
		if slices.Contains(apart, p.name) {
			continue
		}
		for _, heading := range ofLimits.FindAllStringSubmatch(p.prose(), -1) {
			if !isOfLimits(heading[1]) {
				continue
			}
			found++
			if target := strings.TrimPrefix(p.name, "docs/") + "#" + anchor(heading[1]); !strings.Contains(listed.text, "("+target+")") {
				t.Errorf("%s has no link to %s", limitations, target)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d sections of limits were found", found)
	}
}

// A page that says so is of something that no test has met.
func TestWhatWasNeverTriedIsListed(t *testing.T) {
	t.Parallel()
	listed := read(t, limitations)
	said := regexp.MustCompile(`(?i)(is|are)\s+proven\s+against\s+a\s+stand-in|never\s+run\s+here|never\s+validated|was\s+not\s+tried`)
	for _, p := range pages(t) {
		if target := strings.TrimPrefix(p.name, "docs/"); p.name != limitations && said.MatchString(p.prose()) &&
			!strings.Contains(listed.text, "("+target+")") {
			t.Errorf("%s does not say what %s was never tried with", limitations, path.Base(p.name))
		}
	}
}
