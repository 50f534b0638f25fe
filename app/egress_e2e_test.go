package app

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// wayOut are the shipped policies with egress for the command line, rows for its hosts and for
// variables.
func wayOut(t testing.TB, rows string, variables ...string) (section string) {
	t.Helper()
	folder, section := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [plain.test, repo.example.com]}}\n")
	path := filepath.Join(folder, "data.yaml")
	tables, err := os.ReadFile(path)
	must(t, err)
	save(t, path, strings.NewReplacer("    destinations:\n", "    destinations:\n"+rows, "    env:\n", "    env:\n"+
		strings.Join(variables, "")).Replace(string(tables)))
	return section
}

// serving is the address of a server that answers in plain HTTP, and its port.
func serving(t *testing.T, answer func(*http.Request) string) (service, port string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, answer(r)) }))
	t.Cleanup(server.Close)
	service = server.Listener.Addr().String()
	_, port, _ = strings.Cut(service, ":")
	return service, port
}

// plainOffice is a sidecar whose sandboxes may GET from a server on this machine, by one of its two names.
func plainOffice(t *testing.T, section, service, port string) *office {
	t.Helper()
	return startOffice(t, openDir(t), onePerson(t, section,
		"egress: {hosts: {plain.test: 127.0.0.1, other.test: 127.0.0.1}, own: [\""+service+"\"]}",
		wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
}

func TestACommandLeavesItsSandboxByTheSidecarAlone(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.Method + " " + r.URL.Path })
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := plainOffice(t, section, service, port)
			req := inPython("s", fetch("http://plain.test:"+port+"/a", "http://other.test:"+port+"/a"))
			a := ask(t, s.agent, req)
			wants(t, a, bailiff.Completed, "Refused on the way out: other.test:"+port+" (egress.not_in_table, once). No row lets a "+
				"sandbox of this session reach this host. Instead: Use what is in the sandbox, or one of the hosts that it may reach. "+
				"This request may reach plain.test, repo.example.com.")
			wantCounted(t, s.running, backend)
			status, err := s.operator.Status(t.Context())
			must(t, err)
			if e := status.Egress; e.Opened != 1 || e.Refused != 1 || e.Received == 0 {
				t.Errorf("the status counts %+v", e)
			}
			of := slices.IndexFunc(status.Platforms, func(p api.PlatformStatus) bool { return p.Platform == "cli" })
			if p := status.Platforms[of]; p.Network != "egress" || !slices.Equal(p.Egress, []string{"plain.test", "repo.example.com"}) {
				t.Errorf("the status says of the platform %+v", p)
			}
			if !strings.Contains(a.Output, "served GET /a\n403 egress.not_in_table") {
				t.Errorf("it printed %q", a.Output)
			}
			if a.Egress == nil || len(a.Egress.Blocked) != 1 || a.Egress.Blocked[0].Host != "other.test" {
				t.Errorf("told of connections is %+v", a.Egress)
			}
			if a.Egress != nil && (a.Egress.Hosts != 1 || a.Egress.Received == 0) {
				t.Errorf("counted is %+v", a.Egress)
			}
			wantLogged(t, s.folder, a.DecisionID, "opened plain.test:"+port, "refused other.test:"+port)
		})
	}
}

