package app

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
)

// clientsToken is the value that the server of [forClients] wants, which no sandbox gets.
const clientsToken = "tok_VALUEVALUEVALUEVALUEVALUEVALUEVALU34"

// forClients serves a git repository, a registry of npm, an index of pip and an API to those
// who have the token, in the header that each client uses.
func forClients(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/repo.git/", ofBasic(repository(t)))
	mux.Handle("/simple/", ofBasic(pythonIndex(t)))
	mux.Handle("/npm/", bearing("Bearer "+clientsToken, &npmRegistry{}))
	mux.Handle("GET /api/v3/user", bearing("token "+clientsToken, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"login": "ana", "echo": %q}`, r.Header.Get("Authorization"))
	})))
	mux.Handle("GET /go/", goModules(t))
	mux.Handle("GET /cargo/", crates(t))
	mux.HandleFunc("GET /apt/", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/Packages") {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "Package: stand\nVersion: 1\nArchitecture: all\nFilename: stand.deb\nSize: 1\n")
	})
	mux.HandleFunc("GET /by/query", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "it is %v: %s", r.URL.Query().Get("key") == clientsToken, r.RequestURI)
	})
	return mux
}

// ofBasic serves those whose password is the token. The others are asked for one.
func ofBasic(served http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != clientsToken {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
}

func bearing(want string, served http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != want {
			http.Error(w, `{"error": "unauthorized"}`, http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
}

// pythonIndex has one wheel with one module.
func pythonIndex(t *testing.T) http.Handler {
	t.Helper()
	const wheel = "stand-1-py3-none-any.whl"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{
		"stand.py":                        "print('installed by pip')\n",
		"stand-1.dist-info/METADATA":      "Metadata-Version: 2.1\nName: stand\nVersion: 1\n",
		"stand-1.dist-info/WHEEL":         "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"stand-1.dist-info/RECORD":        "",
		"stand-1.dist-info/top_level.txt": "stand\n",
	} {
		w, err := z.Create(name)
		must(t, err)
		_, err = w.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".whl") {
			_, _ = w.Write(packed.Bytes())
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><a href="%s">%[1]s</a>`, wheel)
	})
}

// goModules has one module with one package.
func goModules(t *testing.T) http.Handler {
	t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, text := range map[string]string{"go.mod": "module stand.test/m\n", "m.go": "package m\n"} {
		w, err := z.Create("stand.test/m@v1.0.0/" + name)
		must(t, err)
		_, err = w.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/go/stand.test/m/@v/v1.0.0.info":
			fmt.Fprint(w, `{"Version": "v1.0.0"}`)
		case "/go/stand.test/m/@v/v1.0.0.mod":
			fmt.Fprint(w, "module stand.test/m\n")
		case "/go/stand.test/m/@v/v1.0.0.zip":
			_, _ = w.Write(packed.Bytes())
		default:
			http.NotFound(w, r)
		}
	})
}

// crates is a sparse registry of cargo's with one crate.
func crates(t *testing.T) http.Handler {
	t.Helper()
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for name, text := range map[string]string{
		"Cargo.toml": "[package]\nname = \"stand\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "src/lib.rs": "// stands\n",
	} {
		must(t, archive.WriteHeader(&tar.Header{Name: "stand-1.0.0/" + name, Mode: 0o644, Size: int64(len(text))}))
		_, err := archive.Write([]byte(text))
		must(t, err)
	}
	must(t, archive.Close())
	must(t, compressed.Close())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/cargo/config.json":
			fmt.Fprintf(w, `{"dl": "https://%s/cargo/dl/{crate}/{version}"}`, r.Host)
		case "/cargo/st/an/stand":
			fmt.Fprintf(w, `{"name": "stand", "vers": "1.0.0", "deps": [], "cksum": "%x", "features": {}, "yanked": false}`,
				sha256.Sum256(packed.Bytes()))
		case "/cargo/dl/stand/1.0.0":
			_, _ = w.Write(packed.Bytes())
		default:
			http.NotFound(w, r)
		}
	})
}

// npmRegistry keeps what is published, and gives it back.
type npmRegistry struct {
	mu        sync.Mutex
	published map[string]any
	tarball   []byte
}

