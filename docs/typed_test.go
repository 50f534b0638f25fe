package docs_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
)

// notTyped are the beginnings of blocks that are not typed, and why.
var notTyped = map[string]string{
	"make test\n":                 "it is what runs this test",
	"npm install ":                "a session has what scripts/install-clients installed",
	"bin/bailiff demo --corpus\n": "internal/judging/corpus judges the same cases, cmd/bailiff/policy tells of some as it does",
}

func isTyped(b block) bool {
	for beginning := range notTyped {
		if strings.HasPrefix(b.text, beginning) {
			return false
		}
	}
	return true
}

var goCommand = regexp.MustCompile(`(?m)\b(make( [a-z-]+)?$|go (build|run|install|test|tool)\b)`)

func compilesGo(b block) bool { return goCommand.MatchString(b.text) }

// lastCompiling is the place of the last block that compiles.
func lastCompiling(typed []block) int {
	last := -1
	for i, b := range typed {
		if compilesGo(b) {
			last = i
		}
	}
	return last
}

func TestWhatAPageTellsToTypeWorks(t *testing.T) {
	for _, p := range pages(t) {
		typed := slices.DeleteFunc(p.blocksOf("sh"), func(b block) bool { return !isTyped(b) })
		if len(typed) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			need(t, p)
			if p.name != "README.md" {
				typePage(t, p, withInstalledHook(t, p, typed), true)
				return
			}
			made := 1 + lastCompiling(typed)
			typePage(t, p, typed[:made], false)
			typePage(t, p, typed[made:], true)
		})
	}
}

// need leaves a page out where the machine does not have what it is about.
func need(t *testing.T, p page) {
	t.Helper()
	if strings.Contains(p.text, sandboxImage) {
		needEngine(t)
	}
	if strings.Contains(p.text, "\npromtool ") {
		_, err := exec.LookPath("promtool")
		backendtest.Needs(t, "PROMTOOL (run scripts/install-deps)", err)
	}
}

// typePage types blocks of a page as an ordinary user would, but for those that need what only the tests' own user has: Go's
// cache, the database's socket, the clients from npm.
func typePage(t *testing.T, p page, typed []block, installed bool) {
	t.Helper()
	compiles := slices.ContainsFunc(typed, compilesGo)
	database, clients := strings.Contains(p.text, "$DATABASE_URL"), strings.Contains(p.text, "npm install ")
	makes := slices.ContainsFunc(typed, func(b block) bool { return strings.HasPrefix(b.text, "make ") })
	s := newSession(t, parts{code: compiles, policyTests: makes}, !compiles && !database && !clients)
	if database {
		s.database = postgrestest.Start(t).DSN("bailiff")
	}
	if clients {
		s.installClients(t)
	}
	if installed {
		s.install(t)
	}
	printed, err := s.run(t, p.name, typed)
	t.Log(printed)
	if err != nil {
		t.Errorf("the page's commands failed where the above ends: %v", err)
	}
}

// settingsOf are the files of settings that the pages of hooked clients make.
var settingsOf = map[string]string{"docs/clients/claude-code.md": "managed-settings.json", "docs/clients/codex.md": "requirements.toml",
	"docs/clients/copilot-cli.md": "policy.json", "docs/clients/gemini-cli.md": "settings.json",
	"docs/clients/qwen-code.md": "settings.json"}

// withInstalledHook puts a block after the one that makes the settings of a page. A reader does not type the installation of a
// hook here, but what would be installed asks the sidecar that the page has started.
func withInstalledHook(t *testing.T, p page, typed []block) []block {
	t.Helper()
	file, isHooked := settingsOf[p.name]
	if !isHooked {
		return typed
	}
	made := slices.IndexFunc(typed, func(b block) bool { return strings.HasPrefix(b.text, "sed ") })
	if made < 0 {
		t.Fatal("the page makes no settings")
	}
	asks := block{line: typed[made].line, text: "settings=" + file + `
installed=$(grep -o '/usr/local/bin/bailiff-hook .*; }' $settings | sed 's|^/usr/local/||')
(echo "${question/COMMAND/ls -l}" | bash -c "$installed" || test $? = 2) | grep 'bailiff exec.*ls -l'
`}
	return slices.Insert(slices.Clone(typed), made+1, asks)
}

// sandboxImage is what scripts/make-image makes.
const sandboxImage = "bailiff-sandbox:test"

// needEngine leaves a page out where there is no Docker engine, unless all is
// required.
func needEngine(t *testing.T) {
	t.Helper()
	if os.Getenv("BAILIFF_REQUIRE_ALL") == "" && exec.Command("docker", "image", "inspect", sandboxImage).Run() != nil {
		t.Skip("SKIPPED WITHOUT DOCKER: run scripts/start-docker and scripts/make-image")
	}
}

// A page may be followed again, or after another page: what it makes may be there already. A folder that is copied over one lands in
// it, where policies are read twice.
func TestWhatAPageTellsToTypeWorksAgain(t *testing.T) {
	once := regexp.MustCompile(`(?m)^.*\bmkdir ([^-]|-m).*$|^.*\bcp -[ar] \S*[^/.\s] \S*[^/\s](\s.*)?$`)
	for text, want := range map[string]bool{"mkdir work": true, "mkdir -m 700 run": true,
		"mkdir -p work && x": false, "x && cp -r policies mine": true,
		"cp -r policies/. mine": false, "cp -r examples/x ~/.plugins/": false} {
		if once.MatchString(text) != want {
			t.Fatalf("%q is taken for the opposite", text)
		}
	}
	for _, p := range pages(t) {
		for _, b := range p.blocksOf("sh") {
			if line := once.FindString(b.text); line != "" && isTyped(b) {
				t.Errorf("%s: say mkdir -p, and copy FOLDER/. into a folder that is there: %s", p.name, line)
			}
		}
	}
}
