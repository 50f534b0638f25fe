package hermes

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

// Whatever a home says, an import ends in a configuration that is sound or in an error.
func TestNoHomeBringsAnImportDown(t *testing.T) {
	t.Parallel()
	backendtest.Long(t)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for i := range backendtest.Rounds(25, 150) {
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
		"\u2028", "\ufeff", "\U0001f600", "é", "a\nb: c", "a\n  - b", "\t", "0x1f", "1_000", "1e9", "nan", "${HOME}", "$(id)", "../..",
		"/",
		"/srv/x:/x", "/srv/a b:/x:ro",
		"/srv/\n:/x", "/srv/{:/}", "GITHUB_TOKEN", "PATH", "LD_PRELOAD", "x]", "[!]", "[z-a]", "**", "docker", "local", "telegram", "cli",
		"x.y", "x, y",
	}
	return texts[random.IntN(len(texts))]
}
