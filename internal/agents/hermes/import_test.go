package hermes

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/pdp/regotest"
	"github.com/bailiff-dev/bailiff/policies"
)

var update = flag.Bool("update", false, "write what is got into testdata")

// homes are Hermes homes, each with what is to become of it: its files, "managed/"
// those of an administrator, and under "want" what is written and told.
func homes(t *testing.T, each func(t *testing.T, home *Home, archive *txtar.Archive, path string)) {
	paths, err := filepath.Glob("testdata/import/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no homes: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			must(t, err)
			home, err := laidOut(t, archive)
			must(t, err)
			each(t, home, archive, path)
		})
	}
}

// laidOut puts an archive's files into a home.
func laidOut(t *testing.T, archive *txtar.Archive) (*Home, error) {
	t.Helper()
	folder := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(folder, f.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, f.Data, 0o600))
	}
	home, err := Read(folder, filepath.Join(folder, "managed"))
	if err == nil {
		home.Owner = 1001
	}
	return home, err
}

func TestAnImportSaysWhatHermesSaid(t *testing.T) {
	t.Parallel()
	homes(t, func(t *testing.T, home *Home, archive *txtar.Archive, path string) {
		report, folder := imported(t, home)
		got := []byte(strings.ReplaceAll(summary(t, report, folder), home.Folder, "HOME"))
		for i, f := range archive.Files {
			if f.Name != "want" || bytes.Equal(f.Data, got) {
				continue
			}
			if *update {
				archive.Files[i].Data = got
				must(t, os.WriteFile(path, txtar.Format(archive), 0o600))
			}
			t.Errorf("got:\n%s\nwant:\n%s", got, f.Data)
		}
	})
}

func imported(t *testing.T, home *Home) (Report, string) {
	t.Helper()
	folder := t.TempDir()
	report, err := Import(home, Destination{Folder: folder, Agent: "unix:///run/bailiff/agent.sock"})
	must(t, err)
	return report, folder
}

// summary is bailiff.yaml, the lines of data.yaml that are not shipped or no longer
// there, and the report.
func summary(t *testing.T, report Report, folder string) string {
	t.Helper()
	text := read(t, folder, "bailiff.yaml")
	for _, line := range difference(t, folder) {
		text += line + "\n"
	}
	for _, c := range report.Carried {
		text += fmt.Sprintf("carried %s (%s) to %s; %s\n", c.Setting, c.From, c.To, c.Note)
	}
	for _, l := range report.Left {
		text += fmt.Sprintf("left %s (%s): %s\n", l.Setting, l.From, l.Why)
	}
	for _, sentence := range report.Next {
		text += "next: " + sentence + "\n"
	}
	return text
}

func difference(t *testing.T, folder string) (lines []string) {
	t.Helper()
	shipped, err := policies.FS.ReadFile("data.yaml")
	must(t, err)
	before, after := strings.Split(string(shipped), "\n"), strings.Split(read(t, folder, "policies/data.yaml"), "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "+"+line)
		}
	}
	return lines
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must(t, err)
	return string(text)
}

func TestWhatAnImportWritesIsSoundAndPassesItsTests(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	known := map[string]bool{} // tables that another home has brought
	homes(t, func(t *testing.T, home *Home, _ *txtar.Archive, _ string) {
		_, folder := imported(t, home)
		file := filepath.Join(folder, "bailiff.yaml")
		cfg, err := config.Parse(file, []byte(read(t, folder, "bailiff.yaml")), catalogue.All())
		must(t, err)
		tables := read(t, folder, "policies/data.yaml") // all else is as shipped
		if known[tables] {
			return
		}
		known[tables] = true
		if faults := pdp.Check(pdp.Config{Paths: cfg.Policies.Paths}); len(faults) > 0 {
			t.Errorf("the policies have faults: %v", faults)
		}
		if len(home.settings.said) < 20 { // running them all for each home takes long, and finds nothing more
			return
		}
		report, err := regotest.Run(t.Context(), regotest.Config{Paths: cfg.Policies.Paths})
		if err != nil || !report.OK() {
			t.Errorf("the policies' tests do not pass: %v %+v", err, report)
		}
	})
}

// Every value of a variable in the homes holds this word.
func TestAnImportCopiesNoValueOfAVariable(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	found := false
	homes(t, func(t *testing.T, home *Home, archive *txtar.Archive, _ string) {
		for _, f := range archive.Files {
			found = found || f.Name == ".env" && strings.Contains(string(f.Data), secret)
			if f.Name == "want" && strings.Contains(string(f.Data), secret) {
				t.Error("the value of a variable is told")
			}
		}
		if !bytes.Contains(txtar.Format(archive), []byte(secret)) {
			return // it has none to copy
		}
		report, _ := imported(t, home)
		for _, file := range report.Files {
			if strings.Contains(read(t, "", file), secret) {
				t.Errorf("%s holds the value of a variable", file)
			}
		}
	})
	if !found {
		t.Error("no home has a secret")
	}
}

func TestAnImportReplacesNothingUnlessItIsTold(t *testing.T) {
	t.Parallel()
	home, err := laidOut(t, txtar.Parse([]byte("-- config.yaml --\nterminal: {backend: docker}\n")))
	must(t, err)
	for _, there := range []string{"bailiff.yaml", "policies"} {
		to := Destination{Folder: t.TempDir(), Agent: "unix:///run/a.sock"}
		mine := filepath.Join(to.Folder, there, "mine")
		must(t, os.MkdirAll(mine, 0o700))
		if _, err := Import(home, to); err == nil || !strings.Contains(err.Error(), "--force") {
			t.Errorf("beside %s: %v", there, err)
		}
		if entries, err := os.ReadDir(to.Folder); err != nil || len(entries) != 1 {
			t.Errorf("a refused import left %v, %v", entries, err)
		}
		to.Replace = true
		if _, err := Import(home, to); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(mine); err == nil {
			t.Errorf("what was in %s is mixed into what was written", there)
		}
	}
}

