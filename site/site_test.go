package main

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// repository is one of these pages, with what each site needs beside them.
func repository(pages map[string]string) fstest.MapFS {
	all := fstest.MapFS{"docs/corpora/a.jsonl": {Data: []byte("{}")}}
	for _, name := range []string{"README.md", "SECURITY.md", "CHANGELOG.md", "docs/README.md", "docs/a.md"} {
		all[name] = &fstest.MapFile{Data: []byte("# " + name)}
	}
	for name, text := range pages {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

func TestALinkThatLeadsNowhereMakesNoSite(t *testing.T) {
	for name, c := range map[string]struct{ text, fault string }{
		"to no file":              {"# A\n[b](b.md)", "docs/a.md leads to b.md"},
		"to no heading there":     {"# A\n[b](../README.md#b)", "README.md has no such heading"},
		"to no heading here":      {"# A\n[b](#b)", "docs/a.md has no such heading"},
		"out of the repository":   {"# A\n[b](../../etc/passwd)", "leads to ../../etc/passwd"},
		"a picture that is none":  {"# A\n![b](b.png)", "leads to b.png"},
		"from a page of no title": {"nothing", "docs/a.md has no heading"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := build(repository(map[string]string{"docs/a.md": c.text})); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestLinksLeadToTheirPlaces(t *testing.T) {
	s, err := build(repository(map[string]string{
		"docs/a.md": "# A\n## Same `x`, (y)!\n## Same `x`, (y)!\n" +
			"[1](../README.md#top) [2](b/README.md) [3](corpora/a.jsonl) [4](#same-x-y-1)",
		"docs/b/README.md": "# B\n[5](../a.md#same-x-y) [6](https://x.test/a.md#b)",
		"README.md":        "# Top",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for file, links := range map[string][]string{
		"docs/a.html":       {"../readme.html#top", "../docs/b/index.html", "../docs/corpora/a.jsonl.txt", "#same-x-y-1"},
		"docs/b/index.html": {"../../docs/a.html#same-x-y", "https://x.test/a.md#b"},
	} {
		for _, link := range links {
			if !bytes.Contains(s.files[file], []byte(`<a href="`+link+`"`)) {
				t.Errorf("%s has no link to %s:\n%s", file, link, s.files[file])
			}
		}
	}
	if got := s.files["docs/corpora/a.jsonl.txt"]; string(got) != "{}" {
		t.Errorf("the file that is led to is %q", got)
	}
}

func TestMarkupOfAPageIsText(t *testing.T) {
	s, err := build(repository(map[string]string{"docs/a.md": "# A <script>1</script>\n<script>2</script>\n[x](javascript:alert(3))\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if page := string(s.files["docs/a.html"]); strings.Count(page, "<script") != 1 || strings.Contains(page, "javascript:") {
		t.Error(page)
	}
}

func TestTheSamePagesGiveTheSameBytes(t *testing.T) {
	first, second := repositorysSite(t), repositorysSite(t)
	if !maps.EqualFunc(first.files, second.files, bytes.Equal) {
		t.Error("two sites of the same pages differ")
	}
}

func TestThePagesStandInTheOrderOfTheFirst(t *testing.T) {
	var files []string
	for _, p := range repositorysSite(t).pages {
		files = append(files, p.file)
	}
	for _, order := range [][]string{
		{"docs/README.md", "README.md", "docs/clients/README.md", "docs/policies.md", "docs/approvals.md"},
		{"docs/chat/README.md", "docs/chat/discord.md", "docs/chat/webhook.md", "docs/operations.md"},
		{"docs/performance.md", "docs/ARCHITECTURE.md", "CHANGELOG.md"},
	} {
		at := -1
		for _, file := range order {
			next := slices.Index(files, file)
			if next <= at {
				t.Errorf("%s is out of order in %v", file, files)
			}
			at = next
		}
	}
}

// repositorysSite is the site of this repository.
func repositorysSite(t *testing.T) *site {
	t.Helper()
	s, err := build(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
