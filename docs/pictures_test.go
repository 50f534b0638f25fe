package docs_test

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// station is a box of the picture of one request's way: the folder of its step on the page about the
// architecture, and what is done there.
type station struct{ folder, name, does string }

var way = []station{
	{"gateway", "gateway", "who may speak"},
	{"internal/facts", "facts", "what the text does"},
	{"internal/pdp", "PDP", "decides, by Rego"},
	{"internal/approval", "approval", "yes or no"},
	{"internal/record/audit", "decision log", "on disk first"},
	{"enforcer/lease", "lease", "of a sandbox"},
	{"backends/runner", "runner", "runs the command"},
}

var stepBegins = regexp.MustCompile("(?m)^(?:\\d+\\.|  ) ?[^`\n]*`([a-z/]+)`[: ]")

func TestThePictureOfTheWayIsTrue(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(read(t, "docs/ARCHITECTURE.md").text, "## One request's way")
	text, _, _ = strings.Cut(text, "\n## ")
	var told, drawn []string
	for _, step := range stepBegins.FindAllStringSubmatch(text, -1) {
		told = append(told, step[1])
	}
	for _, s := range way {
		drawn = append(drawn, s.folder)
	}
	told = slices.DeleteFunc(told, func(folder string) bool { return !slices.Contains(drawn, folder) })
	if told = slices.Compact(told); !slices.Equal(told, drawn) {
		t.Errorf("the page tells of %v, and the picture shows %v", told, drawn)
	}
	kept(t, "way.svg", drawWay())
}

// kept holds a picture to what it is drawn from.
func kept(t *testing.T, name string, drawn []byte) {
	t.Helper()
	file := filepath.Join("pictures", name)
	if os.Getenv("BAILIFF_UPDATE_RESULTS") != "" {
		if err := os.WriteFile(file, drawn, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := os.ReadFile(file); err != nil || !bytes.Equal(found, drawn) {
		t.Errorf("%s is not what is drawn now (%v): write it anew with BAILIFF_UPDATE_RESULTS=1", file, err)
	}
}

// drawWay draws the stations in a row, with who stands beside them.
func drawWay() []byte {
	const wide, gap, top = 118, 16, 96
	above := map[string]string{"gateway": "agent", "PDP": "security team: policies/*.rego, data.yaml"}
	below := map[string]string{"approval": "people: chat, console, command line", "runner": "in a sandbox"}
	var b bytes.Buffer
	width := len(way)*(wide+gap) + gap
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 230" width="%d" role="img">`+"\n<style>\n"+
		"text { font: 13px system-ui, 'Segoe UI', Roboto, Arial, sans-serif; fill: #191d26; text-anchor: middle; }\n"+
		".name { font-weight: bold; font-size: 15px; } .box { fill: #eceefb; stroke: #3345c4; } path { stroke: #515a6b; fill: none; }\n"+
		".quiet { fill: #515a6b; font-size: 11px; } .ground { fill: #ffffff; }\n"+
		"@media (prefers-color-scheme: dark) {\n"+
		"text { fill: #e6e9ef; } .box { fill: #232a45; stroke: #97a5ff; } path { stroke: #a3adbf; }\n"+
		".quiet { fill: #a3adbf; } .ground { fill: #101319; } }\n</style>\n<title>One request's way through bailiff</title>\n"+
		`<rect class="ground" width="%d" height="230" rx="12"/>`+"\n", width, width, width)
	for n, s := range way {
		x := gap + n*(wide+gap)
		middle := x + wide/2
		fmt.Fprintf(&b, `<rect class="box" x="%d" y="%d" width="%d" height="60" rx="8"/><text class="name" x="%d" y="%d">%s</text>`+
			`<text class="quiet" x="%d" y="%d">%s</text>`+"\n", x, top, wide, middle, top+26, html.EscapeString(s.name), middle, top+46,
			html.EscapeString(s.does))
		if n > 0 {
			arrow(&b, x-gap, top+30, x-2, top+30)
		}
		if who := above[s.name]; who != "" {
			fmt.Fprintf(&b, `<text x="%d" y="48">%s</text>`+"\n", middle, html.EscapeString(who))
			arrow(&b, middle, 56, middle, top-3)
		}
		if what := below[s.name]; what != "" {
			fmt.Fprintf(&b, `<text x="%d" y="206">%s</text>`+"\n", middle, html.EscapeString(what))
			arrow(&b, middle, top+62, middle, 190)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// arrow leads from one point to another.
func arrow(b *bytes.Buffer, fromX, fromY, toX, toY int) {
	head := "l-5 -4 m5 4 l-5 4"
	if fromX == toX {
		head = "l-4 -5 m4 5 l4 -5"
	}
	fmt.Fprintf(b, `<path d="M%d %d L%d %d %s"/>`+"\n", fromX, fromY, toX, toY, head)
}
