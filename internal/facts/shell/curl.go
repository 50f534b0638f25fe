package shell

import (
	"cmp"
	"path"
	"strings"
)

// download, of curl and wget, writes the file that a URL is stored in where no option names it.
func downloadEffects(e *effect, name string) {
	namedData(e)
	ops := e.args.operands
	_, out := e.args.value("-o", "--output", "-O", "--output-document")
	if name == "curl" && !e.args.has("-O", "--remote-name", "--remote-name-all") || name == "wget" && (out && !e.args.has("-o")) ||
		e.args.has("--spider") {
		return
	}
	dir, _ := e.args.value("-P", "--directory-prefix", "--output-dir")
	for _, w := range ops {
		if base := urlBase(w.text); base != "" {
			e.write(part(w, path.Join(dir.text, base)))
		}
	}
}

// namedData reads the files of curl's NAME@FILE.
func namedData(e *effect) {
	for _, o := range e.args.options {
		if o.name != "--url-query" && o.name != "--data-urlencode" {
			continue
		}
		if name, file, ok := strings.Cut(o.value.text, "@"); ok && name != "" && !strings.Contains(name, "=") {
			e.read(part(o.value, file))
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
