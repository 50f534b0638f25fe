package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

// directly is a program that takes no proxy: it dials each host and port by asyncio, asks for a path, and prints what comes.
const directly = `import asyncio, sys
async def get(to):
    host, port = to.split(":")
    try:
        r, w = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 60)
        w.write(("GET /a HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % to).encode())
        return (await r.read()).split(b"\r\n\r\n")[-1].decode()
    except OSError as e:
        return type(e).__name__
for to in sys.stdin.read().split():
    print(to.split(":")[0], asyncio.run(get(to)))
`

func TestAProgramThatKnowsNoProxyReachesWhatThePoliciesAllow(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.Method + " " + r.URL.Path })
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := plainOffice(t, section, service, port)
			a := answeredWithYes(t, s, withInput("s", directly, "plain.test:"+port, "PLAIN.test.:"+port, "other.test:"+port,
				"plain.test:22", "plain.test:81"))
			wants(t, a, bailiff.Completed, "Refused on the way out: other.test (egress.not_in_table, once), plain.test:22 "+
				"(egress.not_in_table, once). No row lets a sandbox of this session reach this host.")
			if want := "plain.test served GET /a\nPLAIN.test. served GET /a\nother.test gaierror\nplain.test ConnectionResetError\n" +
				"plain.test ConnectionRefusedError\n"; a.Output != want {
				t.Errorf("it printed %q, want %q", a.Output, want)
			}
			wantLogged(t, s.folder, a.DecisionID, "opened plain.test:"+port, "refused other.test:0", "refused plain.test:22")
		})
	}
}

// clonable is a real ssh server at port 22 of an address of its own, with a repository in its user's
// home. Key and known are what a program needs to log in and to know the server as git.test.
func clonable(t *testing.T) (address, repo, key, known string) {
	t.Helper()
	if os.Getuid() != 0 {
		backendtest.Needs(t, "ROOT", errors.New("only root may listen at port 22"))
	}
	address = fmt.Sprintf("127.83.%d.%d", os.Getpid()>>8&0xff, os.Getpid()&0xff)
	server := remotetest.Serve(t, remotetest.Options{Settings: []string{"ListenAddress " + address + ":22"}})
	repo = filepath.Join(server.Home, "repo.git")
	for _, command := range []string{"git init -q work",
		"git -C work -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first",
		"git clone -q --bare work " + repo, "chown -R --reference=" + server.Home + " " + repo} {
		words := strings.Fields(command)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = server.Folder, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, said)
		}
	}
	private, err := os.ReadFile(filepath.Join(server.Folder, "user"))
	must(t, err)
	public, err := os.ReadFile(filepath.Join(server.Folder, "host.pub"))
	must(t, err)
	return address, repo, string(private), "git.test " + string(public)
}

// directJobs are what programs do that take no proxy, for the host of each. DB and API are ports.
var directJobs = map[string]struct{ program, command, want string }{
	"getent": {"getent", "getent hosts git.test db.corp | cut -d. -f1; getent hosts other.test || echo no other", "127\n127\nno other\n"},
	"psql": {"psql", "/usr/lib/postgresql/*/bin/psql -h db.corp -p DB -U postgres -Atc 'SELECT 6 * 7' postgres; " +
		"/usr/lib/postgresql/*/bin/psql -h other.test -U postgres postgres 2>&1 | grep -c 'could not translate'", "42\n1\n"},
	"node": {"node", "node - <<'EOF'\n(async () => { for (const host of ['repo.example.com', 'other.test'])\n" +
		"await fetch('https://' + host + ':API/a').then(a => a.text()).then(console.log, e => console.log(e.cause.code)) })()\nEOF",
		"served /a\nENOTFOUND\n"},
	"ssh": {"ssh", "ssh $SSH someone@git.test echo logged in; ssh $SSH someone@other.test 2>&1 | grep -o 'Could not resolve'",
		"logged in\nCould not resolve\n"},
	"git by ssh": {"git", "export GIT_SSH_COMMAND=\"ssh $SSH\"; git clone -q ssh://someone@git.test:22REPO copy && " +
		"git -C copy log --format=%s", "first\n"},
}