func (n *npmRegistry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case r.Method == http.MethodPut:
		var document struct {
			Versions    map[string]any `json:"versions"`
			Tags        map[string]any `json:"dist-tags"`
			Attachments map[string]struct {
				Data []byte `json:"data"`
			} `json:"_attachments"`
		}
		if err := json.NewDecoder(r.Body).Decode(&document); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, one := range document.Attachments {
			n.tarball = one.Data
		}
		n.published = map[string]any{"name": "stand", "dist-tags": document.Tags, "versions": document.Versions}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"ok": true}`)
	case strings.HasSuffix(r.URL.Path, ".tgz"):
		_, _ = w.Write(n.tarball)
	case n.published == nil:
		http.Error(w, `{"error": "not found"}`, http.StatusNotFound)
	default:
		_ = json.NewEncoder(w).Encode(n.published)
	}
}

// answeredWithYes sends a request, and has ana approve it if she is asked.
func answeredWithYes(t *testing.T, s *office, req bailiff.Request) api.Answer {
	t.Helper()
	answer, err := s.agent.Execute(t.Context(), req, client.News{Approval: func(a api.Approval) {
		if a.State == bailiff.ApprovalPending {
			go func() { _, _ = s.operator.Approve(t.Context(), a.ID, bailiff.ScopeOnce) }()
		}
	}})
	must(t, err)
	return answer
}

// clientJob is one that a program does, and that needs the token of its environment.
type clientJob struct {
	program, command, want string
	everywhere             bool // the test's image has it too
}

// clientJobs are for the server SERVER.
var clientJobs = map[string]clientJob{
	"git": {"git", `git clone -q https://x:$API_TOKEN@SERVER/repo.git copy && cd copy && echo more > more && git add more &&
git -c user.name=t -c user.email=t@example.com commit -qm more && git push -q origin HEAD:other && git ls-remote origin other`,
		"refs/heads/other", true},
	"npm": {"npm", `npm config set //SERVER/npm/:_authToken=$API_TOKEN registry=https://SERVER/npm/ && mkdir stand && cd stand &&
echo '{"name": "stand", "version": "1.0.0"}' > package.json && npm publish && mkdir ../user && cd ../user &&
npm install --no-audit --no-fund stand && cat node_modules/stand/package.json`, `"name": "stand"`, false},
	"pip by URL": {"/usr/bin/pip3", `python3 -m pip install -q --target=there --index-url https://x:$API_TOKEN@SERVER/simple/ stand &&
PYTHONPATH=there python3 -m stand`, "installed by pip", false},
	"pip by netrc": {"/usr/bin/pip3", `echo machine repo.example.com login x password $API_TOKEN > ~/.netrc &&