// A script's second run is by the interpreter of its first, which dials as it was told then.
func TestScriptsAndBackgroundProcessesLeaveByTheSidecarToo(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	const get = `import urllib.request, urllib.error
def get(address):
    try:
        print(urllib.request.urlopen(address, timeout=20).read().decode(), flush=True)
    except urllib.error.HTTPError as refused:
        print(refused.code, flush=True)
`
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := plainOffice(t, section, service, port)
			here, there := `get("http://plain.test:`+port+`/a")`, `get("http://other.test:`+port+`/a")`
			const refused = "Refused on the way out: other.test:"
			script := atTerminal("s", "")
			script.Tool, script.Backend = bailiff.ExecuteCode, ""
			script.Args = bailiff.Args{Code: get + here}
			first := ask(t, s.agent, script)
			wants(t, first, bailiff.Completed, "")
			script.Args = bailiff.Args{Code: here + "\n" + there}
			second := ask(t, s.agent, script)
			wants(t, second, bailiff.Completed, refused)
			if first.Output != "served /a\n" || second.Output != "served /a\n403\n" {
				t.Errorf("scripts printed %q and %q", first.Output, second.Output)
			}
			wantLogged(t, s.folder, second.DecisionID, "opened plain.test:"+port, "refused other.test:"+port)
			command := atTerminal("s", "read line; python3 - <<'EOF'\n"+get+here+"\n"+there+"\nEOF")
			command.Backend, command.Args.Background = "", true
			started := ask(t, s.agent, command)
			wants(t, started, bailiff.Completed, "Started in the background")
			process := atTerminal("s", "")
			process.Tool, process.Backend = bailiff.Process, ""
			for _, args := range []bailiff.Args{{Action: "submit"}, {Action: "wait"}} {
				args.ProcessID = started.ProcessID
				process.Args = args
				wants(t, ask(t, s.agent, process), bailiff.Completed, "")
			}
			process.Args = bailiff.Args{Action: "log", ProcessID: started.ProcessID}
			a := ask(t, s.agent, process)
			wants(t, a, bailiff.Completed, refused)
			if a.Output != "served /a\n403\n" || a.Egress == nil || len(a.Egress.Blocked) != 1 || a.Egress.Hosts != 1 {
				t.Errorf("the process printed %q, and is told of connections: %+v", a.Output, a.Egress)
			}
			wantLogged(t, s.folder, started.DecisionID, "opened plain.test:"+port, "refused other.test:"+port)
		})
	}
}

// fetch is code that gets each of the addresses in turn, and prints what comes.
func fetch(addresses ...string) string {
	return `import sys, urllib.request, urllib.error
for address in ["` + strings.Join(addresses, `", "`) + `"]:
    try:
        print(urllib.request.urlopen(address, timeout=60).read().decode(), flush=True)
    except urllib.error.HTTPError as refused:
        print(refused.code, refused.headers["X-Bailiff-Rule"], flush=True)
`
}

// inPython is a command that runs code, in the sandbox of the platform.
func inPython(session, code string) bailiff.Request {
	req := atTerminal(session, "python3 - <<'EOF'\n"+code+"EOF")
	req.Backend = ""
	return req
}

// reading fetches addresses that its text does not name.
func reading(session string, addresses ...string) bailiff.Request {
	return withInput(session, strings.Replace(fetch(), `[""]`, "sys.stdin.read().split()", 1), addresses...)
}

func TestANewHostIsAskedAboutWhileTheConnectionWaits(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			_, policies := shippedWith(t, "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
				"    network:\n      platforms: {cli: {network: egress, egress: [repo.example.com]}}\n      ask_new_hosts: {cli: true}\n")
			s := startOffice(t, openDir(t), onePerson(t, section,
				"egress: {hosts: {one.test: 127.0.0.1, two.test: 127.0.0.1}, own: [\""+service+"\"]}", policies))
			one, two := "http://one.test:"+port+"/", "http://two.test:"+port+"/"
			asking := send(t.Context(), s.agent, reading("s", one+"a", one+"b"))
			id := asking.question(t)
			list, err := s.operator.Approvals(t.Context(), api.Query{})
			must(t, err)
			if len(list.Approvals) != 1 || len(list.Approvals[0].Reasons) != 1 || list.Approvals[0].Reasons[0].Match != "one.test:"+port {
				t.Errorf("asked is %+v", list.Approvals)
			}
			mustApprove(t, s.operator, id, bailiff.ScopeOnce)
			a := asking.end(t)
			wants(t, a, bailiff.Completed, "")
			if a.Output != "served /a\nserved /b\n" {
				t.Errorf("with a yes it printed %q", a.Output)
			}
			wantLogged(t, s.folder, a.DecisionID, "opened one.test:"+port)

			asking = send(t.Context(), s.agent, reading("s", one+"a", two+"a"))
			mustApprove(t, s.operator, asking.question(t), bailiff.ScopeSession) // the yes for once was used
			_, err = s.operator.Deny(t.Context(), asking.question(t), "not there")
			must(t, err)
			a = asking.end(t)
			wants(t, a, bailiff.Completed, "Refused on the way out: two.test:"+port+" (egress.new_host, once).")
			if a.Output != "served /a\n403 egress.new_host\n" || a.Egress == nil || len(a.Egress.Blocked) != 1 ||
				a.Egress.Blocked[0].Approval == "" {
				t.Errorf("with a yes and a no it printed %q, and is told of %+v", a.Output, a.Egress)
			}

			a = ask(t, s.agent, reading("s", one+"c"))
			if wants(t, a, bailiff.Completed, ""); a.Output != "served /c\n" {
				t.Errorf("with a yes for the session it printed %q", a.Output)
			}
			alone := reading("other", one+"c")
			alone.Session.Unattended = true
			a = ask(t, s.agent, alone)
			wants(t, a, bailiff.Completed, "one.test:"+port+" (approval.unattended, once).")
		})
	}
}

