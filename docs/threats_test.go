package docs_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	threatRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\[\d+\][^|]*) \|$`)
	promised  = regexp.MustCompile(`\[(\d+)\]\(([^)]+)\)`)
)

// Each threat names invariants, which name their tests.
func TestEveryThreatIsMetByInvariantsThatExist(t *testing.T) {
	t.Parallel()
	holds := map[string][]int{}
	for _, row := range subject.FindAllStringSubmatch(read(t, "docs/design/README.md").text, -1) {
		first, _ := strconv.Atoi(row[1])
		last, _ := strconv.Atoi(row[2])
		for n := first; n <= last; n++ {
			holds["design/"+row[3]] = append(holds["design/"+row[3]], n)
		}
	}
	text := read(t, "docs/threat-model.md").text
	_, tables, _ := strings.Cut(text, "\n## Threats\n")
	tables, _, _ = strings.Cut(tables, "\n## ")
	rows := threatRow.FindAllStringSubmatch(tables, -1)
	if all := strings.Count(tables, "\n| ") - strings.Count(tables, "\n| threat |"); len(rows) != all || all < 20 {
		t.Errorf("%d of %d threats name invariants", len(rows), all)
	}
	for _, row := range rows {
		for _, p := range promised.FindAllStringSubmatch(row[2], -1) {
			if n, _ := strconv.Atoi(p[1]); !slices.Contains(holds[p[2]], n) {
				t.Errorf("%q: invariant %s does not stand in %s", row[1], p[1], p[2])
			}
		}
	}
}
