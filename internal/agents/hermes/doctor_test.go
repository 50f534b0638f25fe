package hermes

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	example "github.com/bailiff-dev/bailiff/examples/hermes"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
)

// equipped is a home with the plug-in in place, which asks at an address.
func equipped(t *testing.T, archive, listen string) *Home {
	t.Helper()
	_, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	parsed := txtar.Parse([]byte(archive))
	for i, f := range parsed.Files {
		parsed.Files[i].Data = bytes.ReplaceAll(f.Data, []byte("<agent>"), []byte(listen))
	}
	home, err := laidOut(t, parsed)
	must(t, err)
	home.Owner = uint32(os.Geteuid())
	must(t, os.CopyFS(filepath.Join(home.Folder, "plugins"), example.Plugin))
	return home
}

// sound is a home without any mistake.
const sound = `-- config.yaml --
terminal: {backend: bailiff}
-- .env --
TELEGRAM_BOT_TOKEN=hunter2
-- managed/config.yaml --
plugins: {enabled: [bailiff], entries: {bailiff: {settings: {listen: "<agent>", timeout: 1}}}}
`

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

func told(d Diagnosis) string {
	var text strings.Builder
	for _, c := range d.Checks {
		fmt.Fprintf(&text, "%s %s: %s\n", c.State, c.Name, c.Message)
	}
	return text.String()
}

func (d Diagnosis) of(name string) diagnosis.Check {
	at := slices.IndexFunc(d.Checks, func(c diagnosis.Check) bool { return c.Name == name })
	if at < 0 {
		return diagnosis.Check{Name: name}
	}
	return d.Checks[at]
}

func TestADoctorProvesTheGateByARealSidecar(t *testing.T) {
	s := apptest.Share(t, "")
	home := equipped(t, sound, s.Agent)
	d := Examine(t.Context(), home, s.Operators(t))
	for _, c := range d.Checks {
		lent := c.Name == "sidecar" && strings.HasPrefix(c.Message, "operator.allow_same_user") // as a test needs it
		if c.State != diagnosis.Fine && !lent {
			t.Errorf("%s %s: %s", c.State, c.Name, c.Message)
		}
	}
	for _, name := range []string{"plug-in", "plug-in enabled", "sidecar", "platform telegram", "platform cli", "gate telegram", "gate cli",
		"gate without a sidecar", "bypasses"} {
		if d.of(name).State != diagnosis.Fine {
			t.Errorf("%s is not fine:\n%s", name, told(d))
		}
	}
	log, err := s.Operators(t).Status(t.Context())
	if err != nil || len(log.Platforms) == 0 {
		t.Error(err)
	}
}

// Each home is named by its mistake; what is wanted are the checks that are not fine.
func TestADoctorNamesEachMistake(t *testing.T) {
	s := apptest.Serve(t, `agent: {listeners: [{name: test, listen: "<agent>", platforms: [telegram, teams, cli]}]}`)
	paths, err := filepath.Glob("testdata/doctor/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no homes: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := os.ReadFile(path)
			must(t, err)
			home := equipped(t, string(archive), s.Agent)
			got := []byte(strings.NewReplacer(home.Folder, "HOME", s.Agent,
				"<agent>").Replace(wrong(Examine(t.Context(), home, s.Operators(t)))))
			parsed := txtar.Parse(archive)
			for i, f := range parsed.Files {
				if f.Name != "want" || bytes.Equal(f.Data, got) {
					continue
				}
				if parsed.Files[i].Data = got; *update {
					must(t, os.WriteFile(path, txtar.Format(parsed), 0o600))
				}
				t.Errorf("got:\n%s\nwant:\n%s", got, f.Data)
			}
		})
	}
}

// wrong are the checks that are not fine, but for the one that every sidecar of a
// test has.
func wrong(d Diagnosis) string {
	d.Checks = slices.DeleteFunc(d.Checks, func(c diagnosis.Check) bool {
		return c.State == diagnosis.Fine || strings.HasPrefix(c.Message, "operator.allow_same_user")
	})
	return told(d)
}

