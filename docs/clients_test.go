package docs_test

import (
	"regexp"
	"testing"
)

// A cell of the clients' table that is held names a line of tests, by a letter.
var (
	heldCell = regexp.MustCompile(`✓(\w?)`)
	heldLine = regexp.MustCompile(`(?m)^- (\w): ((?:.*\n)(?:  .*\n)*)`)
)

func TestEachCellOfTheClientsTableNamesTestsThatExist(t *testing.T) {
	text := read(t, "docs/clients/README.md").text
	lines := map[string][]held{}
	for _, line := range heldLine.FindAllStringSubmatch(text, -1) {
		lines[line[1]] = holders(line[2])
		for _, h := range lines[line[1]] {
			if !testsIn(t, h.folder)[h.test] {
				t.Errorf("line %s: there is no %s in %s", line[1], h.test, h.folder)
			}
		}
	}
	used := map[string]bool{}
	for _, cell := range heldCell.FindAllStringSubmatch(text, -1)[1:] { // the first is in the sentence that explains it
		if used[cell[1]] = true; len(lines[cell[1]]) == 0 {
			t.Errorf("the cell %q names no tests", cell[0])
		}
	}
	for letter := range lines {
		if !used[letter] {
			t.Errorf("no cell is held by line %s", letter)
		}
	}
}