python3 -m pip install -q --target=there --index-url https://SERVER/simple/ stand && PYTHONPATH=there python3 -m stand`,
		"installed by pip", false},
	"go": {"/usr/local/go/bin/go", `export GOPROXY=https://SERVER/go GONOSUMDB=* GONOSUMCHECK=1 GOFLAGS=-mod=mod GONOPROXY= GOSUMDB=off &&
export GOPATH=/tmp/gopath GOCACHE=/tmp/gocache && mkdir m && cd m && printf 'module x\nrequire stand.test/m v1.0.0\n' > go.mod &&
/usr/local/go/bin/go mod download -json stand.test/m`, `"Version": "v1.0.0"`, false},
	"apt": {"/usr/bin/apt-get", `mkdir -p state/lists/partial cache/archives/partial && touch status &&
echo 'deb [trusted=yes] https://SERVER/apt ./' > sources && apt-get update -o Dir::Etc::sourcelist=$PWD/sources -o Dir::Etc::sourceparts=- \
-o Dir::State=$PWD/state -o Dir::State::status=$PWD/status -o Dir::Cache=$PWD/cache -o Acquire::https::CAInfo=$SSL_CERT_FILE \
-o APT::Sandbox::User= -o Acquire::Languages=none && cat state/lists/*_Packages`, "Package: stand", true},
	"curl by query": {"curl", `curl -sS "https://SERVER/by/query?key=$API_TOKEN"`,
		"it is true: /by/query?key=[API_TOKEN redacted]", true},
	"all that a sandbox shows": {"bash", `printenv; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n'`,
		"API_TOKEN=tok_", true},
	"requests": {"/usr/lib/python3/dist-packages/requests", `/usr/bin/python3 -c 'import os, requests
print(requests.get("https://SERVER/api/v3/user", headers={"Authorization": "token " + os.environ["API_TOKEN"]}).text)'`,
		`"login": "ana"`, false},
	"httpx": {"/usr/lib/python3/dist-packages/httpx", `/usr/bin/python3 -c 'import asyncio, httpx, os
async def main():
    async with httpx.AsyncClient() as client:
        print((await client.get("https://SERVER/api/v3/user", headers={"Authorization": "token " + os.environ["API_TOKEN"]})).text)
asyncio.run(main())'`, `"login": "ana"`, false},
	"asyncio": {"python3", `python3 -c 'import asyncio, os, ssl, urllib.parse
async def main():
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    answer, said = await asyncio.open_connection(proxy.hostname, proxy.port)
    said.write(b"CONNECT SERVER HTTP/1.1\r\nHost: SERVER\r\n\r\n")
    await answer.readuntil(b"\r\n\r\n")
    loop = asyncio.get_running_loop()
    inside = await loop.start_tls(said.transport, said.transport.get_protocol(), ssl.create_default_context(),
        server_hostname="repo.example.com")
    token = os.environ["API_TOKEN"].encode()
    inside.write(b"GET /api/v3/user HTTP/1.1\r\nHost: SERVER\r\nAuthorization: token " + token + b"\r\nConnection: close\r\n\r\n")
    print((await answer.read()).decode())
asyncio.run(main())'`, `"login": "ana"`, false},
	"Node by its agent": {"npm", `export NODE_PATH=$(dirname $(readlink -f $(command -v npm)))/../node_modules && node -e '
const {HttpsProxyAgent} = require("https-proxy-agent")
require("https").get("https://SERVER/api/v3/user", {agent: new HttpsProxyAgent(process.env.HTTPS_PROXY),
  headers: {Authorization: "token " + process.env.API_TOKEN}}, (answer) => answer.pipe(process.stdout))'`, `"login": "ana"`, false},
	"Node by undici": {"npm", `export NODE_PATH=$(dirname $(readlink -f $(command -v npm)))/../node_modules && node -e '
const {fetch, EnvHttpProxyAgent} = require("undici")
fetch("https://SERVER/api/v3/user", {dispatcher: new EnvHttpProxyAgent(), headers: {Authorization: "token " + process.env.API_TOKEN}})
  .then((answer) => answer.text()).then(console.log)'`, `"login": "ana"`, false},
	"cargo": {"cargo", `mkdir -p x/src && cd x && touch src/lib.rs && export CARGO_HOME=/tmp/cargo &&
printf '[package]\nname = "x"\nversion = "1.0.0"\n[dependencies]\nstand = {version = "1", registry = "stand"}\n' > Cargo.toml &&
CARGO_REGISTRIES_STAND_INDEX=sparse+https://SERVER/cargo/ cargo fetch && cat /tmp/cargo/registry/src/*/stand-1.0.0/src/lib.rs`,
		"// stands", false},
	"Java": {"java", `cat > M.java <<'EOF'
import java.net.*;
import java.net.http.*;
class M {
	public static void main(String[] none) throws Exception {
		var to = URI.create("https://SERVER/api/v3/user");
		var token = "token " + System.getenv("API_TOKEN");
		var by = to.toURL().openConnection();
		by.setRequestProperty("Authorization", token);
		System.out.print(new String(by.getInputStream().readAllBytes()));
		var asked = HttpRequest.newBuilder(to).header("Authorization", token).build();
		var client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
		System.out.println(" by HttpClient: " + client.send(asked, HttpResponse.BodyHandlers.ofString()).body());
	}
}
EOF
keytool -importcert -noprompt -file $NODE_EXTRA_CA_CERTS -keystore store -storepass changeit 2>&1
proxy=${HTTPS_PROXY#http://} && java -Dhttps.proxyHost=${proxy%:*} -Dhttps.proxyPort=${proxy##*:} \
-Djavax.net.ssl.trustStore=store -Djavax.net.ssl.trustStorePassword=changeit M.java`, ` by HttpClient: {"login": "ana"`, false},
	"gh": {"gh", "GH_HOST=SERVER GH_ENTERPRISE_TOKEN=$API_TOKEN gh api user", `"login": "ana"`, false},
}

