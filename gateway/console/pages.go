package console

import (
	"embed"
	"net/http"
	"path"
	"strconv"
)

//go:embed page
var files embed.FS

// types are the content types of the page's files.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// asset is one file of the page.
type asset struct {
	contentType string
	body        []byte
}

// pages are the page's files by their paths.
func pages() map[string]asset {
	entries, err := files.ReadDir("page")
	if err != nil {
		panic(err) // embedded: cannot fail
	}
	all := map[string]asset{}
	for _, entry := range entries {
		body, err := files.ReadFile("page/" + entry.Name())
		if err != nil {
			panic(err) // as above
		}
		all["/"+entry.Name()] = asset{types[path.Ext(entry.Name())], body}
	}
	all["/"] = all["/index.html"]
	return all
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	if unsafe(r) {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "method_not_allowed", "This path takes GET only.")
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	_, _ = w.Write(a.body) // a client that is gone needs no page
}

// policy lets the page load its own files, speak to its own server, and make no
// markup of text; "trusted-types 'none'" lets no script bring a way around that.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guard sets what browsers are told with every answer.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}
