package facts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts"
)

// standing are links in the working folder, as they were found.
func standing() *facts.Ground {
	return &facts.Ground{Links: map[string][]string{
		"/w/q": {"/w/r", "/etc"}, "/w/apt": {"/etc/apt"}, "/w/home": {"/home/ana"}, "/w/d/q": {"/srv"}, "/w/eraser": {"/usr/bin/rm"},
	}}
}

func TestBothNamesOfAPathAreFacts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ reads, writes, loses string }{
		"cat q/x":                              {reads: "/w/q/x /w/r/x /etc/x"},
		"cat q":                                {reads: "/w/q /w/r /etc"},
		"cat apt/../x":                         {reads: "/w/x /etc/x"},
		"cat d/q/x":                            {reads: "/w/d/q/x /srv/x"},
		"cat d*/q/x":                           {reads: "/w/d*/q/x /srv/x"},
		"cat home/x":                           {reads: "/w/home/x ~/x"},
		"cd q && cat x":                        {reads: "/w/q/x /w/r/x /etc/x"},
		"echo x > q":                           {writes: "/w/q /w/r /etc", loses: "/w/q /w/r /etc"},
		"echo x >> q":                          {writes: "/w/q /w/r /etc"},
		"rm -r q":                              {writes: "/w/q", loses: "/w/q"},
		"rm -r q/":                             {writes: "/w/q /w/r /etc", loses: "/w/q /w/r /etc"},
		"rm -r q/.":                            {writes: "/w/q /w/r /etc", loses: "/w/q /w/r /etc"},
		"rm -r q/x":                            {writes: "/w/q/x /w/r/x /etc/x", loses: "/w/q/x /w/r/x /etc/x"},
		"mv q y":                               {writes: "/w/q /w/y", loses: "/w/q"},
		"mv y q":                               {writes: "/w/y /w/q /w/r /etc", loses: "/w/y"},
		"truncate -s 0 q":                      {writes: "/w/q /w/r /etc", loses: "/w/q /w/r /etc"},
		"./eraser y":                           {writes: "/w/y", loses: "/w/y"},
		"cat other/x":                          {reads: "/w/other/x"},
		"python3 -m venv q":                    {writes: "/w/q /w/r /etc"},
		"unheard-of --in=q/x":                  {reads: "/w/q/x /w/r/x /etc/x"},
		"python3 - <<'X'\nopen('q/x')\nX":      {reads: "/w/q/x /w/r/x /etc/x"},
		"python3 - <<'X'\nopen('apt/../x')\nX": {reads: "/w/x /etc/x"},
		"python3 - <<'X'\nimport os\nos.remove('q')\nX":           {writes: "/w/q", loses: "/w/q"},
		"python3 - <<'X'\nimport os\nos.remove('q/x')\nX":         {writes: "/w/q/x /w/r/x /etc/x", loses: "/w/q/x /w/r/x /etc/x"},
		"python3 - <<'X'\nopen('q', 'w')\nX":                      {writes: "/w/q /w/r /etc", loses: "/w/q /w/r /etc"},
		"python3 - <<'X'\nimport os\nos.rename('q', 'y')\nX":      {writes: "/w/q /w/y", loses: "/w/q"},
		"python3 - <<'X'\nimport os\nos.system('cat q/x')\nX":     {reads: "/w/q/x /w/r/x /etc/x"},
		"python3 - <<'X'\nimport os\nos.chdir('q')\nopen('x')\nX": {reads: "/w/q/x /w/r/x /etc/x"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			c := facts.Shell(text, facts.Place{Workdir: "/w", Home: "/home/ana", Ground: standing()})
			for name, list := range map[string]struct {
				got  []string
				want string
			}{"reads": {c.Reads, want.reads}, "writes": {c.Writes, want.writes}, "loses": {c.Loses, want.loses}} {
				wanted := strings.Fields(list.want)
				slices.Sort(wanted)
				got := slices.DeleteFunc(list.got, func(p string) bool { return p == "/w/eraser" || p == "/usr/bin/rm" })
				if !slices.Equal(got, wanted) {
					t.Errorf("%s are %v, want %v", name, got, wanted)
				}
			}
		})
	}
}

func TestThePathsOfATextAreToldAsTheyAreOpened(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cat q/../x ~/y":                "/w/q/../x /w/x ~/y",
		"rm -r a*/b":                    "/w/a*/b",
		"cat $UNKNOWN/x":                "",
		"cat a >b 2>/dev/null":          "/w/a /w/b",
		"echo q/x":                      "",
		"python3 -c 'open(\"a/../b\")'": "/w/a/../b /w/b",
	} {
		ground := &facts.Ground{}
		facts.Shell(text, facts.Place{Workdir: "/w", Ground: ground})
		if got, all := ground.Paths(); strings.Join(got, " ") != want || !all {
			t.Errorf("%s: paths are %v, all %t, want %s", text, got, all, want)
		}
	}
	var many strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, "cat %d\n", i)
	}
	ground := &facts.Ground{}
	facts.Shell(many.String(), facts.Place{Workdir: "/w", Ground: ground})
	if got, all := ground.Paths(); len(got) != 1000 || all {
		t.Errorf("%d paths are told, all %t, of 1001", len(got), all)
	}
}
