package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = ".."

// page is one file of the documentation, by its name below the repository's root.
type page struct{ name, text string }

// block is a fenced block of a page; kind is what follows its opening fence.
type block struct {
	kind, text string
	line       int
}

// pages are the README and everything in this folder and below.
func pages(t *testing.T) []page {
	t.Helper()
	all := []page{read(t, "README.md")}
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			all = append(all, read(t, "docs/"+path))
		}
		return err
	})
	if err != nil || len(all) == 1 {
		t.Fatalf("finding the pages: %d found, %v", len(all)-1, err)
	}
	return all
}

func read(t *testing.T, name string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return page{name, string(text)}
}

// blocks are the page's fenced blocks, in their order.
func (p page) blocks() (all []block) {
	var open *block
	for i, line := range strings.Split(p.text, "\n") {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{kind: kind, line: i + 2}
		case fence:
			all, open = append(all, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

// file is the one that the block's kind names, as "python examples/python/ask.py"
// does; empty if it names none.
func (b block) file() string {
	_, file, _ := strings.Cut(b.kind, " ")
	if !strings.Contains(file, "/") {
		return ""
	}
	return file
}

func (p page) blocksOf(kind string) (some []block) {
	for _, b := range p.blocks() {
		if b.kind == kind {
			some = append(some, b)
		}
	}
	return some
}

// prose is the page without its fenced blocks.
func (p page) prose() string {
	text := p.text
	for _, b := range p.blocks() {
		text = strings.Replace(text, "```"+b.kind+"\n"+b.text+"```", "", 1)
	}
	return text
}

var span = regexp.MustCompile("`([^`]+)`")

// spans are the words in back quotes outside of blocks.
func (p page) spans() (all []string) {
	for _, m := range span.FindAllStringSubmatch(p.prose(), -1) {
		all = append(all, strings.ReplaceAll(m[1], "\n", " "))
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// links are the targets of links that lead to files.
func (p page) links() (all []string) {
	for _, m := range link.FindAllStringSubmatch(p.prose(), -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target != "" && !strings.Contains(target, "://") {
			all = append(all, target)
		}
	}
	return all
}
