package hermes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/facts"
	"github.com/bailiff-dev/bailiff/internal/judging/guard"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

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
	must(t, err)
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
	must(t, err)
	home, err := laidOut(t, &txtar.Archive{Files: []txtar.File{{Name: "config.yaml", Data: text}}})
	must(t, err)
	return home
}

func TestNoFolderIsShownThatHoldsKeysOrTheSystem(t *testing.T) {
	t.Parallel()
	open := t.TempDir()
	linked := filepath.Join(open, "linked")
	must(t, os.Symlink("/etc", linked))
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
