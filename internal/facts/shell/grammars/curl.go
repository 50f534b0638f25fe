package grammars

import (
	"cmp"
	"path"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// downloadEffects: curl or wget writes the file that a URL is stored in where no option names it.
func downloadEffects(e *effects.Collector, name string) {
	namedData(e)
	ops := e.Args.Operands
	_, out := e.Args.Value("-o", "--output", "-O", "--output-document")
	if name == "curl" && !e.Args.Has("-O", "--remote-name", "--remote-name-all") || name == "wget" && (out && !e.Args.Has("-o")) ||
		e.Args.Has("--spider") {
		return
	}
	dir, _ := e.Args.Value("-P", "--directory-prefix", "--output-dir")
	for _, w := range ops {
		if base := urlBase(w.Text); base != "" {
			e.Write(word.Part(w, path.Join(dir.Text, base)))
		}
	}
}

// namedData reads the files of curl's NAME@FILE.
func namedData(e *effects.Collector) {
	for _, o := range e.Args.Options {
		if o.Name != "--url-query" && o.Name != "--data-urlencode" {
			continue
		}
		if name, file, ok := strings.Cut(o.Value.Text, "@"); ok && name != "" && !strings.Contains(name, "=") {
			e.Read(word.Part(o.Value, file))
		}
	}
}

// urlBase is the name a URL is stored under.
func urlBase(u string) string {
	u, _, _ = strings.Cut(u, "?")
	_, rest, ok := strings.Cut(u, "://")
	if !ok {
		rest = u
	}
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return "index.html"
	}
	return cmp.Or(rest[i+1:], "index.html")
}
