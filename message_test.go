package bailiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAMessageSaysOnceWhatWasFoundWhereAndWhatWouldBeAllowed(t *testing.T) {
	deletes := func(match string) bailiff.Reason {
		return bailiff.Reason{Rule: "command.deletes", Message: "It deletes folders.", Match: match, Instead: "Name the files."}
	}
	sends := bailiff.Reason{Rule: "command.sends", Message: "It sends files.", Instead: "Print them."}
	for name, c := range map[string]struct {
		reasons []bailiff.Reason
		want    string
	}{
		"nothing": {nil, ""},
		"one": {[]bailiff.Reason{deletes("./build")},
			"It deletes folders (command.deletes: ./build). Instead: Name the files."},
		"one that names no part": {[]bailiff.Reason{sends}, "It sends files (command.sends). Instead: Print them."},
		"one without a remedy": {[]bailiff.Reason{{Rule: "guard.night", Message: "Not at night.", Match: "ls"}},
			"Not at night (guard.night: ls)."},
		"the same of two parts": {[]bailiff.Reason{deletes("a"), deletes("b"), deletes("a")},
			"It deletes folders (command.deletes: a, b). Instead: Name the files."},
		"two": {[]bailiff.Reason{deletes("a"), sends},
			"It deletes folders (command.deletes: a). It sends files (command.sends). Instead: Name the files. Print them."},
		"two with one remedy": {[]bailiff.Reason{deletes("a"), {Rule: "x.y", Message: "No.", Instead: "Name the files."}},
			"It deletes folders (command.deletes: a). No (x.y). Instead: Name the files."},
		"parts on several lines": {[]bailiff.Reason{deletes("a\n\tb\x1b[2J")},
			"It deletes folders (command.deletes: a b[2J). Instead: Name the files."},
		"a part that is too long": {[]bailiff.Reason{deletes(strings.Repeat("ä", 99))}, "It deletes folders (command.deletes: " +
			strings.Repeat("ä", 50) + "…). Instead: Name the files."},
		"more parts than are of use": {[]bailiff.Reason{deletes("a"), deletes("b"), deletes("c"), deletes("d"), deletes("e")},
			"It deletes folders (command.deletes: a, b, c and 2 more). Instead: Name the files."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := bailiff.Sentences(c.reasons); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAMessageIsBoundedHoweverManyReasonsThereAre(t *testing.T) {
	var reasons []bailiff.Reason
	for i := range 10_000 {
		reasons = append(reasons, bailiff.Reason{Rule: "a.b", Message: fmt.Sprintf("Number %d.", i), Instead: fmt.Sprintf("Try %d.", i)})
	}
	got := bailiff.Sentences(reasons)
	if !strings.Contains(got, "Number 7 (a.b). There are 9992 more reasons. Instead: Try 0.") || strings.Contains(got, "Try 8.") ||
		len(got) > 1000 {
		t.Errorf("got %d bytes: %.500s", len(got), got)
	}
}
