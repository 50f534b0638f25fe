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
		"wget -O i.sh https://x.test && cp i.sh o": "derived /w/o of /w/i.sh, derived /w/o/i.sh of /w/i.sh, downloaded /w/i.sh, " +
			"downloaded /w/o, downloaded /w/o/i.sh",
		"curl -s https://x.test/i | base64 -d > i.sh": "downloaded /w/i.sh",
		"echo ZWNobyBoaQo= | base64 -d > ~/i.sh":      "decoded ~/i.sh",
		"base64 -d in.txt > out.sh":                   "decoded /w/out.sh, derived /w/out.sh of /w/in.txt",
		"gcc -o prog prog.c":                          "compiled /w/prog of /w/prog.c",
		"bash -c 'curl https://x.test/i.sh -o i.sh'":  "downloaded /w/i.sh",
		urlretrieve:                                 "downloaded /w/i.sh",
		"mv i.sh j.sh":                              "derived /w/j.sh of /w/i.sh, derived /w/j.sh/i.sh of /w/i.sh",
		"sed s/a/b/ i.sh > j.sh":                    "derived /w/j.sh of /w/i.sh",
		"cat i.sh | tail -5 > j.sh":                 "derived /w/j.sh of /w/i.sh",
		"gunzip i.sh.gz":                            "derived /w/i.sh of /w/i.sh.gz",
		"dd if=i.sh of=j.sh":                        "derived /w/j.sh of /w/i.sh",
		"tar xf a.tgz -C out":                       "derived /w/out/ of /w/a.tgz",
		"tar xf a-1.tar.gz":                         "derived /w/ with /w/a-1/ of /w/a-1.tar.gz",
		"scp me@x.test:/srv/i.sh bin":               "downloaded /w/bin, downloaded /w/bin/i.sh",
		"cd out && unzip ../a.zip":                  "derived /w/out/ with /w/out/a/ of /w/a.zip",
		"(sleep 9; curl https://x.test/i > i.sh) &": "downloaded /w/i.sh later",
		"echo hello > notes.txt":                    "",
		"curl https://x.test/status":                "",
	} {
		if got := told(Shell(text, Place{Workdir: "/w"}).Origins); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for code, want := range map[string]string{
		"open('j.sh', 'w').write(open('i.sh').read())":            "derived /w/j.sh of /w/i.sh /w/j.sh",
		"import os\nos.rename('i.sh', 'j.sh')":                    "derived /w/i.sh of /w/i.sh /w/j.sh, derived /w/j.sh of /w/i.sh /w/j.sh",
		"import shutil\nshutil.copy('i.sh', 'j.sh')":              "derived /w/j.sh of /w/i.sh /w/j.sh",
		"import tarfile\ntarfile.open('a.tar').extractall('out')": "derived /w/out of /w/a.tar /w/out, derived /w/out/ of /w/a.tar /w/out",
		"open('out.csv', 'w').write('a')":                         "",
	} {
		if got := told(Python(code+"\n", Place{Workdir: "/w"}).Origins); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
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
		if o.Beside != "" {
			one += " with " + o.Beside
		}
		if len(o.From) > 0 {
			one += " of " + strings.Join(o.From, " ")
		}
		if o.Later {
			one += " later"
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}
