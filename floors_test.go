package bailiff_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bailiff-dev/bailiff"

// floors names every folder of code with the floor it stands on. A package may
// import packages of lower floors only.
var floors = map[string]int{
	"internal/facts/value": 0, "internal/facts/programs": 0,

	"": 0, "policies": 0, "backends/runner/wire": 0, "internal/defaultpath": 0, "internal/shellquote": 0, "internal/spelling": 0,
	"internal/feed": 0, "internal/termsafe": 0, "internal/recent": 0, "internal/boltcheck": 0, "internal/outage": 0, "internal/headtail": 0,
	"backends/runner/carrier": 0,
	"examples/hermes":         0,

	"internal/facts/shell": 1, "internal/facts/python": 1,
	"api": 1, "internal/redact": 1, "internal/records": 1, "internal/trust": 1, "internal/subprocess": 1,

	"backends/cgroup": 2, "backends/loop": 2, "internal/facts": 2, "backends/settings": 2,

	"backends": 3, "backends/runner": 3, "backends/kernel": 3, "backends/workdirs": 3, "backends/limits": 3, "metrics": 3,
	"internal/audit": 3, "internal/env": 3, "internal/corpus": 3, "internal/throttle": 3, "internal/httpapi": 3,
	"internal/history": 3, "internal/remote": 3, "internal/guard": 3, "internal/tables": 3, "internal/approval": 3,

	"internal/config": 4, "internal/bundle": 4, "enforcer/ledger": 4, "internal/replay": 4, "internal/export": 4, "internal/traces": 4,
	"internal/pdp": 4, "internal/pdp/explain": 3, "backends/local": 4, "backends/bubblewrap": 4, "backends/docker": 4,
	"backends/backendtest": 4,
	"backends/apptainer":   4, "backends/daytona": 4, "backends/modal": 4, "backends/ssh": 4, "backends/vercel": 4,
	"backends/ssh/inside": 4,

	"internal/remote/remotetest": 5, "internal/people": 5, "backends/catalogue": 5, "enforcer": 5,
	"enforcer/process": 5, "enforcer/lease": 5, "enforcer/output": 4,
	"backends/backendtest/machine": 5,

	"gateway": 6, "internal/offline": 6,

	"gateway/client": 7, "gateway/console": 7, "gateway/mcp": 7, "internal/hermes": 7, "gateway/chat": 7,

	"gateway/chat/slack": 8, "gateway/chat/slack/slacktest": 8,
	"gateway/chat/discord": 8, "gateway/chat/discord/discordtest": 8,
	"gateway/chat/telegram": 8, "gateway/chat/telegram/telegramtest": 8,
	"gateway/chat/matrix": 8, "gateway/chat/matrix/matrixtest": 8,
	"gateway/chat/webhook": 8, "gateway/chat/chattest": 8,

	"app": 9, "cmd/bailiff-runner": 9, "cmd/bailiff-hook": 9, "cmd/bailiff-host": 9, "docs": 9, "examples": 9,
	"examples/go/ask": 9, "examples/go/bridge": 9, "examples/oci": 9, "examples/ai-sdk": 9, "examples/grafana": 9, "examples/prometheus": 9,
	"examples/policies": 9, "examples/ci": 9, "examples/systemd": 9, "examples/compose": 9, "internal/apptest": 9,

	"cmd/bailiff": 10,
}

// sideways are the imports within one floor that are meant: the lower of the
// two is a part that was taken out of the upper one to stand alone, or what the
// upper one's texts speak about.
var sideways = map[string]bool{
	"backends/runner backends":         true,
	"backends/kernel backends":         true,
	"backends/workdirs backends":       true,
	"backends/limits backends":         true,
	"backends/limits backends/runner":  true, // what is bounded
	"backends/ssh backends/bubblewrap": true, // what makes sandboxes on another host is what makes them here

	"backends/ssh backends/ssh/inside":        true,
	"backends/ssh/inside backends/bubblewrap": true, // what is asked of it over there

	"enforcer enforcer/process":       true,
	"enforcer enforcer/lease":         true,
	"enforcer/process enforcer/lease": true, // a process lives in a lease's sandbox
}

// owners names the folder that may import a third-party module, with the folders below it;
// everything else reaches it through that folder. Two folders share a module where each
// needs another part of it.
var owners = map[string]string{
	"github.com/open-policy-agent/opa":       "internal/pdp",
	"github.com/fsnotify/fsnotify":           "internal/pdp",
	"github.com/docker/docker":               "backends/docker",
	"github.com/containerd/errdefs":          "backends/docker",
	"github.com/distribution/reference":      "backends/docker",
	"github.com/coder/websocket":             "backends/daytona",
	"github.com/prometheus/client_golang":    "metrics",
	"mvdan.cc/sh/v3":                         "internal/facts/shell",
	"github.com/spf13/cobra":                 "cmd/bailiff",
	"github.com/go-json-experiment/json":     "gateway internal/pdp", // strict reading; quoting
	"github.com/google/uuid":                 "internal/audit",
	"github.com/google/cel-go":               "internal/guard",
	"golang.org/x/sync":                      "enforcer",
	"golang.org/x/time":                      "internal/throttle",
	"golang.org/x/term":                      "cmd/bailiff",
	"golang.org/x/net":                       "cmd/bailiff-runner",
	"golang.org/x/crypto/ssh":                "internal/remote",
	"go.yaml.in/yaml/v3":                     "internal/pdp internal/facts/programs",
	"github.com/modal-labs/modal-client":     "backends/modal",
	"google.golang.org/grpc":                 "backends/modal",
	"go.etcd.io/bbolt":                       "internal/approval",
	"github.com/chromedp/chromedp":           "gateway/console",
	"github.com/chromedp/cdproto":            "gateway/console",
	"github.com/modelcontextprotocol/go-sdk": "gateway/mcp",
	"github.com/slack-go/slack":              "gateway/chat/slack",
	"github.com/bwmarrin/discordgo":          "gateway/chat/discord",
	"go.opentelemetry.io":                    "internal/traces",
	"github.com/go-telegram/bot":             "gateway/chat/telegram",
	"github.com/cenkalti/backoff/v5":         "gateway/chat",
}

type listed struct {
	ImportPath string
	Imports    []string
}

func (p listed) folder() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range packages(t) {
		floor, known := floors[p.folder()]
		if !known {
			t.Errorf("%s stands on no floor: name it in this test", p.ImportPath)
			continue
		}
		for _, path := range p.Imports {
			folder, ours := strings.CutPrefix(path, module)
			folder = strings.TrimPrefix(folder, "/")
			if ours && floors[folder] >= floor && !sideways[p.folder()+" "+folder] {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.ImportPath, floor, path, floors[folder])
			}
		}
	}
}

func TestThirdPartyLibrariesHaveOneOwner(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			for library, owners := range owners {
				mayImport := func(owner string) bool { return strings.HasPrefix(p.folder()+"/", owner+"/") }
				if (path == library || strings.HasPrefix(path, library+"/")) && !slices.ContainsFunc(strings.Fields(owners), mayImport) {
					t.Errorf("%s imports %s, which only %s may", p.ImportPath, path, owners)
				}
			}
		}
	}
}

func TestTheVocabularyImportsTheStandardLibraryOnly(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			if p.folder() == "" && strings.Contains(path, ".") {
				t.Errorf("package bailiff imports %s", path)
			}
		}
	}
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("reading the list of packages: %v", err)
		}
		all = append(all, p)
	}
}