func TestADoctorTakesNoBrokenSidecarForAWorkingOne(t *testing.T) {
	for _, broken := range apptest.BrokenSidecars() {
		t.Run(broken.Name, func(t *testing.T) {
			home := equipped(t, "-- config.yaml --\nplugins: {entries: {bailiff: {settings: {listen: \"<agent>\", timeout: 1}}}}\n",
				broken.Open(t, "unix"))
			d := &Diagnosis{}
			home.examineGate(t.Context(), d)
			if d.of("gate cli").State != diagnosis.Failed || d.of("gate without a sidecar").State != diagnosis.Fine ||
				strings.Contains(told(*d), "let Hermes run it") {
				t.Errorf("it found:\n%s", told(*d))
			}
		})
	}
}

// lenient allows whatever it is asked, and remembers what it was asked to run.
func lenient(t *testing.T) (address string, ran *[]string) {
	t.Helper()
	path, ran := filepath.Join(apptest.OpenDir(t), "l.sock"), new([]string)
	listener, err := net.Listen("unix", path)
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/decide" {
			*ran = append(*ran, r.URL.Path)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w,
			`{"decision_id": "d1", "decision": {"outcome": "allow", "denials": [], "backend": {"name": "docker"}, "env": {"forward": `+
				`[], "withheld": [], "set": {}}, "limits": {}, "revision": "r"}}`)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "unix://" + path, ran
}

func TestNothingIsRunWherePoliciesDoNotDenyTheCanary(t *testing.T) {
	t.Parallel()
	address, ran := lenient(t)
	d := &Diagnosis{}
	equipped(t, sound, address).examineGate(t.Context(), d)
	if c := d.of("gate telegram"); c.State != diagnosis.Failed || !strings.Contains(c.Message, "do not deny") {
		t.Errorf("it found:\n%s", told(*d))
	}
	if len(*ran) > 0 {
		t.Errorf("it was asked for %v", *ran)
	}
}

func TestAPlugInThatIsNotTheShippedOneIsNotStarted(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(folder string) error{
		"a line is added": func(folder string) error {
			return appendTo(filepath.Join(folder, "__init__.py"), "\nopen(__file__ + '.ran', 'w')\n")
		},
		"a file is missing": func(folder string) error { return os.Remove(filepath.Join(folder, "gate.py")) },
		"a file is added":   func(folder string) error { return appendTo(filepath.Join(folder, "json.py"), "") },
		"all is missing":    os.RemoveAll,
		"compiled code is added, of another source": func(folder string) error {
			if err := os.Remove(filepath.Join(folder, "__pycache__")); err != nil {
				return err
			}
			return plant(folder, "identity", "open("+strconv.Quote(filepath.Join(folder, "__init__.py.ran"))+", 'w')\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := equipped(t, sound, "unix:///nonexistent/a.sock")
			must(t, spoil(home.pluginFolder()))
			d := Examine(t.Context(), home, silent{})
			if d.of("plug-in").State != diagnosis.Failed || d.of("gate").State != diagnosis.Failed || d.Checks.Worst() != diagnosis.Failed {
				t.Errorf("it found:\n%s", told(d))
			}
			if settings.Exists(filepath.Join(home.pluginFolder(), "__init__.py.ran")) {
				t.Error("it was started")
			}
		})
	}
}

// plant has Python load code of ours in place of a module, and not look at its source.
func plant(folder, module, code string) error {
	const compile = `import py_compile, sys
py_compile.compile(sys.argv[1], cfile=sys.argv[2], invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)`
	source := filepath.Join(filepath.Dir(folder), "planted.py")
	if err := appendTo(source, code); err != nil {
		return err
	}
	tag, err := exec.Command("python3", "-c", "import sys; print(sys.implementation.cache_tag, end='')").Output()
	if err != nil {
		return err
	}
	return exec.Command("python3", "-c", compile, source, filepath.Join(folder, "__pycache__", module+"."+string(tag)+".pyc")).Run()
}
