package bailiff_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/bailiff-dev/bailiff"

// step is one of the staircase, with its folders, a row of them a line. FOLDER/* stands for those below FOLDER that no row names.
type step struct {
	name string
	rows []string
}

// staircase names every folder of code with the step that it stands on. A package
// imports packages of lower steps, and of earlier rows of its own step; packages of one
// row do not know each other.
var staircase = []step{
	{"vocabulary", []string{ // what all speak: words and formats, without I/O
		". backends/runner/carrier backends/runner/wire examples/claude-code examples/codex examples/gemini-cli examples/hermes " +
			"internal/approval/boltcheck internal/config/required internal/facts/oneliner internal/facts/programs/index " +
			"internal/facts/shell/loops internal/host/defaultpath internal/host/nice internal/recent " +
			"internal/record/feed internal/record/outage internal/tests/awaittest internal/tests/porttest " +
			"internal/text/diagnosis internal/text/headtail internal/text/linesdiff internal/text/shellquote internal/text/spelling " +
			"internal/text/termsafe internal/text/yamledit policies",
		"api internal/facts/programs internal/facts/value internal/tests/policytest",
		"internal/facts/python/syntax",
		"internal/facts/python/library",
	}},
	{"concerns", []string{ // one concern each, ignorant of the others' work
		"internal/agents/hook internal/facts/shell/parse internal/facts/shell/word internal/network/reach",
		"internal/agents/* internal/agents/claudecode/hook internal/agents/codex/hook internal/agents/geminicli/hook " +
			"internal/agents/hermes/hook internal/agents/vscode/hook internal/facts/shell/state",
		"internal/agents/dialects",
		"internal/facts/python/object internal/facts/python/unpacked internal/facts/shell/call internal/facts/shell/expand " +
			"internal/facts/shell/overlay",
		"internal/facts/shell/languages internal/facts/shell/output",
		"internal/facts/shell/effects",
		"internal/facts/shell/grammars",
		"internal/facts/shell/loads",
		"backends/descent backends/runner/direct internal/facts/python internal/facts/shell internal/fleet/postgres " +
			"internal/host/removal internal/host/subprocess internal/host/trust internal/host/usage " +
			"internal/judging/corpus internal/judging/rows internal/project/nested internal/project/repository " +
			"internal/judging/tables internal/network/names internal/network/throttle internal/pdp/background " +
			"internal/pdp/dependencies internal/pdp/evaluation internal/pdp/explain internal/record/logline " +
			"internal/record/records internal/secrets/env internal/secrets/redact " +
			"internal/tests/scripted metrics",
		"internal/approval/state internal/fleet/watermark internal/host/trust/certificates internal/pdp/source",
		"internal/approval/file",
		"internal/approval/shared",
		"backends/cgroup backends/loop backends/settings internal/approval internal/facts internal/fleet " +
			"internal/judging/history internal/pdp/passes internal/project/keeper " +
			"internal/record/audit internal/secrets/protected " +
			"internal/secrets/swap",
		"backends internal/judging/guard internal/network/httpapi internal/network/remote internal/pdp/answers " +
			"internal/pdp/document internal/project/manifest internal/project/private internal/project/snapshot " +
			"internal/record/evidence internal/record/report internal/record/ocsf",
		"internal/project/carry internal/pdp/memo internal/pdp/policyset internal/pdp/rulecache internal/record/syslog",
		"backends/kernel backends/runner backends/workdirs internal/pdp/regotest internal/project/caches",
		"backends/limits",
	}},
	{"technologies", []string{ // what judges, and where commands run
		"backends/apptainer backends/backendtest backends/bubblewrap backends/daytona backends/docker backends/kubernetes backends/local " +
			"backends/modal backends/vercel internal/config internal/judging/bundle internal/judging/observed internal/judging/replay " +
			"internal/login " +
			"internal/login/securitykey internal/network/egress internal/network/suggest internal/pdp internal/record/export " +
			"internal/record/traces",
		"backends/backendtest/machine backends/ssh/inside internal/fleet/postgres/postgrestest internal/login/logintest " +
			"internal/network/remote/remotetest",
		"backends/ssh",
		"backends/catalogue",
	}},
	{"enforcement", []string{ // what records, asks and runs
		"enforcer/answers enforcer/budget enforcer/contents enforcer/implied enforcer/ledger enforcer/output " +
			"enforcer/pipes enforcer/requesters enforcer/turn internal/approval/people",
		"enforcer/past enforcer/sights enforcer/supply",
		"enforcer/lease",
		"enforcer/guard enforcer/inflight enforcer/process enforcer/refusals enforcer/toolbox",
		"enforcer",
	}},
	{"gateway", []string{ // how requests, answers and approvals come and go
		"gateway gateway/summary internal/agents/settings internal/judging/offline",
		"gateway/chat gateway/client gateway/console gateway/mcp gateway/mcp/streamable gateway/mcp/trust " +
			"internal/agents/claudecode internal/agents/codex " +
			"internal/agents/geminicli internal/agents/hermes internal/agents/opencode internal/agents/othermcp internal/agents/vscode " +
			"internal/fleet/peers internal/fleet/peers/peerstest",
		"gateway/mcp/proxy internal/agents",
		"internal/agents/doctor internal/agents/setup",
		"gateway/chat/chattest gateway/chat/discord gateway/chat/matrix gateway/chat/slack gateway/chat/telegram " +
			"gateway/chat/webhook",
		"gateway/chat/discord/discordtest gateway/chat/matrix/matrixtest gateway/chat/slack/slacktest " +
			"gateway/chat/telegram/telegramtest",
	}},
	{"programs", []string{ // what is started, and what holds the whole
		"cmd/bailiff-runner/confine cmd/bailiff-runner/door cmd/bailiff-runner/files cmd/bailiff-runner/flow cmd/bailiff-runner/journal " +
			"cmd/bailiff-runner/processes cmd/bailiff-runner/quota",
		"cmd/bailiff-runner/relay cmd/bailiff-runner/supervise cmd/bailiff-runner/transport",
		"cmd/bailiff-runner/serve",
		"app cmd/bailiff-hook cmd/bailiff-host cmd/bailiff-runner docs examples examples/ai-sdk examples/ci " +
			"examples/compose examples/fleet examples/go/ask examples/go/bridge examples/grafana examples/oci " +
			"examples/policies examples/prometheus examples/systemd internal/tests/apptest scripts/programindex " +
			"scripts/times",
		"cmd/bailiff/cli",
		"cmd/bailiff/auditlog cmd/bailiff/setup",
		"cmd/bailiff/operate",
		"cmd/bailiff/policy",
		"cmd/bailiff/egress",
		"cmd/bailiff",
	}},
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
	"github.com/coder/websocket":             "backends/daytona backends/kubernetes",
	"k8s.io/client-go":                       "backends/kubernetes",
	"github.com/prometheus/client_golang":    "metrics",
	"mvdan.cc/sh/v3":                         "internal/facts/shell",
	"github.com/spf13/cobra":                 "cmd/bailiff",
	"github.com/go-json-experiment/json":     "gateway internal/record/logline internal/pdp", // strict reading; fast; quoting
	"github.com/google/uuid":                 "internal/record/audit",
	"github.com/google/cel-go":               "internal/judging/guard",
	"golang.org/x/sync":                      "enforcer internal/login",
	"golang.org/x/time":                      "internal/network/egress internal/network/throttle",
	"golang.org/x/term":                      "cmd/bailiff",
	"golang.org/x/net":                       "cmd/bailiff-runner internal/network/names internal/network/reach",
	"golang.org/x/crypto/ssh":                "internal/network/remote",
	"go.yaml.in/yaml/v3":                     "internal/pdp internal/facts/programs",
	"github.com/modal-labs/modal-client":     "backends/modal",
	"google.golang.org/grpc":                 "backends/modal",
	"go.etcd.io/bbolt":                       "internal/approval/file",
	"github.com/jackc/pgx/v5":                "internal/fleet/postgres internal/approval/shared internal/fleet", // connections; statements
	"github.com/chromedp/chromedp":           "gateway/console",
	"github.com/chromedp/cdproto":            "gateway/console",
	"github.com/modelcontextprotocol/go-sdk": "gateway/mcp",
	"github.com/slack-go/slack":              "gateway/chat/slack",
	"github.com/bwmarrin/discordgo":          "gateway/chat/discord",
	"go.opentelemetry.io":                    "internal/record/traces",
	"github.com/go-telegram/bot":             "gateway/chat/telegram",
	"github.com/cenkalti/backoff/v5":         "gateway/chat",
	"github.com/coreos/go-oidc/v3":           "internal/login",
	"golang.org/x/oauth2":                    "internal/login",
	"github.com/go-webauthn/webauthn":        "internal/login/securitykey",
	"github.com/zitadel/oidc/v3":             "internal/login/logintest",
	"github.com/go-jose/go-jose/v4":          "internal/login/logintest",
	"github.com/santhosh-tekuri/jsonschema":  "internal/record/ocsf",
}

