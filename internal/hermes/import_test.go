package hermes

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/guard"
	"github.com/bailiff-dev/bailiff/internal/pdp"
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
			if err != nil {
				t.Fatal(err)
			}
			home, err := laidOut(t, archive)
			if err != nil {
				t.Fatal(err)
			}
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
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
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
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("got:\n%s\nwant:\n%s", got, f.Data)
		}
	})
}

func imported(t *testing.T, home *Home) (Report, string) {
	t.Helper()
	folder := t.TempDir()
	report, err := Import(home, Destination{Folder: folder, Agent: "unix:///run/bailiff/agent.sock"})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatAnImportWritesIsSoundAndPassesItsTests(t *testing.T) {
	t.Parallel()
	homes(t, func(t *testing.T, home *Home, _ *txtar.Archive, _ string) {
		_, folder := imported(t, home)
		file := filepath.Join(folder, "bailiff.yaml")
		cfg, err := config.Parse(file, []byte(read(t, folder, "bailiff.yaml")), catalogue.All())
		if err != nil {
			t.Fatal(err)
		}
		if faults := pdp.Check(pdp.Config{Paths: cfg.Policies.Paths}); len(faults) > 0 {
			t.Errorf("the policies have faults: %v", faults)
		}
		if len(home.settings.said) < 20 { // running them all for each home takes long, and finds nothing more
			return
		}
		report, err := pdp.Test(t.Context(), pdp.TestConfig{Paths: cfg.Policies.Paths})
		if err != nil || !report.Passed() {
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
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []string{"bailiff.yaml", "policies"} {
		to := Destination{Folder: t.TempDir(), Agent: "unix:///run/a.sock"}
		mine := filepath.Join(to.Folder, there, "mine")
		if err := os.MkdirAll(mine, 0o700); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(mine, []byte("terminal: {backend: docker}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
			if err := c.lay(filepath.Join(folder, file)); err != nil {
				t.Fatal(err)
			}
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

// What Hermes' patterns deny is denied, however it is written.
func TestImportedPatternsDenyWhatHermesDenied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, command string
		denies        bool
	}{
		{"git push --force*", "git push --force origin", true},
		{"git push --force*", "GIT push   --force", true},
		{"git push --force*", "cd x && git push --force", true},
		{"git push --force*", "ls\ngit push --force", true},
		{"git push --force*", `g"i"t 'push' --force`, true},
		{"git push --force*", "/usr/bin/git push --force", true},
		{"git push --force*", "sudo git push --force", true},
		{"git push --force*", "git push", false},
		{"git push --force*", "echo git push --force", false},
		{"*secret*", "cat my-Secret-file", true},
		{"*secret*", "cat file", false},
		{"reboot", "reboot", true},
		{"reboot", "reboot-not", false},
		{"rm -rf [!a]*", "rm -rf b", true},
		{"rm -rf [!a]*", "rm -rf a", false},
		{"rm -r? x", "rm -rf x", true},
		{"a.b", "axb", false},
		{"curl [x", "curl [x", true},
		{"x[]y]z", "x]z", true},
	} {
		guards, err := guard.New([]guard.Rule{{Name: "g", When: conditionOf(patternOf(c.glob))}})
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		command, code := facts.Shell(c.command, facts.Place{}), (*facts.Code)(nil)
		request := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: c.command}}
		denials, err := guards.Check(t.Context(), request, &command, code)
		if err != nil || (len(denials) > 0) != c.denies {
			t.Errorf("%s on %s: %v, %v; want a denial: %v", c.glob, c.command, denials, err, c.denies)
		}
	}
}

// A platform's name is a key that whoever writes the home chooses.
func TestANameOfAHomesCannotAddToTheTables(t *testing.T) {
	t.Parallel()
	home := written(t, map[string]any{"platforms": map[string]any{
		"x: {isolation: none, backends: [local]}\n    y": map[string]any{"enabled": true}, "*": map[string]any{"enabled": true},
		"cli": map[string]any{"enabled": true}, "Upper": map[string]any{"enabled": true}, "null": map[string]any{"enabled": true},
	}, "terminal": map[string]any{"backend": "docker", "docker_forward_env": []string{"True", "NO", "null", "y"}}})
	report, folder := imported(t, home)
	tables := read(t, folder, "policies/data.yaml")
	if strings.Contains(tables, "isolation: none, backends") {
		t.Error("it added an entry")
	}
	for _, key := range []string{`"True": [`, `"NO": [`, `"null": [`, `"y": [`, `"null": {`} {
		if !strings.Contains(tables, key) {
			t.Errorf("there is no entry %s", key)
		}
	}
	if left := report.of("platform Upper"); left.Why == "" {
		t.Errorf("not said to be left: %+v", report.Left)
	}
	cfg, err := config.Parse(filepath.Join(folder, "bailiff.yaml"), []byte(read(t, folder, "bailiff.yaml")), catalogue.All())
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Agent.Listeners[0].Platforms; !slices.Equal(got, []string{"null", "cli"}) {
		t.Errorf("the listener speaks for %q", got)
	}
	if faults := pdp.Check(pdp.Config{Paths: cfg.Policies.Paths}); len(faults) > 0 {
		t.Errorf("the policies have faults: %v", faults)
	}
}

func (r Report) of(setting string) Left {
	at := slices.IndexFunc(r.Left, func(l Left) bool { return l.Setting == setting })
	if at < 0 {
		return Left{}
	}
	return r.Left[at]
}

// written is a home whose config.yaml says this.
func written(t *testing.T, says map[string]any) *Home {
	t.Helper()
	text, err := json.Marshal(says) // which is YAML too
	if err != nil {
		t.Fatal(err)
	}
	home, err := laidOut(t, &txtar.Archive{Files: []txtar.File{{Name: "config.yaml", Data: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func TestNoFolderIsShownThatHoldsKeysOrTheSystem(t *testing.T) {
	t.Parallel()
	open := t.TempDir()
	linked := filepath.Join(open, "linked")
	if err := os.Symlink("/etc", linked); err != nil {
		t.Fatal(err)
	}
	home := written(t, map[string]any{"terminal": map[string]any{"backend": "docker"}})
	p := newPlan(home, Destination{Folder: "/srv/guard/imported"})
	for _, source := range []string{
		"/", "/var", "/home", "/home/hermes", "/run", "/run/user", "/run/user/1000", "/var/run/user/1000", "/var/spool/cron", "/etc/ssl",
		"/root",
		"/home/me/.ssh", "/srv/guard", "/srv/guard/imported/policies", "/var/lib/docker", "/srv/x.sock", "/srv/../etc", linked,
		home.Folder, filepath.Dir(home.Folder), filepath.Join(home.Folder, "plugins"),
	} {
		if mount, why := p.mountOf(source + ":/x"); why == "" {
			t.Errorf("%s is carried over: %v", source, mount)
		}
	}
	for _, source := range []string{"/srv/x", "/home/me/work", "/var/www", "/mnt/disk", "/srv/guardian", "/homes", open} {
		if _, why := p.mountOf(source + ":/x"); why != "" {
			t.Errorf("%s is not carried over: %s", source, why)
		}
	}
}

func TestWhatIsNoNumberIsNoLimit(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"nan", "NaN", "inf", "-inf", "Infinity", "1e999", ".nan", ".inf", "0x1p-2000"} {
		home := written(t, map[string]any{
			"terminal":  map[string]any{"backend": "docker", "container_cpu": word, "container_memory": word, "timeout": word},
			"approvals": map[string]any{"timeout": word},
		})
		report, _ := imported(t, home)
		for _, key := range []string{"terminal.container_cpu", "terminal.container_memory", "terminal.timeout", "approvals.timeout"} {
			if report.of(key).Why == "" {
				t.Errorf("%s: %s is carried over", key, word)
			}
		}
	}
}

// Whatever a home says, an import ends in a configuration that is sound or in an error.
func TestNoHomeBringsAnImportDown(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for i := range 150 {
		home := written(t, hostile(random))
		folder := t.TempDir()
		if _, err := Import(home, Destination{Folder: folder, Agent: "unix:///run/bailiff/agent.sock"}); err != nil {
			t.Fatalf("home %d: %v", i, err)
		}
		cfg, err := config.Parse(filepath.Join(folder, "bailiff.yaml"), []byte(read(t, folder, "bailiff.yaml")), catalogue.All())
		if err != nil {
			t.Fatalf("home %d: %v\n%s", i, err, read(t, folder, "bailiff.yaml"))
		}
		if i%25 > 0 { // compiling the policies for each home takes long
			continue
		}
		if faults := pdp.Check(pdp.Config{Paths: cfg.Policies.Paths}); len(faults) > 0 {
			t.Fatalf("home %d: %v", i, faults)
		}
	}
}

// hostile is a home that gives settings that an import knows values of all sorts.
func hostile(random *rand.Rand) map[string]any {
	says := map[string]any{}
	sections := []string{"terminal", "approvals", "code_execution", "gateway", "security", "hooks", "plugins", "platforms"}
	for _, section := range sections {
		entries := map[string]any{}
		for _, key := range []string{
			"backend", "docker_image", "docker_volumes", "docker_forward_env", "env_passthrough", "container_cpu", "container_memory",
			"container_disk",
			"timeout", "lifetime_seconds", "deny", "mode", "docker_env", "terminal_backend", "sandbox_image", "enabled", "entries",
			"platforms", misread(random),
		} {
			if random.IntN(3) > 0 {
				entries[key] = anything(random, 3)
			}
		}
		if section == "terminal" && random.IntN(2) > 0 {
			entries["backend"] = "docker"
		}
		delete(entries, "platforms")
		if section == "plugins" {
			delete(entries, "entries")
		}
		says[section] = entries
	}
	return says
}

func anything(random *rand.Rand, depth int) any {
	switch random.IntN(6) {
	case 0:
		return random.NormFloat64() * 1e6
	case 1:
		return random.IntN(2) > 0
	case 2:
		return nil
	case 3:
		if depth > 0 {
			return []any{anything(random, depth-1), misread(random), misread(random)}
		}
	case 4:
		if depth > 0 {
			return map[string]any{misread(random): anything(random, depth-1), "enabled": true}
		}
	}
	return misread(random)
}

// misread is a text that is something else to somebody who reads it without its quotes.
func misread(random *rand.Rand) string {
	texts := []string{
		"", " ", "True", "~", "null", "*", "[", "{}", "}]", "- x", "a: b", "# x", "|", ">-", "%", "&a", "*a", "!!t", "<<", "=", "'", `"`,
		"\\", "\x00", "\x7f", "\u0085",
		"\u2028", "\ufeff", "\U0001f600", "é", "a\nb: c", "a\n  - b", "\t", "0x1f", "1_000", "1e9", "nan", "${HOME}", "$(id)", "../..", "/",
		"/srv/x:/x", "/srv/a b:/x:ro",
		"/srv/\n:/x", "/srv/{:/}", "GITHUB_TOKEN", "PATH", "LD_PRELOAD", "x]", "[!]", "[z-a]", "**", "docker", "local", "telegram", "cli",
		"x.y", "x, y",
	}
	return texts[random.IntN(len(texts))]
}
