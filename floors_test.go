package bailiff_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/bailiff-dev/bailiff"

// floors names every folder of code with the floor it stands on. A package may
// import packages of lower floors only.
var floors = map[string]int{
	"": 0, "policies": 0, "backends/runner/wire": 0,
	"backends": 1, "backends/runner": 1, "backends/kernel": 1, "backends/cgroup": 1, "backends/loop": 1, "backends/shelf": 1, "backends/bounded": 1, "metrics": 1,
	"internal/facts": 1, "internal/audit": 1, "internal/env": 1, "internal/redact": 1, "internal/config": 1,
	"internal/corpus":   1,
	"internal/throttle": 1,
	"internal/httpapi":  1,
	"internal/records":  0, "internal/history": 1, "internal/bundle": 2, "internal/places": 0, "internal/words": 0, "internal/trust": 0,
	"internal/remote": 1, "internal/remote/remotetest": 3,
	"internal/subprocess": 1,
	"internal/spelling":   0, "internal/feed": 0, "internal/excerpt": 0, "internal/guard": 1, "internal/tables": 1, "internal/approval": 1,
	"internal/people": 2, "internal/ledger": 2, "internal/replay": 2, "internal/export": 2,
	"internal/pdp": 2, "backends/local": 2, "backends/bubblewrap": 2, "backends/docker": 2, "backends/backendtest": 2,
	"backends/apptainer": 2,
	"backends/daytona":   2,
	"backends/modal":     2,
	"backends/ssh":       2,
	"backends/vercel":    2,
	"backends/catalogue": 3,
	"enforcer":           3,
	"gateway":            4,
	"gateway/client":     5, "gateway/console": 5, "gateway/mcp": 5, "internal/hermes": 5,
	"cmd/bailiff": 6, "cmd/bailiff-runner": 6, "cmd/bailiff-hook": 6, "cmd/bailiff-host": 6, "docs": 6,
	"backends/runner/armour":       0,
	"backends/runner/mailbox":      0,
	"backends/runner/gather":       0,
	"backends/backendtest/machine": 3, // of tests only
	"backends/ssh/inside":          2,
	"examples":                     6, "examples/go/ask": 6,
	"examples/oci":    6,
	"examples/hermes": 0,                                                                                                                                                               // the plug-in, as files
	"examples/ai-sdk": 6, "examples/grafana": 6, "examples/prometheus": 6, "examples/policies": 6, "examples/ci": 6, "examples/systemd": 6, "examples/compose": 6, "internal/trial": 6, // of tests only
}

// sideways are the imports within one floor that are meant: the lower of the
// two is a part that was taken out of the upper one to stand alone, or what the
// upper one's texts speak about.
var sideways = map[string]bool{
	"backends/runner backends":            true,
	"backends/kernel backends":            true,
	"backends/shelf backends":             true,
	"backends/shelf backends/loop":        true, // what bounds a workspace
	"backends/bounded backends":           true,
	"backends/bounded backends/cgroup":    true, // what bounds a sandbox
	"backends/bounded backends/runner":    true, // and what is bounded
	"backends/loop internal/subprocess":   true, // what makes a file system
	"backends/runner internal/subprocess": true, // a runner below this process is started and ended as others's programs are
	"internal/guard internal/facts":       true, // conditions name the fields of facts
	"internal/remote backends":            true, // a way to a host is part of several sections
	"internal/config backends":            true, // each technology says what its section holds
	"internal/config internal/httpapi":    true, // which addresses may be asked
	"internal/config internal/guard":      true, // bailiff.yaml holds conditions, whose faults are its own
	"internal/approval internal/redact":   true, // what is kept holds no secrets
	"internal/audit internal/redact":      true,
	"backends/ssh backends/bubblewrap":    true, // what makes sandboxes on another host is what makes them here

	"backends/runner/mailbox backends/runner/gather": true, // letters are what is gathered
	"backends/ssh backends/ssh/inside":               true,
	"backends/ssh/inside backends/bubblewrap":        true, // what is asked of it over there
}

// owners names the one folder that may import a third-party module; everything
// else reaches it through that folder.
var owners = map[string]string{
	"github.com/open-policy-agent/opa":       "internal/pdp",
	"github.com/fsnotify/fsnotify":           "internal/pdp",
	"github.com/docker/docker":               "backends/docker",
	"github.com/containerd/errdefs":          "backends/docker",
	"github.com/distribution/reference":      "backends/docker",
	"github.com/coder/websocket":             "backends/daytona",
	"github.com/prometheus/client_golang":    "metrics",
	"mvdan.cc/sh/v3":                         "internal/facts",
	"github.com/spf13/cobra":                 "cmd/bailiff",
	"github.com/go-json-experiment/json":     "gateway",
	"github.com/google/uuid":                 "internal/audit",
	"github.com/google/cel-go":               "internal/guard",
	"golang.org/x/sync":                      "enforcer",
	"golang.org/x/time":                      "internal/throttle",
	"golang.org/x/term":                      "cmd/bailiff",
	"golang.org/x/net":                       "cmd/bailiff-runner",
	"golang.org/x/crypto/ssh":                "internal/remote",
	"go.yaml.in/yaml/v3":                     "internal/pdp",
	"github.com/modal-labs/modal-client":     "backends/modal",
	"google.golang.org/grpc":                 "backends/modal",
	"google.golang.org/protobuf":             "backends/modal",
	"go.etcd.io/bbolt":                       "internal/approval",
	"github.com/chromedp/chromedp":           "gateway/console",
	"github.com/chromedp/cdproto":            "gateway/console",
	"github.com/modelcontextprotocol/go-sdk": "gateway/mcp",
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
			for library, owner := range owners {
				if (path == library || strings.HasPrefix(path, library+"/")) && p.folder() != owner {
					t.Errorf("%s imports %s, which only %s may", p.ImportPath, path, owner)
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