// A host that the text names is asked about before anything runs, once.
func TestANewHostThatATextNamesIsAskedAboutBeforeItRuns(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	_, policies := shippedWith(t, "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [repo.example.com]}}\n      ask_new_hosts: {cli: true}\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"],
		"egress: {hosts: {one.test: 127.0.0.1, two.test: 127.0.0.1}, own: [\""+service+"\"]}", policies))
	command := func(text string) bailiff.Request {
		req := atTerminal("s", strings.ReplaceAll(text, "PORT", port))
		req.Backend = ""
		return req
	}
	asking := send(t.Context(), s.agent, command("touch begun; curl -sS http://one.test:PORT/a"))
	id := asking.question(t)
	list, err := s.operator.Approvals(t.Context(), api.Query{})
	must(t, err)
	if len(list.Approvals) != 1 || len(list.Approvals[0].Reasons) != 1 || list.Approvals[0].Reasons[0].Match != "one.test" ||
		list.Approvals[0].Reasons[0].Rule != "command.reaches_new_host" {
		t.Errorf("asked is %+v", list.Approvals)
	}
	_, err = s.operator.Deny(t.Context(), id, "not there")
	must(t, err)
	wants(t, asking.end(t), bailiff.Refused, "command.reaches_new_host")

	asking = send(t.Context(), s.agent, command("ls; curl -sS http://one.test:PORT/b"))
	mustApprove(t, s.operator, asking.question(t), bailiff.ScopeOnce)
	a := asking.end(t)
	if wants(t, a, bailiff.Completed, ""); a.Output != "served /b" {
		t.Errorf("after a no and a yes it printed %q", a.Output)
	}
}

// wantCounted waits until the metrics show a connection that was let out, and one that was not.
func wantCounted(t *testing.T, s *running, backend string) {
	t.Helper()
	wanted := []string{
		`egress_connections_total{backend="` + backend + `",outcome="opened"} 1`,
		`egress_connections_total{backend="` + backend + `",outcome="refused"} 1`,
		`egress_connections_total{backend="` + backend + `",outcome="unavailable"} 0`,
		`egress_refusals_total{rule="egress.not_in_table"} 1`,
		`egress_refusals_total{rule="floor.address"} 0`,
		`egress_open{backend="` + backend + `"} 0`,
	}
	backendtest.Await(t, "what became of the connections is counted", func() bool {
		page := get(t, s, "/metrics")
		missing := slices.ContainsFunc(wanted, func(line string) bool { return !strings.Contains(page, "\nbailiff_"+line+"\n") })
		figures := []string{"sent_bytes_total", "received_bytes_total", "judgement_duration_seconds_count"}
		zero := slices.ContainsFunc(figures, func(name string) bool {
			return !strings.Contains(page, "\nbailiff_egress_"+name+" ") || strings.Contains(page, "\nbailiff_egress_"+name+" 0\n")
		})
		return !missing && !zero && !strings.Contains(page, "other.test")
	})
}

// wantLogged waits until the decision log tells these of the connections of a decision.
func wantLogged(t *testing.T, folder, decision string, wanted ...string) {
	t.Helper()
	backendtest.Await(t, "the connections are in the log", func() bool {
		files, err := filepath.Glob(filepath.Join(folder, "state", "decisions", "*.jsonl"))
		must(t, err)
		var told []string
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			for line := range strings.Lines(string(text)) {
				var e struct {
					DecisionID string `json:"decision_id"`
					Custom     struct{ Connection *api.Connection }
				}
				whole := json.Unmarshal([]byte(line), &e) == nil // one may be half written
				if c := e.Custom.Connection; whole && c != nil && e.DecisionID == decision {
					told = append(told, fmt.Sprintf("%s %s:%d", c.What, c.Host, c.Port))
				}
			}
		}
		return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(told, w) })
	})
}

