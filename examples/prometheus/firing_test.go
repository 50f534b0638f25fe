package prometheus_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// alerting is a sidecar to which everything happens that an alert is about.
type alerting struct {
	*apptest.Sidecar
	policies string // the folder that is in force
	receiver *receiver
}

// receiver is of the decision log; it refuses what contains certain words, and all of it
// while it is away.
type receiver struct {
	*httptest.Server
	away    atomic.Bool
	refuses atomic.Bool
}

const unwelcome = "unwelcome"

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	plain, err := gzip.NewReader(q.Body)
	var events []byte
	if err == nil {
		events, err = io.ReadAll(plain)
	}
	switch {
	case err != nil, r.away.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.refuses.Load() && bytes.Contains(events, []byte(unwelcome)):
		w.WriteHeader(http.StatusBadRequest)
	}
}

// newAlerting starts one whose Docker engine and chat service are not there, whose shadow
// policies have a fault, and one of whose people is never eligible.
func newAlerting(t *testing.T) *alerting {
	t.Helper()
	folder := apptest.PolicyFolder(t, apptest.AskedAbout+looping, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [inner.test]}}\n",
		"    destinations:\n", "    destinations:\n      inner.test: [{ports: [80], protocol: http}]\n")
	receiver := newReceiver(t)
	policies := fmt.Sprintf("policies: {paths: [%q], shadow: [%q], eval_timeout: 3s, require_tests: false}", folder,
		apptest.PolicyFolder(t, "nonsense"))
	token := filepath.Join(t.TempDir(), "telegram.token")
	must(t, os.WriteFile(token, []byte("7000000001:AAnobodys-token_of-a-bot"), 0o600))
	return &alerting{apptest.Serve(t, policies,
		fmt.Sprintf("people: [{name: ana, uids: [%d], telegram: [\"7\"]}]", os.Getuid()),
		fmt.Sprintf(`telegram: {url: "http://127.0.0.1:1", token: {file: %q}, approvals: "-1001"}`, token),
		`decision_log: {export: {url: "`+receiver.URL+`/logs"}}`,
		`metrics: {listen: <metrics>}`,
		`egress: {hosts: {inner.test: 127.0.0.1}}`,
		`operator: {listen: "<operator>", allow_same_user: true, break_glass: true}`,
		`approvals: {routes: [{name: away, when: 'request.session.user_id == "away"', approvers: "false"},
			{name: chat, when: 'request.session.user_id == "chatty"', channels: [telegram]}, {name: rest}]}`,
		`backends: {bubblewrap: {accept_missing_limits: [cpus]}, docker: {host: "unix:///nobody/is/here.sock"}}`), folder, receiver}
}

// soon has an alert fire at once where alerts.yaml has it wait.
var soon = strings.NewReplacer("for: 2m", "for: 0s", "for: 5m", "for: 0s", "_seconds > 120", "_seconds > 1", "> 900", "> 1", "> 86400",
	"> 1")

// watch starts a Prometheus with the alerts, which looks often.
func (p *alerting) watch(t *testing.T) *apptest.Prometheus {
	t.Helper()
	folder := t.TempDir()
	config := strings.NewReplacer("15s", "250ms", "127.0.0.1:9464", p.Metrics).Replace(read(t, "prometheus.yml"))
	must(t, os.WriteFile(filepath.Join(folder, "alerts.yaml"), []byte(soon.Replace(read(t, "alerts.yaml"))), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o600))
	return apptest.ServePrometheus(t, filepath.Join(folder, "prometheus.yml"))
}

// cause is what an alert is about; quiet says that it does not hold from the start.
type cause struct {
	alert string
	quiet bool
	bring func(*alerting, *testing.T)
}

// causes are in an order in which none hides a later one.
var causes = []cause{
	{"BailiffBackendNotReady", false, func(*alerting, *testing.T) {}}, // the Docker engine
	{"BailiffChatDown", false, func(*alerting, *testing.T) {}},        // Telegram
	{"BailiffHooksSilent", true, (*alerting).rest},
	{"BailiffShadowDrops", false, func(*alerting, *testing.T) {}},        // since something was asked
	{"BailiffSandboxesUnbounded", false, func(*alerting, *testing.T) {}}, // since something ran
	{"BailiffExportLags", true, (*alerting).loseReceiver},
	{"BailiffExportRefused", true, (*alerting).refuseExport},
	{"BailiffUnavailable", true, (*alerting).sendToDocker},
	{"BailiffSandboxLeak", true, (*alerting).sweep},
	{"BailiffDenialBurst", true, (*alerting).insist},
	{"BailiffEgressFloor", true, (*alerting).reachInside},
	{"BailiffEgressBurst", true, (*alerting).reachOften},
	{"BailiffNobodyEligible", true, (*alerting).askNobody},
	{"BailiffApprovalsUnreachable", true, (*alerting).askByChat},
	{"BailiffApprovalWaits", true, (*alerting).askSlowly},
	{"BailiffApprovalsTurnedAway", true, (*alerting).askTooOften},
	{"BailiffGlassBroken", true, (*alerting).breakGlass},
	{"BailiffPolicyTimeouts", true, (*alerting).loop},
	{"BailiffDecisionsSlow", false, (*alerting).loop}, // a busy machine is slow from the start
	{"BailiffPolicyStale", true, (*alerting).misspell},
	{"BailiffDecisionLogFailing", true, (*alerting).disturbLog},
	{"BailiffDown", true, func(p *alerting, _ *testing.T) { p.Kill() }},
}