func TestAHomeThatCannotBeReadIsNotImported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ files, want string }{
		"nothing of Hermes in it":  {"-- notes.txt --\nx\n", "neither config.yaml nor .env"},
		"a config that is no YAML": {"-- config.yaml --\nterminal: [hunter2\n", "config.yaml:1: "},
		"a .env that is none":      {"-- .env --\nhunter2 is my secret\n", ".env:1: "},
		"a text": {"-- config.yaml --\nhunter2 world\n",
			"config.yaml:1: the whole of it is a text, want a mapping"},
		"a list": {"-- config.yaml --\n# mine\n- hunter2\n",
			"config.yaml:2: the whole of it is a list, want a mapping"},
		"a section that is a text": {"-- config.yaml --\nmodel: x\nterminal: hunter2\n",
			"config.yaml:2: terminal is a text, want a mapping"},
		"a section that is a list": {"-- config.yaml --\nplatforms: [hunter2]\n",
			"config.yaml:1: platforms is a list, want a mapping"},
		"a section elsewhere": {"-- config.yaml --\nx: &t {backend: docker}\nterminal: *t\n",
			"config.yaml:2: terminal is a YAML alias, want a mapping"},
		"settings that are a list": {"-- config.yaml --\nplugins: {entries: {bailiff: {settings: []}}}\n",
			"plugins.entries.bailiff.settings is a list, want a mapping"},
		"a key twice": {"-- config.yaml --\nterminal: {backend: docker}\nmodel: x\nterminal: {backend: local}\n",
			`config.yaml:3: mapping key "terminal" already defined`},
		"a key twice in a section": {"-- config.yaml --\nterminal:\n  backend: docker\n  backend: local\n",
			`config.yaml:3: mapping key "backend" already defined`},
		"two documents": {"-- config.yaml --\nterminal: {}\n---\nterminal: {}\n", "want one document"},
		"bytes":         {"-- config.yaml --\n\x80\xfe\x01hunter2\n", "config.yaml: it is no UTF-8 text"},
		"a managed one that is no better": {"-- config.yaml --\nterminal: {}\n-- managed/config.yaml --\nhunter2\n",
			"managed/config.yaml:1: "},
		"brackets without end":        {"-- config.yaml --\n" + strings.Repeat("[", 1<<19) + "\n", "config.yaml:1: it nests deeper"},
		"lists without end":           {"-- config.yaml --\n" + strings.Repeat("- ", 1<<18) + "\n", "config.yaml:1: it nests deeper"},
		"brackets on many lines":      {"-- config.yaml --\n" + strings.Repeat("{a:\n", 1<<16), "config.yaml:201: it nests deeper"},
		"brackets closed in comments": {"-- config.yaml --\na:\n" + strings.Repeat("  [ # ]\n", 1<<16), "config.yaml:202: it nests deeper"},
		"brackets closed in texts": {"-- config.yaml --\na:\n" + strings.Repeat("  [\"]\",\n", 1<<16),
			"config.yaml:202: it nests deeper"},
		"keys of keys":              {"-- config.yaml --\n" + strings.Repeat("? ", 1<<18) + "\n", "config.yaml:1: it nests deeper"},
		"more than a configuration": {"-- config.yaml --\n" + strings.Repeat("# hunter2\n", 1<<17), "config.yaml: it is larger than 1 MiB"},
	} {
		home, err := laidOut(t, txtar.Parse([]byte(c.files)))
		if err == nil {
			t.Errorf("%s: read as %+v", name, home)
		} else if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestAConfigThatSaysNothingIsRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing yet\n", "---\n", "terminal:\napprovals: ~\n"} {
		if _, err := laidOut(t, &txtar.Archive{Files: []txtar.File{{Name: "config.yaml", Data: []byte(text)}}}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A file may be a link to one; what has no end, or never begins, is not read.
func TestOnlyRegularFilesAreReadOfAHome(t *testing.T) {
	t.Parallel()
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	must(t, os.WriteFile(mine, []byte("terminal: {backend: docker}\n"), 0o600))
	for name, c := range map[string]struct {
		lay  func(path string) error
		want string
	}{
		"a folder":          {func(path string) error { return os.Mkdir(path, 0o700) }, "regular file"},
		"a named pipe":      {func(path string) error { return unix.Mkfifo(path, 0o600) }, "regular file"},
		"a link to zeros":   {func(path string) error { return os.Symlink("/dev/zero", path) }, "regular file"},
		"a link to nothing": {func(path string) error { return os.Symlink("/dev/null", path) }, "regular file"},
		"a link to a file":  {func(path string) error { return os.Symlink(mine, path) }, ""},
	} {
		for _, file := range []string{"config.yaml", ".env"} {
			folder := t.TempDir()
			must(t, c.lay(filepath.Join(folder, file)))
			_, err := Read(folder, "")
			switch {
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file)):
				t.Errorf("%s as %s: %v", name, file, err)
			case c.want == "" && file == "config.yaml" && err != nil:
				t.Errorf("%s as %s: %v", name, file, err)
			}
		}
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