// repository serves a repository with one file over http, which takes every push.
func repository(t *testing.T) http.Handler {
	t.Helper()
	root := t.TempDir()
	work, bare := filepath.Join(root, "work"), filepath.Join(root, "repo.git")
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, said)
		}
		return strings.TrimSpace(string(said))
	}
	git("init", "-q", "-b", "main", work)
	save(t, filepath.Join(work, "file"), "from the repository")
	git("-C", work, "add", "file")
	git("-C", work, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
	git("clone", "-q", "--bare", work, bare)
	git("-C", bare, "config", "http.receivepack", "true")
	return &cgi.Handler{Path: filepath.Join(git("--exec-path"), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}}
}

// overTLS has programs as they are in images fetch, clone and push.
const overTLS = `python3 - <<'EOF'
import subprocess, urllib.request
base = "https://repo.example.com:PORT"
def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr
print("urllib", urllib.request.urlopen(base + "/a", timeout=20).read().decode())
print("curl", run("curl", "-sS", base + "/a"))
print("refused", run("curl", "-sS", "-X", "DELETE", "-o", "/dev/null", "-w", "%{http_code} %header{x-bailiff-rule}", base + "/a"))
print("scoped", run("curl", "-sS", base + "/@scope%2fname"))
print("clone", run("git", "clone", "-q", base + "/repo.git", "copy"), open("copy/file").read())
print("push", run("git", "-C", "copy", "push", "-q", "origin", "HEAD:other"))
EOF`

// reaching is the section by which sandboxes reach a server that has a certificate of its own,
// and the server's port.
func reaching(t testing.TB, server *httptest.Server) (section, port string) {
	t.Helper()
	authority := filepath.Join(openDir(t), "authority.pem")
	save(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	service := server.Listener.Addr().String()
	_, port, _ = strings.Cut(service, ":")
	return "egress: {hosts: {repo.example.com: 127.0.0.1}, own: [\"" + service + "\"], trust: [\"" + authority + "\"]}", port
}

func TestRequestsInsideTLSAreJudgedByMethodAndPath(t *testing.T) {
	t.Parallel()
	repo := repository(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/repo.git/") {
			repo.ServeHTTP(w, r)
			return
		}
		fmt.Fprintf(w, "served %s %s", r.Method, r.RequestURI)
	}))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	rows := "      repo.example.com:\n      - {ports: [" + port + "], methods: [GET]}\n" +
		"      - {ports: [" + port + "], methods: [POST], paths: [\"/*/git-upload-pack\"]}\n"
	for backend, backendSection := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := startOffice(t, openDir(t), onePerson(t, backendSection, section, wayOut(t, rows)))
			req := atTerminal("s", strings.Replace(overTLS, "PORT", port, 1))
			req.Backend = ""
			a := ask(t, s.agent, req)
			wants(t, a, bailiff.Completed, "Refused on the way out: repo.example.com:"+port+" (egress.not_this_request,")
			for _, want := range []string{"urllib served GET /a\n", "curl served GET /a\n", "refused 403 egress.not_this_request",
				"scoped served GET /@scope%2fname\n", "clone  from the repository\n", "HTTP 403"} {
				if !strings.Contains(a.Output, want) {
					t.Errorf("it printed %q, want %q in it", a.Output, want)
				}
			}
			if a.Egress == nil || a.Egress.Hosts != 1 || a.Egress.Received == 0 || len(a.Egress.Blocked) != 2 {
				t.Errorf("told of connections is %+v", a.Egress)
			}
		})
	}
}