// Each client gets its work done with what stands for the token, and neither it nor any other
// program of the sandbox sees the token.
func TestClientsWorkWithWhatStandsForTheirTokens(t *testing.T) {
	t.Parallel()
	for backend, backendSection := range isolated {
		server := httptest.NewTLSServer(forClients(t))
		t.Cleanup(server.Close)
		section, port := reaching(t, server)
		host := "repo.example.com:" + port
		variables := filepath.Join(openDir(t), "variables")
		save(t, variables, "API_TOKEN="+clientsToken+"\n")
		policies := wayOut(t, "      repo.example.com: [{ports: ["+port+"]}]\n",
			"      API_TOKEN:\n        - {platforms: [cli], swap: {hosts: [\""+host+"\"], in: [authorization, \"query:key\"]}}\n")
		s := startOffice(t, openDir(t), onePerson(t, backendSection, section, policies, "env: {sources: [\"file:"+variables+"\"]}"))
		for name, job := range clientJobs {
			if backend != "bubblewrap" && !job.everywhere {
				continue
			}
			t.Run(name+" with "+backend, func(t *testing.T) {
				t.Parallel()
				_, err := exec.LookPath(job.program)
				if filepath.IsAbs(job.program) {
					_, err = os.Stat(job.program) // of Debian's, which may be a library
				}
				backendtest.Needs(t, strings.ToUpper(filepath.Base(job.program)), err)
				req := atTerminal(name, strings.ReplaceAll(job.command, "SERVER", host))
				req.Backend, req.Env = "", []string{"API_TOKEN"}
				a := answeredWithYes(t, s, req)
				if a.Status != bailiff.Completed || a.ExitCode != 0 || !strings.Contains(a.Output, job.want) ||
					strings.Contains(a.Output, clientsToken) || strings.Contains(a.Output, "API_TOKEN=[") {
					t.Errorf("it ended as %s (%d), said %q and printed %q", a.Status, a.ExitCode, a.Message, a.Output)
				}
			})
		}
	}
}

func TestAStandInMayBeNearABackgroundProcessWhereItsRowSaysSo(t *testing.T) {
	t.Parallel()
	variables := filepath.Join(openDir(t), "variables")
	save(t, variables, "API_TOKEN="+clientsToken+"\nNEAR_TOKEN="+clientsToken+"\n")
	policies := wayOut(t, "", "      API_TOKEN:\n        - {platforms: [cli], swap: {hosts: [plain.test]}}\n",
		"      NEAR_TOKEN:\n        - {platforms: [cli], swap: {hosts: [plain.test], alone: false}}\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], policies, "env: {sources: [\"file:"+variables+"\"]}"))
	background := atTerminal("s", "sleep 600")
	background.Backend, background.Args.Background = "", true
	wants(t, ask(t, s.agent, background), bailiff.Completed, "Started in the background")
	for name, want := range map[string]bailiff.Status{"NEAR_TOKEN": bailiff.Completed, "API_TOKEN": bailiff.Unavailable} {
		req := atTerminal("s", "echo ${#"+name+"}")
		req.Backend, req.Env = "", []string{name}
		if a := answeredWithYes(t, s, req); a.Status != want || (want == bailiff.Unavailable) != (a.Code == bailiff.CodeOccupied) {
			t.Errorf("%s: it ended as %s (%s), said %q and printed %q", name, a.Status, a.Code, a.Message, a.Output)
		}
	}
}

// bareImage is an image like that of the tests, without certificates.
func bareImage(t *testing.T) string {
	t.Helper()
	backendtest.Starts(t)
	name := "bailiff-bare-" + filepath.Base(openDir(t))
	docker := func(args ...string) {
		if said, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
			t.Fatalf("docker %q: %v: %s", args, err, said)
		}
	}
	docker("run", "--name", name, sandboxImage, "rm", "-r", "/etc/ssl/certs", "/usr/share/ca-certificates")
	docker("commit", name, name+":test")
	t.Cleanup(func() { docker("image", "rm", "--force", name+":test") })
	docker("rm", name)
	return name + ":test"
}

