package pdp

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestFaultsOfPoliciesAreToldWithFileAndLine(t *testing.T) {
	rule := func(body string) string { return "package bailiff\n\nbad if {\n\t" + body + "\n}\n" }
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"printing what is undeclared": {"bad.rego", rule("print(x)"), "bad.rego:4: rego_compile_error: var x is undeclared"},
		"syntax":                      {"bad.rego", "package bailiff\n\nbad if {\n", "bad.rego:4: rego_parse_error"},
		"older syntax":                {"bad.rego", "package bailiff\n\nbad { true }\n", "bad.rego:3: rego_parse_error"},
		"empty policy":                {"bad.rego", "", "bad.rego:0: rego_parse_error: empty module"},
		"type":                        {"bad.rego", rule(`count(1) == 1`), "bad.rego:4: rego_type_error"},
		"misspelt input.session": {"bad.rego", rule(`input.sesion.platform == "cli"`),
			`bad.rego:4: rego_type_error: undefined ref: input.sesion.platform`},
		"misspelt key of the session": {"bad.rego", rule(`input.session.plattform == "cli"`), "bad.rego:4: rego_type_error"},
		"misspelt in a test": {"bad_test.rego", "package bailiff_test\n\ntest_it if input.sesion\n",
			"bad_test.rego:3: rego_type_error"},
		"unknown function": {"bad.rego", rule(`frobnicate(1)`), "bad.rego:4: rego_type_error: undefined function frobnicate"},
		"http.send": {"bad.rego", rule(`http.send({"method": "get", "url": "http://x.test"})`),
			"bad.rego:4: rego_type_error: undefined function http.send"},
		"net.lookup_ip_addr": {"bad.rego", rule(`net.lookup_ip_addr("x.test")`),
			"bad.rego:4: rego_type_error: undefined function net.lookup_ip_addr"},
		"net.cidr_expand": {"bad.rego", rule(`count(net.cidr_expand("10.0.0.0/8")) > 1`),
			"bad.rego:4: rego_type_error: undefined function net.cidr_expand"},
		"opa.runtime": {"bad.rego", rule(`opa.runtime().env.HOME`),
			"bad.rego:4: rego_type_error: undefined function opa.runtime"},
		"http.send as a value": {"bad.rego", rule(`count([1]) == 1 with count as http.send`), "bad.rego:4: rego_"},
		"recursion":            {"bad.rego", "package bailiff\n\nbad if worse\n\nworse if bad\n", "bad.rego:3: rego_recursion_error"},
		"unused variable":      {"bad.rego", rule(`x := 1`), "bad.rego:4: rego_compile_error: assigned var x unused"},
		"shadowed input":       {"bad.rego", "package bailiff\n\ninput := 1\n", "bad.rego:3: rego_compile_error"},
		"YAML":                 {"data.yaml", "a: 1\nb: [\n", "data.yaml:"},
		"key twice in YAML":    {"data.yaml", "a: 1\nb: 2\na: 3\n", "data.yaml:3: this is no valid YAML"},
		"YAML that is a list":  {"data.yaml", "- a\n", "data.yaml:1: the document is not an object"},
		"empty YAML":           {"data.yaml", "", "data.yaml:1: the document is not an object"},
		"JSON":                 {"data.json", "{\n\"a\": 1,\n}\n", "data.json:3: this is no valid JSON"},
		"data in a rule's place": {"data.json", `{"bailiff": {"decision": 1}}`,
			"p.rego:3: rego_compile_error: conflicting rule for data path bailiff/decision"},
		"schema": {"schema/input.json", "{", "schema/input.json:1: this is no valid JSON"},
		"schema without the session": {"schema/input.json",
			`{"type": "object", "properties": {"tool": {"type": "string"}}, "additionalProperties": false}`, "u.rego:3: rego_type_error"},
		"schema from the network": {"schema/input.json", `{"$ref": "http://127.0.0.1:1/input.json"}`, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{
				"p.rego": allowing, "u.rego": "package bailiff\n\nuses if input.session.platform == \"cli\"\n", c.file: c.text})
			_, err := Open(context.Background(), Config{Paths: []string{root}})
			if err == nil {
				t.Fatal("it is let into force")
			}
			want := strings.Replace(c.want, ":0:", ":", 1)
			if got := strings.ReplaceAll(err.Error(), root+"/", ""); !strings.Contains(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	bad := "package bailiff\n\nbad if input.sesion\n\nworse if input.tol\n"
	root := tree(t, map[string]string{"p.rego": allowing, "a.rego": bad, "b.rego": bad})
	faults := Check(Config{Paths: []string{root}})
	var at []string
	for _, f := range faults {
		at = append(at, strings.TrimPrefix(strings.SplitN(f.String(), ": ", 2)[0], root+"/"))
	}
	if want := []string{"a.rego:3", "a.rego:5", "b.rego:3", "b.rego:5"}; !reflect.DeepEqual(at, want) {
		t.Errorf("got %v, want %v", faults, want)
	}
}

func TestWhatCannotDecideIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing at all": {map[string]string{"README.md": "hello"}, "there are no policies"},
		"data only":      {map[string]string{"data.yaml": "a: 1"}, "there are no policies"},
		"tests only":     {map[string]string{"p_test.rego": allowingTest}, "there are no policies"},
		"no entrypoint": {map[string]string{"p.rego": "package bailiff\n\nx := 1\n"},
			"no file defines the rule data.bailiff.decision"},
		"an entrypoint that is a test": {map[string]string{"p.rego": "package bailiff\n\nx := 1\n", "p_test.rego": allowing},
			"no file defines the rule data.bailiff.decision"},
		"a function of the tests": {map[string]string{"p.rego": allowing + "\nx if f(1)\n",
			"p_test.rego": "package bailiff\n\nf(_)\n"}, "undefined function"},
		"two data files that disagree": {map[string]string{"p.rego": allowing, "data.yaml": "a: {b: 1}", "data.json": `{"a": {"b": 2}}`},
			"data.yaml:1: a.b is defined in data.json:1 already; change it there, or take it out of one of the two files"},
		"two tables with one row": {map[string]string{"p.rego": allowing, "data.yaml": "bailiff:\n  tables:\n    env:\n      X.Y: []\n",
			"bailiff/data.yaml": "tables:\n  env:\n    Z: []\n\n    X.Y: []\n", "bailiff/tables/data.yaml": "other: []\n"},
			"data.yaml:4: bailiff.tables.env.X.Y is defined in bailiff/data.yaml:5 already; change it there"},
		"data in two places that meet": {map[string]string{"p.rego": allowing, "data.yaml": "a: 1", "a/data.yaml": "b: 2"},
			"data.yaml:1: a is defined in a/data.yaml:1 already"},
		"two schemas": {map[string]string{"p.rego": allowing, "schema/input.json": "{}", "a/schema/input.json": "{}"},
			"a second schema of the input document, beside "},
		"a policy that is a broken link": {map[string]string{"p.rego": allowing, "gone.rego": "-> nowhere"},
			"gone.rego: reading it: no such file"},
		"a folder that holds itself": {map[string]string{"p.rego": allowing, "a/self": "-> ."}, "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				if target, isLink := strings.CutPrefix(text, "-> "); isLink {
					must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
					must(t, os.Symlink(target, filepath.Join(root, file)))
					continue
				}
				write(t, filepath.Join(root, file), text)
			}
			_, err := Open(context.Background(), Config{Paths: []string{root}})
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), root+"/", ""), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAPathThatIsNotThereIsRefused(t *testing.T) {
	root := tree(t, map[string]string{"notes.txt": "hello"})
	for _, p := range []string{filepath.Join(root, "nowhere"), filepath.Join(root, "notes.txt")} {
		if _, err := Open(context.Background(), Config{Paths: []string{p}}); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("got %v, want %s named", err, p)
		}
	}
}

func TestPoliciesThatOthersMayWriteAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(root string) error
		refused bool
	}{
		"a file":                     {func(root string) error { return os.Chmod(filepath.Join(root, "a/p.rego"), 0o666) }, true},
		"data":                       {func(root string) error { return os.Chmod(filepath.Join(root, "data.yaml"), 0o664) }, true},
		"the folder":                 {func(root string) error { return os.Chmod(root, 0o777) }, true},
		"a folder below":             {func(root string) error { return os.Chmod(filepath.Join(root, "a"), 0o775) }, true},
		"the folder a link leads to": {linked(0o777), true},
		"a link to what is ours":     {linked(0o755), false},
		"a note that is no policy":   {func(root string) error { return os.Chmod(filepath.Join(root, "notes.txt"), 0o666) }, false},
		"the lock file of an editor": {func(root string) error { return os.Symlink("ana@host.1", filepath.Join(root, ".#p.rego")) },
			false},
		"a folder where all may add":  {func(root string) error { return os.Chmod(root, 0o777|os.ModeSticky) }, false},
		"nothing that anybody writes": {func(string) error { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"a/p.rego": allowing, "data.yaml": "a: 1", "notes.txt": "hello"})
			must(t, c.spoil(root))
			_, err := Open(context.Background(), Config{Paths: []string{root}})
			if faults := Check(Config{Paths: []string{root}}); (err != nil) != c.refused || (len(faults) > 0) != c.refused {
				t.Errorf("got %v and %v, want refused to be %v", err, faults, c.refused)
			}
		})
	}
}