// The server is told the value and says it again in every way; the sandbox has what stands
// for it, and sees no more.
func TestASwappedVariableIsKnownToItsHostAlone(t *testing.T) {
	t.Parallel()
	const value = "ghp_VALUEVALUEVALUEVALUEVALUEVALUEVALU34"
	var told sync.Map
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		told.Store(r.URL.Path, given)
		_, password, _ := r.BasicAuth()
		w.Header().Set("X-Echo", given)
		fmt.Fprintf(w, "echo %s %s %s", given, password, hex.EncodeToString([]byte(value)))
	}))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	variables := filepath.Join(openDir(t), "variables")
	save(t, variables, "API_TOKEN="+value+"\n")
	for backend, backendSection := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			policies := wayOut(t, "      repo.example.com: [{ports: ["+port+"]}]\n", "      API_TOKEN:\n"+
				"        - {platforms: [cli], swap: {hosts: [\"repo.example.com:"+port+"\"]}}\n")
			s := startOffice(t, openDir(t), onePerson(t, backendSection, section, policies, "env: {sources: [\"file:"+variables+"\"]}"))
			base := "https://repo.example.com:" + port + "/" + backend
			req := atTerminal("s", "echo $API_TOKEN; curl -sSi -H \"Authorization: Bearer $API_TOKEN\" "+base+"/bearer; "+
				"curl -sS -u \"x:$API_TOKEN\" "+base+"/basic; curl -sS -o /dev/null -w ' %{http_code}' -A \"$API_TOKEN\" "+base+"/astray")
			req.Backend, req.Env = "", []string{"API_TOKEN"}
			asking := send(t.Context(), s.agent, req)
			mustApprove(t, s.operator, asking.question(t), bailiff.ScopeOnce)
			a := asking.end(t)
			wants(t, a, bailiff.Completed, "(egress.stray_secret, once)")
			if got, _ := told.Load("/" + backend + "/bearer"); got != "Bearer "+value {
				t.Errorf("the server was told %v", got)
			}
			if got, _ := told.Load("/" + backend + "/basic"); got != "Basic "+base64.StdEncoding.EncodeToString([]byte("x:"+value)) {
				t.Errorf("the server was told %v", got)
			}
			if got, asked := told.Load("/" + backend + "/astray"); asked {
				t.Errorf("the server was told %v", got)
			}
			if !strings.HasPrefix(a.Output, "ghp_") || strings.Contains(a.Output, value) || !strings.HasSuffix(a.Output, " 403") ||
				strings.Contains(a.Output, hex.EncodeToString([]byte(value))) || strings.Count(a.Output, "[API_TOKEN redacted]") < 4 {
				t.Errorf("it printed %q", a.Output)
			}
			typed := atTerminal("s", "curl -sS -o /dev/null "+base+"/typed/"+value[:10]+"''"+value[10:])
			typed.Backend = ""
			wants(t, answeredWithYes(t, s, typed), bailiff.Completed, "")
			if _, asked := told.Load("/" + backend + "/typed/" + value); !asked {
				t.Error("what an agent types by itself did not leave")
			}
			logged, err := filepath.Glob(filepath.Join(s.folder, "state", "decisions", "*.jsonl"))
			must(t, err)
			for _, file := range logged {
				if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), value) {
					t.Errorf("%s holds the value, or cannot be read: %v", file, err)
				}
			}
		})
	}
}

// What a program has read of its sandbox's certificates before a kill is what it needs after.
func TestAKilledSidecarsSandboxesTrustTheNextOne(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") }))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	folder := openDir(t)
	row := "      repo.example.com: [{ports: [" + port + "], methods: [GET]}]\n"
	text := onePerson(t, dockerBackend, keepNoneReady, section, wayOut(t, row))
	get := func(before string) bailiff.Request {
		req := atTerminal("s", "python3 - <<'EOF'\nimport os, shutil, ssl, urllib.request\n"+before+
			"\nprint(urllib.request.urlopen('https://repo.example.com:"+port+"/', timeout=20, "+
			"context=ssl.create_default_context(cafile='trusted.pem')).read().decode())\nEOF")
		req.Backend = ""
		return req
	}
	before := launch(t, folder, text)
	before.awaitServing(t)
	made := mustComplete(t, before.agent, get("shutil.copy(os.environ['SSL_CERT_FILE'], 'trusted.pem')"))
	before.kill()
	after := launch(t, folder, text)
	after.awaitServing(t)
	if a := mustComplete(t, after.agent, get("")); a.SandboxID != made.SandboxID || a.Output != "served\n" || made.Output != a.Output {
		t.Errorf("it printed %q in %s, before %q in %s", a.Output, a.SandboxID, made.Output, made.SandboxID)
	}
	after.stop(t)
	wantNothingOf(t, folder, text)
}
