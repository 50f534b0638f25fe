package facts

import (
	"slices"
	"testing"
)

// A variable may name the files of settings by which a program loads or starts more.
func TestFilesOfSettingsThatVariablesAndOptionsNameAreRead(t *testing.T) {
	t.Parallel()
	const removal = "rm -rf ~"
	file := func(text string) Contents { return Contents{"/w/x": recent(text)} }
	const cluster = "apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://10.0.0.1:6443\n  name: a\nusers:\n- name: b\n"
	foundCases(t, map[string]foundCase{
		"settings of wget":            {"WGETRC=x wget https://a.b/c", file("use_askpass = ./y"), "", false},
		"the same by an option":       {"wget --config=x https://a.b/c", file("timeout = 1"), "", false},
		"old settings of wget":        {"WGETRC=x wget https://a.b/c", Contents{"/w/x": settled("tries = 1")}, "", true},
		"settings that are not there": {"WGETRC=x wget https://a.b/c", Contents{}, "", true},
		"a makefile before others":    {"MAKEFILES=x make", file("all:\n\t" + removal + "\n"), removal, true},
		"a goal of such a makefile":   {"MAKEFILES=x make t", file("a:\n\techo\nt:\n\t" + removal + "\n"), removal, true},
		"another goal of it":          {"MAKEFILES=x make a", file("a:\n\techo\nt:\n\t" + removal + "\n"), "", true},
		"no makefile before":          {"MAKEFILES= make", file("a:\n\t" + removal + "\n"), "", true},
		"what openssl loads": {"OPENSSL_CONF=./x openssl version",
			Contents{"/w/x": recent("[a]\ndynamic_path = ./y.so\n"), "/w/y.so": {Recent: true}}, "", false},
		"what it loads by an option": {"openssl req -config x",
			Contents{"/w/x": recent("[a]\nmodule=./y.so\n"), "/w/y.so": {Recent: true}}, "", false},
		"what openssl includes": {"openssl req -config x",
			Contents{"/w/x": recent(".include y\n"), "/w/y": {Recent: true}}, "", false},
		"plain settings of openssl": {"openssl req -new -config x", file("[req]\ndistinguished_name = dn\nprompt = no\n"), "", true},
		"commands of psql":          {"PSQLRC=x psql", file("\\! " + removal), removal, true},
		"settings of psql":          {"PSQLRC=x psql", file("\\set ON_ERROR_STOP on"), "", true},
		"a cluster with a token":    {"KUBECONFIG=./x kubectl get pods", file(cluster + "  user:\n    token: abc\n"), "", true},
		"a plain cluster":           {"KUBECONFIG=./x kubectl get pods", file(cluster), "", true},
		"a cluster by an option": {"kubectl --kubeconfig x get pods",
			file(cluster + "  user:\n    exec:\n      command: ./y\n"), "", false},
		"several clusters":     {"KUBECONFIG=y:x kubectl get pods", file("users: [{user: {exec: {command: ./y}}}]"), "", false},
		"a shell of npm":       {"npm_config_userconfig=x npm test", file("script-shell=" + removal), removal, true},
		"a plain list of gems": {"BUNDLE_GEMFILE=x bundle install", file("gem 'a'\n"), "", true},
		"another list of gems": {"BUNDLE_GEMFILE=x bundle install", file("`ls`\n"), "", false},
		"a module of Node's":   {"NODE_OPTIONS='--import ./x.mjs' npm test", Contents{"/w/x.mjs": recent("run(x)")}, "", false},
		"a loader of Node's": {"node --loader ./x.mjs a.js",
			Contents{"/w/x.mjs": recent("run(x)"), "/w/a.js": settled("1")}, "", false},
		"an old module of Node's":      {"NODE_OPTIONS='--import ./x.mjs' npm test", Contents{"/w/x.mjs": settled("run(x)")}, "", true},
		"a variable that is not known": {"WGETRC=$X wget https://a.b/c", file("a"), "", true},
	})
}

// What is packed and only shown is read, and an approval holds for its content.
func TestWhatAPackerShowsIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"gzip -dc x.gz":          {"/w/x.gz", ""},
		"gunzip --stdout x.gz":   {"/w/x.gz", ""},
		"xz -c x > x.xz":         {"/w/x", "/w/x.xz"},
		"bzip2 -dc x.bz2 | sort": {"/w/x.bz2", ""},
		"gzip x":                 {"", "/w/x"},
		"gunzip x.gz":            {"", "/w/x.gz"},
	} {
		got := Shell(text, Place{Workdir: "/w"})
		for i, files := range [][]string{got.Reads, got.Writes} {
			if want[i] == "" && len(files) > 0 || want[i] != "" && !slices.Equal(files, want[i:i+1]) {
				t.Errorf("%s reads %v and writes %v, want %q", text, got.Reads, got.Writes, want)
			}
		}
	}
	if got := Shell("gzip -dc x | sh", Place{Workdir: "/w"}); !slices.Contains(got.Opens, "/w/x") || got.Complete {
		t.Errorf("the packed text that a shell runs is not among %v", got.Opens)
	}
}
