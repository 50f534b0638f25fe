package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed layout.html site.css search.js
var shipped embed.FS

var layout = template.Must(template.ParseFS(shipped, "layout.html"))

// startPage is the list of all pages, with which the site begins.
const startPage = "docs/README.md"

// site is what is written: pages, and by their addresses all other files.
type site struct {
	source fs.FS
	pages  []*page // in the order of the list of pages
	byFile map[string]*page
	files  map[string][]byte
}

// build reads the pages of a repository and connects them.
func build(source fs.FS) (*site, error) {
	s := &site{source: source, byFile: map[string]*page{}, files: map[string][]byte{}}
	names := []string{"README.md", "SECURITY.md", "CHANGELOG.md"}
	err := fs.WalkDir(source, "docs", func(file string, _ fs.DirEntry, err error) error {
		if path.Ext(file) == ".md" {
			names = append(names, file)
		}
		return err
	})
	for _, name := range names {
		err = errors.Join(err, s.read(name))
	}
	if err != nil {
		return nil, err
	}
	s.sort()
	for _, p := range s.pages {
		err = errors.Join(err, p.connect(s))
	}
	return s, errors.Join(err, s.draw())
}

func (s *site) read(name string) error {
	text, err := fs.ReadFile(s.source, name)
	if err != nil {
		return err
	}
	p, err := parse(name, text)
	if err != nil {
		return err
	}
	s.pages, s.byFile[name] = append(s.pages, p), p
	return nil
}

// sort puts the list of all pages first, then the README, then the pages in the order of the list; each folder's first page
// stands before its others.
func (s *site) sort() {
	order := map[string]int{startPage: -2, "README.md": -1}
	for n, link := range s.byFile[startPage].targets() {
		if _, known := order[link]; !known {
			order[link] = n
		}
	}
	place := func(p *page) string {
		front := s.front(p)
		n, known := order[front]
		if !known {
			n = len(order) + len(s.byFile)
		}
		return fmt.Sprintf("%04d %s %t %s", n+2, front, p.file != front, p.file)
	}
	slices.SortFunc(s.pages, func(a, b *page) int { return strings.Compare(place(a), place(b)) })
}

// front is the first page of a page's folder, or the page itself where it stands in no folder of its own.
func (s *site) front(p *page) string {
	front := path.Join(path.Dir(p.file), "README.md")
	if _, known := s.byFile[front]; !known || front == "README.md" || front == startPage {
		return p.file
	}
	return front
}

// bring takes a file of the repository along to which a page leads.
func (s *site) bring(file string) error {
	text, err := fs.ReadFile(s.source, file)
	if err != nil {
		return err
	}
	s.files[address(file)] = text
	return nil
}

// entry is a line of the list of pages, as it stands on one of them.
type entry struct {
	Title, Address string
	Inner, Current bool
}

// draw makes every file of the site.
func (s *site) draw() error {
	for _, p := range s.pages {
		body, err := p.html()
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := layout.Execute(&b, map[string]any{"Title": p.title, "Body": template.HTML(body), "Root": p.relative(""),
			"Pages": s.list(p)}); err != nil {
			return err
		}
		s.files[address(p.file)] = b.Bytes()
	}
	for _, name := range []string{"site.css", "search.js"} {
		text, err := shipped.ReadFile(name)
		if err != nil {
			return err
		}
		s.files[name] = text
	}
	return s.index()
}

func (s *site) list(current *page) (all []entry) {
	for _, p := range s.pages {
		all = append(all, entry{p.title, current.relative(address(p.file)), s.front(p) != p.file, p == current})
	}
	return all
}

// found is what the search knows of a part of a page: address, title, heading, text.
type found [4]string

// index makes the list that the search looks in. It is a script, since a page that comes from a folder
// may load nothing else.
func (s *site) index() error {
	var all []found
	for _, p := range s.pages {
		for _, part := range p.parts {
			all = append(all, found{address(p.file) + "#" + part.anchor, p.title, part.heading, part.text})
		}
	}
	list, err := json.Marshal(all)
	s.files["index.js"] = fmt.Appendf(nil, "window.found(%s)\n", list)
	return err
}

// write puts the site into a folder, in the place of what is there.
func (s *site) write(out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, text := range s.files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}