func TestProgramsThatTakeNoProxyReachTheirHosts(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // the database ends with the thread that started it
	defer runtime.UnlockOSThread()
	service, db := database(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served "+r.URL.Path) }))
	t.Cleanup(server.Close)
	section, api := reaching(t, server)
	address, repo, key, known := clonable(t)
	folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [db.corp, git.test, repo.example.com]}}\n")
	addRows(t, folder, "      db.corp: [{ports: ["+db+"], protocol: tcp, private: true}]\n"+
		"      git.test: [{ports: [22], protocol: tcp}]\n      repo.example.com: [{ports: ["+api+"]}]\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], policies, strings.NewReplacer(
		"hosts: {", "hosts: {db.corp: 127.0.0.1, git.test: "+address+", ", "own: [", "own: [\""+service+"\", \""+address+":22\", ").
		Replace(section)))
	const given = "umask 077; cat > key; echo 'KNOWN' > known\n" +
		"SSH=\"-F none -i key -o IdentitiesOnly=yes -o UserKnownHostsFile=known -o StrictHostKeyChecking=yes -o BatchMode=yes\"\n"
	for name, job := range directJobs {
		t.Run(name, func(t *testing.T) {
			_, err := exec.LookPath(job.program)
			backendtest.Needs(t, strings.ToUpper(job.program), err)
			req := atTerminal(name, strings.NewReplacer("KNOWN", strings.TrimSpace(known), "DB", db, "API", api, "REPO", repo).
				Replace(given+job.command))
			req.Backend, req.Args.Stdin = "", key
			a := answeredWithYes(t, s, req)
			if a.Status != bailiff.Completed || a.Output != job.want {
				t.Errorf("it ended as %s (%d), said %q and printed %q, want %q", a.Status, a.ExitCode, a.Message, a.Output, job.want)
			}
		})
	}
}

// A connection without a proxy is of the request whose process dialled, though a later one runs beside
// it, and so is a name that was looked up. A script's interpreter is that of an earlier script.
func TestADirectConnectionIsOfTheRequestWhoseProcessDialled(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"],
		"egress: {hosts: {plain.test: 127.0.0.1}, own: [\""+service+"\"]}",
		wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
	dial := strings.NewReplacer("sys.stdin.read()", "'plain.test:"+port+" other.test:80'").Replace(directly)
	behind := atTerminal("s", "while [ ! -e begun ]; do sleep 0.05; done; python3 - <<'EOF'\n"+dial+"EOF\ntouch done")
	behind.Backend, behind.Args.Background = "", true
	started := answeredWithYes(t, s, behind)
	wants(t, started, bailiff.Completed, "Started in the background")
	beside := atTerminal("s", "touch begun; while [ ! -e done ]; do sleep 0.05; done")
	beside.Backend = ""
	a := answeredWithYes(t, s, beside)
	wants(t, a, bailiff.Completed, "")
	if a.Egress == nil || len(a.Egress.Blocked) != 0 || a.Egress.Hosts != 0 {
		t.Errorf("the later request is told of connections: %+v", a.Egress)
	}
	wantLogged(t, s.folder, started.DecisionID, "opened plain.test:"+port, "refused other.test:0")
	script := atTerminal("s", "")
	script.Tool, script.Backend, script.Args = bailiff.ExecuteCode, "", bailiff.Args{Code: dial}
	for range 2 {
		a := answeredWithYes(t, s, script)
		if a.Output != "plain.test served /a\nother.test gaierror\n" || a.Egress == nil || a.Egress.Hosts != 1 {
			t.Errorf("%s: a script printed %q, and is told of connections: %+v", a.Message, a.Output, a.Egress)
		}
		wantLogged(t, s.folder, a.DecisionID, "opened plain.test:"+port, "refused other.test:0")
	}
}