// Programs of an image that knows no authority trust the sandbox's, and public ones where their TLS
// is left closed.
func TestProgramsOfAnImageWithoutCertificatesTrustTheirWayOut(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served ") }))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	s := startOffice(t, openDir(t), onePerson(t, `backends: {docker: {image: "`+bareImage(t)+`"}}`, section,
		wayOut(t, "      repo.example.com: [{ports: ["+port+"], methods: [GET]}]\n")))
	at := "https://repo.example.com:" + port + "/"
	req := atTerminal("s", "ls /etc/ssl/certs; curl -sS "+at+"; git ls-remote "+at+" 2>&1 | grep -c verif; "+
		`grep -c BEGIN "$SSL_CERT_FILE" | sed 's/^1..$/a hundred and more/'`)
	req.Backend = ""
	a := ask(t, s.agent, req)
	if want := "ls: cannot access '/etc/ssl/certs': No such file or directory\nserved 0\na hundred and more\n"; a.Output != want {
		t.Errorf("it ended as %s, said %q and printed %q, want %q", a.Status, a.Message, a.Output, want)
	}
}

// byTunnel carries each connection to a port of the sandbox's own to a host, in a tunnel of the way out.
const byTunnel = `import os, socket, sys, threading, urllib.parse
proxy, to = urllib.parse.urlsplit(os.environ["HTTP_PROXY"]), sys.argv[1]
own = socket.create_server(("127.0.0.1", 5432))
def pump(a, b):
    while part := a.recv(65536):
        b.sendall(part)
    b.shutdown(socket.SHUT_WR)
def serve():
    while True:
        program, _ = own.accept()
        host = socket.create_connection((proxy.hostname, proxy.port))
        host.sendall(("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (to, to)).encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += host.recv(1)
        for way in ((program, host), (host, program)):
            threading.Thread(target=pump, args=way, daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
os.system(sys.stdin.read())
`

// database is the address of a PostgreSQL, and its port. It ends with the thread of the caller.
func database(t *testing.T) (service, port string) {
	t.Helper()
	started := postgrestest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			program, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer program.Close()
				server, err := net.Dial("unix", filepath.Join(started.Dir, ".s.PGSQL.5432"))
				if err != nil {
					return
				}
				defer server.Close()
				go func() { _, _ = io.Copy(server, program) }()
				_, _ = io.Copy(program, server)
			}()
		}
	}()
	service = listener.Addr().String()
	_, port, _ = strings.Cut(service, ":")
	return service, port
}

// A program that knows no proxy, such as psql, reaches its host by a tunnel whose row says tcp.
func TestAProgramThatKnowsNoProxyReachesItsHostByATunnel(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // the database ends with the thread that started it
	defer runtime.UnlockOSThread()
	service, port := database(t)
	folder, policies := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [\"db.corp:"+port+"\"]}}\n")
	addRows(t, folder, "      db.corp: [{ports: ["+port+"], protocol: tcp, private: true}]\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], policies,
		"egress: {hosts: {db.corp: 127.0.0.1}, own: [\""+service+"\"]}"))
	req := atTerminal("s", "python3 -c '"+byTunnel+"' db.corp:"+port)
	req.Backend = ""
	req.Args.Stdin = "/usr/lib/postgresql/*/bin/psql -h 127.0.0.1 -U postgres -Atc 'SELECT 6 * 7' postgres 2>&1"
	a := answeredWithYes(t, s, req)
	wants(t, a, bailiff.Completed, "")
	if a.Output != "42\n" || a.Egress == nil || a.Egress.Hosts != 1 {
		t.Errorf("it printed %q, told of connections is %+v", a.Output, a.Egress)
	}
}