// linked makes one of the policies a link into a folder of the given mode.
func linked(mode os.FileMode) func(string) error {
	return func(root string) error {
		elsewhere := root + ".elsewhere"
		return errors.Join(os.Mkdir(elsewhere, 0o755), os.WriteFile(elsewhere+"/q.rego", []byte("package q\n"), 0o644),
			os.Chmod(elsewhere, mode), os.Symlink(elsewhere+"/q.rego", root+"/q.rego"))
	}
}

func TestAMountedConfigMapIsReadOnce(t *testing.T) {
	root := tree(t, map[string]string{"..2026_11_21/p.rego": allowing, "..2026_11_21/data.yaml": "a: {b: 1}"})
	must(t, os.Symlink("..2026_11_21", filepath.Join(root, "..data")))
	for _, name := range []string{"p.rego", "data.yaml"} {
		must(t, os.Symlink("..data/"+name, filepath.Join(root, name)))
	}
	p, err := Open(context.Background(), Config{Paths: []string{root}})
	must(t, err)
	if want := []string{filepath.Join(root, "data.yaml"), filepath.Join(root, "p.rego")}; !reflect.DeepEqual(p.Status().Files, want) {
		t.Errorf("got %v, want %v", p.Status().Files, want)
	}
}

func TestARevisionStandsForWhatDecides(t *testing.T) {
	base := map[string]string{"p.rego": allowing, "data.yaml": "a: 1"}
	first := opened(t, base).Revision()
	for name, c := range map[string]struct {
		file, text string
		same       bool
	}{
		"a copy elsewhere":      {"p.rego", allowing, true},
		"a test":                {"p_test.rego", allowingTest, true},
		"a schema":              {"schema/input.json", "{}", true},
		"a note":                {"README.md", "hello", true},
		"a comment in a policy": {"p.rego", allowing + "# more\n", false},
		"another policy":        {"q.rego", "package other\n", false},
		"data":                  {"data.yaml", "a: 2", false},
		"data in another place": {"b/data.yaml", "a: 1", false},
	} {
		files := map[string]string{"p.rego": base["p.rego"], "data.yaml": base["data.yaml"], c.file: c.text}
		if got := opened(t, files).Revision(); (got == first) != c.same {
			t.Errorf("%s: the same revision is %v, want %v", name, got == first, c.same)
		}
	}
}

func TestTheShippedPoliciesHaveOneRevisionWhereverTheyLie(t *testing.T) {
	backendtest.Long(t)
	root := copied(t)
	embedded, err := Open(context.Background(), Config{})
	must(t, err)
	onDisk, err := Open(context.Background(), Config{Paths: []string{root}})
	must(t, err)
	if embedded.Revision() != onDisk.Revision() {
		t.Error("the revision depends on where the files lie")
	}
}

func TestWhatIsNoFileIsRefusedByNameAtOnce(t *testing.T) {
	t.Parallel()
	for kind, make := range map[string]func(name string) error{
		"FIFO": func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"link": func(name string) error {
			return errors.Join(syscall.Mkfifo(name+".fifo", 0o600), os.Symlink(name+".fifo", name))
		},
		"device": func(name string) error { return os.Symlink("/dev/tty", name) },
		"socket": func(name string) error {
			_, err := net.Listen("unix", name)
			return err
		},
	} {
		for _, name := range []string{"house.rego", "data.yaml", "schema/input.json"} {
			root := tree(t, map[string]string{"p.rego": allowing, "schema/note.txt": "", "fifo/note.txt": ""})
			must(t, syscall.Mkfifo(filepath.Join(root, "fifo", "no-policy"), 0o600))
			must(t, make(filepath.Join(root, name)))
			want := filepath.Join(root, name) + ": reading it: this is a FIFO, a socket or a device: want a file"
			if faults := Check(Config{Paths: []string{root}}); faults.Error() != want {
				t.Errorf("a %s: got %v, want %s", kind, faults, want)
			}
			if faults := Check(Config{Paths: []string{filepath.Join(root, "p.rego"), filepath.Join(root, name)}}); name == "house.rego" &&
				faults.Error() != want {
				t.Errorf("a %s by its name: got %v, want %s", kind, faults, want)
			}
		}
	}
}