type listed struct {
	ImportPath string
	Imports    []string
}

func (p listed) folder() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func TestImportsPointDownOnly(t *testing.T) {
	places := places(t)
	for _, p := range packages(t) {
		place := placeOf(places, p.folder())
		if place == 0 {
			t.Errorf("%s stands on no step: name it in this test", p.ImportPath)
			continue
		}
		for _, path := range p.Imports {
			folder, ours := strings.CutPrefix(path, module)
			if folder = strings.TrimPrefix(folder, "/"); ours && placeOf(places, folder) >= place {
				t.Errorf("%s imports %s, which does not stand below it", p.ImportPath, path)
			}
		}
	}
}

// placeOf is the row of a folder.
func placeOf(places map[string]int, folder string) int {
	return cmp.Or(places[folder], places[path.Dir(folder)+"/*"])
}

// places numbers the rows of the staircase from the lowest up, by their folders.
func places(t *testing.T) map[string]int {
	t.Helper()
	all, row := map[string]int{}, 0
	for _, s := range staircase {
		for _, folders := range s.rows {
			row++
			for _, folder := range strings.Fields(folders) {
				if all[strings.TrimPrefix(folder, ".")] != 0 {
					t.Errorf("%s stands on two rows", folder)
				}
				all[strings.TrimPrefix(folder, ".")] = row
			}
		}
	}
	return all
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

// What runs templates of the standard library calls methods by name, for which the linker keeps every method of everything: a
// sixth of bailiff.
func TestTheLinkerMayLeaveMethodsOut(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			if path == "text/template" || path == "html/template" {
				t.Errorf("%s imports %s: write the text by fmt, and escape what comes from others by package html", p.ImportPath, path)
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