func TestEachAlertFiresWhenItHappensToARealSidecar(t *testing.T) {
	p := newAlerting(t)
	prometheus := p.watch(t)
	fires := func(alert string) bool {
		firing, err := prometheus.Firing()
		must(t, err)
		return slices.ContainsFunc(firing, func(labels map[string]string) bool {
			if labels["alertname"] == "BailiffBackendNotReady" && labels["backend"] != "docker" {
				t.Errorf("%v fires of a backend that is ready", labels)
			}
			return labels["alertname"] == alert
		})
	}
	var tried []string
	for _, c := range causes {
		tried = append(tried, c.alert)
		if c.quiet && fires(c.alert) {
			t.Errorf("%s fires before it has a cause", c.alert)
		}
		c.bring(p, t)
		backendtest.Await(t, c.alert+" fires", func() bool { return fires(c.alert) })
	}
	for _, r := range rules(t) {
		if !slices.Contains(tried, r.Alert) {
			t.Errorf("nothing here fires %s", r.Alert)
		}
	}
}

func request(user, command, backend string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command}, Backend: backend,
		Session: bailiff.Session{ID: user, Platform: "telegram", UserID: user, ChatType: "dm"}, WaitSeconds: 60}
}

func (p *alerting) end(t *testing.T, user, command, backend string, want bailiff.Status) {
	t.Helper()
	p.Ask(t, request(user, command, backend), want)
}

// rest asks for one thing, and then for nothing: longer than a second is too long here.
func (p *alerting) rest(t *testing.T) { p.decide(t) }

func (p *alerting) decide(t *testing.T) {
	p.end(t, "42", "echo hello", "bubblewrap", bailiff.Completed)
}

func (p *alerting) loseReceiver(t *testing.T) {
	p.receiver.away.Store(true)
	p.decide(t)
}

// refuseExport brings the receiver what it refuses, and then something that it takes.
func (p *alerting) refuseExport(t *testing.T) {
	p.receiver.refuses.Store(true)
	p.receiver.away.Store(false)
	p.end(t, "42", "echo "+unwelcome, "bubblewrap", bailiff.Completed)
	p.decide(t)
}

func (p *alerting) sendToDocker(t *testing.T) {
	p.end(t, "42", "echo hello", "docker", bailiff.Unavailable)
}

func (p *alerting) sweep(t *testing.T) {
	for range 3 {
		if _, err := p.Operators(t).Reap(t.Context()); err == nil {
			t.Fatal("a sweep succeeded without the engine")
		}
	}
}

func (p *alerting) insist(t *testing.T) {
	for range 25 {
		p.end(t, "42", "rm -rf /", "", bailiff.Refused)
	}
}

// reachInside has a sandbox reach for an allowed name whose address is forbidden.
func (p *alerting) reachInside(t *testing.T) { p.reach(t, "inner.test", 1) }

func (p *alerting) reachOften(t *testing.T) { p.reach(t, "unnamed.test", 150) }

// reach has a command of the command line try a host so many times.
func (p *alerting) reach(t *testing.T, host string, times int) {
	t.Helper()
	req := request("43", fmt.Sprintf(`python3 -c 'import urllib.request as r
for _ in range(%d):
    try: r.urlopen("http://%s/", timeout=20)
    except OSError as e: print(e)'`, times, host), "bubblewrap")
	req.Session.ID, req.Session.Platform = "reaching", "cli"
	p.Ask(t, req, bailiff.Completed)
}

func (p *alerting) askNobody(t *testing.T) {
	p.end(t, "away", "echo asked-about", "bubblewrap", bailiff.Expired)
}

// askByChat asks where only Telegram could.
func (p *alerting) askByChat(t *testing.T) {
	p.end(t, "chatty", "echo asked-about", "bubblewrap", bailiff.Unavailable)
}

// askSlowly leaves a question open.
func (p *alerting) askSlowly(t *testing.T) {
	agent := p.Client(t)
	go func() {
		_, _ = agent.Execute(t.Context(), request("slow", "echo asked-about", "bubblewrap"), client.News{})
	}()
	p.Pending(t)
}

// askTooOften asks for more than is kept of one user.
func (p *alerting) askTooOften(t *testing.T) {
	for n := range 5 {
		req := request("greedy", fmt.Sprint("echo asked-about ", n), "bubblewrap")
		req.WaitSeconds = 0
		p.Ask(t, req, bailiff.ApprovalRequired)
	}
	p.end(t, "greedy", "echo asked-about too", "bubblewrap", bailiff.Unavailable)
}

func (p *alerting) breakGlass(t *testing.T) {
	_, err := p.Operators(t).BreakGlass(t.Context(),
		bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -rf /nobody/is/here"},
			Session: bailiff.Session{ID: "s", Platform: "telegram", UserID: "42"}, Backend: "bubblewrap"}, "an alert is tried")
	must(t, err)
}

// looping is a rule that never ends for the commands that say so.
const looping = `
deny contains {"rule": "house.loops", "message": "It loops."} if {
	input.args.command == "echo loop"
	count([1 | some a in numbers.range(1, 20000); some b in numbers.range(1, 20000); a * b == -1]) > 0
}
`

func (p *alerting) loop(t *testing.T) {
	p.end(t, "42", "echo loop", "bubblewrap", bailiff.Refused)
}

func (p *alerting) misspell(t *testing.T) {
	must(t, os.WriteFile(filepath.Join(p.policies, "house.rego"), []byte("package bailiff\n\nnonsense"), 0o600))
}

// disturbLog adds to the log's file what the sidecar did not write.
func (p *alerting) disturbLog(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(p.Config), "state", "decisions", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no decision log: %v", err)
	}
	file, err := os.OpenFile(slices.Max(files), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer file.Close()
	_, err = fmt.Fprintln(file, "{}")
	must(t, err)
	p.end(t, "42", "echo hello", "bubblewrap", bailiff.Unavailable)
}
