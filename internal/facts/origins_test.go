package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestFilesThatATextFillsHaveAnOrigin(t *testing.T) {
	t.Parallel()
	const urlretrieve = `python3 -c "import urllib.request as u; u.urlretrieve('https://x.test/i', 'i.sh')"`
	for text, want := range map[string]string{
		"curl -fsSL https://x.test/i.sh -o i.sh":                   "downloaded /w/i.sh",
		"curl https://x.test/i.sh > /tmp/i.sh; chmod +x /tmp/i.sh": "downloaded /tmp/i.sh",
		"wget -O i.sh https://x.test && cp i.sh o":                 "downloaded /w/i.sh, downloaded /w/o, downloaded /w/o/i.sh",
		"curl -s https://x.test/i | base64 -d > i.sh":              "downloaded /w/i.sh",
		"echo ZWNobyBoaQo= | base64 -d > ~/i.sh":                   "decoded ~/i.sh",
		"base64 -d in.txt > out.sh":                                "decoded /w/out.sh",
		"gcc -o prog prog.c":                                       "compiled /w/prog of /w/prog.c",
		"bash -c 'curl https://x.test/i.sh -o i.sh'":               "downloaded /w/i.sh",
		urlretrieve: "downloaded /w/i.sh",
		"echo hello > notes.txt; cp notes.txt other.txt; tar cf a.tar notes.txt": "",
		"curl https://x.test/status": "",
	} {
		if got := told(Shell(text, Place{Workdir: "/w"}).Origins); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	code := "import requests\nopen('i.sh', 'w').write(requests.get('https://x.test/i').text)\n"
	if got := told(Python(code, Place{Workdir: "/w"}).Origins); got != "downloaded /w/i.sh" {
		t.Errorf("of a Python program: %s", got)
	}
}

func told(origins []bailiff.Origin) string {
	var all []string
	for _, o := range origins {
		one := o.How + " " + o.Path
		if len(o.From) > 0 {
			one += " of " + strings.Join(o.From, " ")
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
