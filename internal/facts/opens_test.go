package facts

import (
	"slices"
	"strings"
	"testing"
)

// Each row is a text and the files, besides those of the system, by which it may come to mean
// something else.
func TestWhatATextMayDependOnBelongsToIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`eval "$(cat a.sh)"`:                          "a.sh",
		`sh -c "$(<a.sh)"`:                            "a.sh",
		`bash -c "$(head -1 sub/../a.sh)"`:            "sub/../a.sh",
		`sed -n 1p a.sh | sh`:                         "a.sh",
		`read -r x < a.sh; $x`:                        "a.sh",
		`mapfile -t x < a.sh; "${x[@]}"`:              "a.sh",
		`while read l; do $l; done < a.sh`:            "a.sh",
		`cat a.sh | while read l; do eval "$l"; done`: "a.sh",
		`xargs -a a.txt env`:                          "a.txt",
		`ed -s < a.ed`:                                "a.ed",
		`sqlite3 :memory: < a.sql`:                    "a.sql",
		`psql -f a.sql`:                               "a.sql",
		`PATH=.:$PATH a.sh`:                           "a.sh",
		`env PATH=.:$PATH a.sh`:                       "a.sh",
		`export PATH=$PWD/bin:$PATH; a.sh`:            "bin/a.sh",
		`NODE_OPTIONS='--require ./a.cjs' node -e 1`:  "a.cjs",
		`python3 -m amod`:                             "amod.py amod/__init__.py amod/__main__.py",
		`PYTHONPATH=lib python3 -I -m a`:              "a.py a/__init__.py a/__main__.py lib/a.py lib/a/__init__.py lib/a/__main__.py",
		`perl -Mlib=. -MA -e 1`:                       "A.pm",
		`perl -Isub -MA::B -e 1`:                      "sub/A/B.pm",
		`PERL5LIB=. perl -MA=x -e 1`:                  "A.pm",
		`ruby -I. -ra -e 1`:                           "a a.rb",
		`RUBYOPT=-r./a ruby -e 1`:                     "./a ./a.rb",
		`dc a.dc`:                                     "a.dc",
		`bc a.bc`:                                     "a.bc",
		`csh a.csh`:                                   "a.csh",
		`gdb -x a.gdb`:                                "a.gdb",
		`rake -f a.rb`:                                "a.rb",
		`just -f a.just`:                              "a.just",
		`tmux source-file a.conf`:                     "a.conf",
		`rm -f $(cat a.txt)`:                          "a.txt",
		`xargs rm -f < a.txt`:                         "a.txt",
		`while read f; do rm "$f"; done < a.txt`:      "a.txt",
		`node -e 'require("./a")'`:                    "a a.cjs a.js a.mjs a.node a.ts a/index.js",
		`npm run a`:                                   ".npmrc package.json",
		`yarn a`:                                      ".yarnrc .yarnrc.yml package.json",
		`npx a`:                                       "node_modules/.bin/a",
		`go generate`:                                 "**/*.go",
		// What a complete text reads as data is its own to change.
		`cat a.txt`:                "",
		`grep -r x src | wc -l`:    "",
		`sort < a.txt`:             "",
		`PATH=/usr/bin:$PATH ls`:   "",
		`git log --since=1.week`:   "",
		`mytool --level 1.2 v1.10`: "",
	} {
		c := Shell("rm -rf ./q; "+text, Place{Workdir: "/w"})
		got := slices.Sorted(slices.Values(append(slices.Clone(c.Files), c.Opens...)))
		for i, p := range got {
			got[i] = strings.TrimPrefix(p, "/w/")
		}
		wanted := strings.Fields(strings.ReplaceAll(want, "./", ""))
		if strings.Contains(text, "sub/..") {
			wanted = []string{want}
		}
		if !slices.Equal(got, wanted) {
			t.Errorf("%s depends on %q, want %q", text, got, wanted)
		}
	}
}
