package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is one page of the site, by its file below the repository's root.
type page struct {
	file    string
	title   string
	source  []byte
	root    ast.Node
	anchors map[string]bool
	parts   []part
}

// part is a heading with the text below it, for the search.
type part struct{ anchor, heading, text string }

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

func parse(file string, source []byte) (*page, error) {
	p := &page{file: file, source: source, anchors: map[string]bool{}}
	p.root = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(p))))
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			p.parts = append(p.parts, part{anchor: string(id.([]byte)), heading: p.plain(h)})
		} else if len(p.parts) > 0 {
			last := &p.parts[len(p.parts)-1]
			last.text = strings.TrimSpace(last.text + " " + p.plain(n))
		}
	}
	if len(p.parts) == 0 {
		return nil, fmt.Errorf("%s has no heading, by which it could be found", file)
	}
	p.title = p.parts[0].heading
	return p, nil
}

// Generate makes the anchor of a heading as GitHub does.
func (p *page) Generate(heading []byte, _ ast.NodeKind) []byte {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	anchor := plain
	for n := 1; p.anchors[anchor]; n++ {
		anchor = fmt.Sprintf("%s-%d", plain, n)
	}
	p.Put([]byte(anchor))
	return []byte(anchor)
}

// Put takes an anchor that is given.
func (p *page) Put(anchor []byte) { p.anchors[string(anchor)] = true }

// plain is what a reader sees of a node, in one line.
func (p *page) plain(n ast.Node) string {
	var seen strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				seen.Write(n.Value(p.source))
			}
			if n.SoftLineBreak() {
				seen.WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			if entering {
				seen.Write(n.Lines().Value(p.source))
			}
		default:
			if n.Type() == ast.TypeBlock {
				seen.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(seen.String()), " ")
}

// connect has each link of the page lead to its place on the site, and reports those that lead nowhere.
func (p *page) connect(s *site) error {
	var dead []error
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var target *[]byte
		switch n := n.(type) {
		case *ast.Link:
			target = &n.Destination
		case *ast.Image:
			target = &n.Destination
		default:
			return ast.WalkContinue, nil
		}
		place, err := p.place(s, string(*target))
		*target = []byte(place)
		dead = append(dead, err)
		return ast.WalkContinue, nil
	})
	return errors.Join(dead...)
}

// targets are the files that the page's links lead to, in their order.
func (p *page) targets() (all []string) {
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			file, _, _ := strings.Cut(string(link.Destination), "#")
			all = append(all, path.Join(path.Dir(p.file), file))
		}
		return ast.WalkContinue, nil
	})
	return all
}

// place is where a link of the page leads on the site.
func (p *page) place(s *site, target string) (string, error) {
	to, err := url.Parse(target)
	if err != nil || to.Host != "" {
		return target, err
	}
	file := p.file
	if to.Path != "" {
		file = path.Join(path.Dir(p.file), to.Path)
	}
	other, isPage := s.byFile[file]
	switch {
	case isPage && to.Fragment != "" && !other.anchors[to.Fragment]:
		return "", fmt.Errorf("%s leads to %s, and %s has no such heading", p.file, target, file)
	case isPage && to.Path == "":
		return target, nil
	case isPage:
		to.Path = p.relative(address(file))
		return to.String(), nil
	}
	if err := s.bring(file); err != nil {
		return "", fmt.Errorf("%s leads to %s: %w", p.file, target, err)
	}
	to.Path = p.relative(address(file))
	return to.String(), nil
}

// relative is the way from the page to an address of the site.
func (p *page) relative(to string) string {
	return strings.Repeat("../", strings.Count(address(p.file), "/")) + to
}

// address is where the site has a file of the repository.
func address(file string) string {
	switch file {
	case startPage:
		return "index.html"
	case "README.md":
		return "readme.html"
	}
	folder, name := path.Split(file)
	switch path.Ext(name) {
	case ".md":
		if name = strings.TrimSuffix(name, ".md") + ".html"; name == "README.html" {
			name = "index.html"
		}
	case ".png", ".svg":
	default:
		name += ".txt" // a browser shows it then, and runs nothing of it
	}
	return folder + name
}

// drawn is a picture of lines and letters in a paragraph of its own.
var drawn = regexp.MustCompile(`<p>(<img src="[^"]*\.svg"[^>]*>)</p>`)

// html is what stands on the page. Blocks that are wider than a phone can be reached and moved by keys.
func (p *page) html() (string, error) {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.source, p.root); err != nil {
		return "", fmt.Errorf("drawing %s: %w", p.file, err)
	}
	whole := drawn.ReplaceAllString(b.String(), `<div class="wide" role="group" aria-label="Picture" tabindex="0">$1</div>`)
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<th></th>", "<td></td>",
		"<table>", `<div class="wide" role="group" aria-label="Table" tabindex="0"><table>`, "</table>", "</table></div>").
		Replace(whole), nil
}
