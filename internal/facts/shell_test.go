package facts

import (
	"slices"
	"testing"
)

var work = Place{Workdir: "/work", Home: "/home/ana"}

// What a text deletes or changes is seen however it is spelt.
func TestWritesAreSeenThroughSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"rm -rf /":                              "/",
		"x=/; rm -rf $x":                        "/",
		"c=rm; $c -rf /":                        "/",
		`r\m -rf '/'`:                           "/",
		`$'\x72\x6d' -rf /`:                     "/",
		"rm${IFS}-rf${IFS}/":                    "/",
		"{rm,-rf,/}":                            "/",
		"echo 'rm -rf /' | sh":                  "/",
		"echo cm0gLXJmIC8= | base64 -d | sh":    "/",
		"sudo -u root -E rm -rf /var":           "/var",
		"cd / && rm -rf *":                      "/*",
		"find / -exec rm -rf {} +":              "/*",
		"bash -lc 'rm -rf /'":                   "/",
		"bash <<EOF\nrm -rf /\nEOF":             "/",
		"busybox rm -rf /":                      "/",
		"f() { rm -rf \"$1\"; }; f /":           "/",
		"a=(rm -rf /); \"${a[@]}\"":             "/",
		"echo / | xargs -I{} rm -rf {}":         "/",
		"rm -rf $HOME":                          "~",
		"dd if=/dev/zero of=/dev/sda":           "/dev/sda",
		"perl -e 'system(\"rm -rf /\")'":        "/",
		"env -S 'rm -rf /'":                     "/",
		"if true; then c=rm; fi; rm -rf /tmp/x": "/tmp/x",
	} {
		if got := Shell(text, work); !got.Parsed || !got.Complete || !slices.Contains(got.Writes, want) {
			t.Errorf("%s: writes %v, parsed %v, complete %v; want %s among them", text, got.Writes, got.Parsed, got.Complete, want)
		}
	}
}
