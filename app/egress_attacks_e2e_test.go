package app

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// relayed fetches by a proxy of the sandbox's own, which hands everything on to the way out.
const relayed = `import os, socket, sys, threading, urllib.parse, urllib.request, urllib.error
out = urllib.parse.urlparse(os.environ["HTTP_PROXY"])
own = socket.create_server(("127.0.0.1", 0))
def pump(a, b):
    try:
        while part := a.recv(65536):
            b.sendall(part)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def relay():
    while True:
        c, _ = own.accept()
        s = socket.create_connection((out.hostname, out.port))
        for way in ((c, s), (s, c)):
            threading.Thread(target=pump, args=way, daemon=True).start()
threading.Thread(target=relay, daemon=True).start()
here = "http://127.0.0.1:%d" % own.getsockname()[1]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": here, "https": here}))
for address in sys.stdin.read().split():
    try:
        print(opener.open(address, timeout=60).read().decode())
    except urllib.error.HTTPError as refused:
        print(refused.code, refused.headers["X-Bailiff-Rule"])
`

// withInput is a command that runs code from its text, and reads words.
func withInput(session, code string, words ...string) bailiff.Request {
	req := atTerminal(session, "python3 -c '"+code+"'")
	req.Backend, req.Args.Stdin = "", strings.Join(words, " ")
	return req
}

func TestWhatGoesByARelayOfTheSandboxsOwnIsJudgedToo(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := plainOffice(t, section, service, port)
			a := ask(t, s.agent, withInput("s", relayed, "http://plain.test:"+port+"/a", "http://other.test:"+port+"/a"))
			wants(t, a, bailiff.Completed, "Refused on the way out: other.test:"+port)
			if a.Output != "served /a\n403 egress.not_in_table\n" {
				t.Errorf("it printed %q", a.Output)
			}
		})
	}
}

// searching looks for texts in all that a command can read. Its input has them backwards, so that
// it is none of the places itself.
const searching = `import glob, os, sys
wanted = [bytes.fromhex(w[::-1]) for w in sys.stdin.read().split()]
looked = 0
def look(name, content):
    global looked
    looked += 1
    for w in wanted:
        if w in content:
            print("found in", name)
for top in "/workspace", "/run", "/tmp", "/home", "/etc", "/var", "/.bailiff", "/dev/shm":
    for folder, _, files in os.walk(top):
        for one in files:
            name = os.path.join(folder, one)
            try:
                if os.path.isfile(name) and os.path.getsize(name) < 4 << 20:
                    look(name, open(name, "rb").read())
            except OSError:
                pass
for name in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        look(name, open(name, "rb").read())
    except OSError:
        pass
print("looked", looked > 10)
`

// The key of a sandbox's authority is in no file, neither inside nor in the state folder, which
// holds what it is derived from once.
func TestTheKeyOfASandboxsAuthorityIsKeptNowhere(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") }))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	for backend, backendSection := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := startOffice(t, openDir(t), onePerson(t, backendSection, section,
				wayOut(t, "      repo.example.com: [{ports: ["+port+"], methods: [GET]}]\n")))
			made := ask(t, s.agent, inPython("s", fetch("https://repo.example.com:"+port+"/")))
			if wants(t, made, bailiff.Completed, ""); made.Output != "served\n" {
				t.Fatalf("it printed %q", made.Output)
			}
			state := filepath.Join(s.folder, "state")
			master, err := os.ReadFile(filepath.Join(state, "egress.key"))
			must(t, err)
			derived, err := hkdf.Key(sha256.New, master, nil, "bailiff sandbox authority 0 "+made.SandboxID, len(master))
			must(t, err)
			var wanted [][]byte
			for _, key := range [][]byte{master, derived} {
				wanted = append(wanted, key, []byte(hex.EncodeToString(key)), []byte(base64.StdEncoding.EncodeToString(key)))
			}
			wanted = append(wanted, []byte("PRIVATE KEY"))
			var words []string
			for _, one := range wanted {
				backwards := []byte(hex.EncodeToString(one))
				slices.Reverse(backwards)
				words = append(words, string(backwards))
			}
			a := answeredWithYes(t, s, withInput("s", searching, words...))
			if a.SandboxID != made.SandboxID || a.Output != "looked True\n" {
				t.Errorf("in %s it printed %q", a.SandboxID, a.Output)
			}
			must(t, filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() || d.Name() == "egress.key" {
					return nil // what comes and goes meanwhile
				}
				content, _ := os.ReadFile(path)
				for _, one := range wanted[:len(wanted)-1] {
					if bytes.Contains(content, one) {
						t.Errorf("%s holds the key", path)
					}
				}
				return nil
			}))
		})
	}
}

// A value that is replaced while its request runs leaves as it was when the request was judged,
// and neither is shown.
func TestAValueThatIsReplacedMeanwhileLeavesAsItWasJudged(t *testing.T) {
	t.Parallel()
	const first, second = clientsToken, "tok_OTHEROTHEROTHEROTHEROTHEROTHEROTH34"
	told, both := make(chan string, 2), make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told <- r.Header.Get("Authorization")
		if r.URL.Path == "/first" {
			<-both
		}
		fmt.Fprintf(w, "%s, not %s;", r.Header.Get("Authorization"), second)
	}))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	variables := filepath.Join(openDir(t), "variables")
	save(t, variables, "API_TOKEN="+first+"\n")
	policies := wayOut(t, "      repo.example.com: [{ports: ["+port+"]}]\n", "      API_TOKEN:\n"+
		"        - {platforms: [cli], swap: {hosts: [\"repo.example.com:"+port+"\"]}}\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"], section, policies, "env: {sources: [\"file:"+variables+"\"]}"))
	get := `curl -sS -H "Authorization: Bearer $API_TOKEN" https://repo.example.com:` + port
	req := atTerminal("s", get+"/first; "+get+"/second")
	req.Backend, req.Env = "", []string{"API_TOKEN"}
	ended := make(chan api.Answer, 1)
	go func() { ended <- answeredWithYes(t, s, req) }()
	before := <-told
	save(t, variables, "API_TOKEN="+second+"\n")
	close(both)
	after := <-told
	if want := "Bearer " + first; before != want || after != want {
		t.Errorf("the server was told %q, and then %q", before, after)
	}
	a := <-ended
	if a.Status != bailiff.Completed || strings.Contains(a.Output, first) || !strings.Contains(a.Output, "[API_TOKEN redacted], not ") {
		t.Errorf("it ended as %s, said %q and printed %q", a.Status, a.Message, a.Output)
	}
	go func() { ended <- answeredWithYes(t, s, req) }()
	if later := <-told; later != "Bearer "+second {
		t.Errorf("the next request's server was told %q", later)
	}
	<-told
	if a = <-ended; strings.Contains(a.Output, first) || strings.Contains(a.Output, second) {
		t.Errorf("the next request printed %q", a.Output)
	}
}

// flooding asks for as many hosts as it is told, at once, and counts the answers.
const flooding = `import collections, concurrent.futures, sys, urllib.request, urllib.error
number, port = map(int, sys.stdin.read().split())
def one(n):
    try:
        return urllib.request.urlopen("http://h%d.test:%d/" % (n, port), timeout=60).status
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers["X-Bailiff-Rule"]
with concurrent.futures.ThreadPoolExecutor(40) as pool:
    print(sorted(collections.Counter(map(str, pool.map(one, range(number)))).items()))
`

// A thousand hosts are a few questions, all of the user who asks. Another user's is put and
// answered meanwhile.
func TestAFloodOfNewHostsIsOneUsersProblem(t *testing.T) {
	t.Parallel()
	service, port := serving(t, func(r *http.Request) string { return "served " + r.URL.Path })
	_, policies := shippedWith(t, "    network:\n      platforms: {}\n      ask_new_hosts: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [repo.example.com]}}\n      ask_new_hosts: {cli: true}\n")
	s := startOffice(t, openDir(t), onePerson(t, isolated["bubblewrap"],
		"egress: {hosts: {one.test: 127.0.0.1}, own: [\""+service+"\"], limits: {hold_seconds: 3, per_second: 1000}}", policies))
	flood := withInput("flood", flooding, "1000", port)
	ended := make(chan api.Answer, 1)
	go func() { ended <- ask(t, s.agent, flood) }()
	pending := func() (n int) {
		page, err := s.operator.Approvals(t.Context(), api.Query{State: bailiff.ApprovalPending, Limit: 100})
		must(t, err)
		for _, e := range page.Approvals {
			if e.Request.Session.ID == "flood" {
				n++
			}
		}
		return n
	}
	awaittest.Until(t, "the flood's questions", func() bool { return pending() > 0 })
	other := reading("quiet", "http://one.test:"+port+"/a")
	other.Session.UserID = "43"
	asking := send(t.Context(), s.agent, other)
	mustApprove(t, s.operator, asking.question(t), bailiff.ScopeOnce)
	a := asking.end(t)
	if wants(t, a, bailiff.Completed, ""); a.Output != "served /a\n" {
		t.Errorf("the other user's request printed %q", a.Output)
	}
	if n := pending(); n > 5 {
		t.Errorf("%d questions of the flood are pending", n)
	}
	a = <-ended
	wants(t, a, bailiff.Completed, "Refused on the way out: ")
	if !strings.Contains(a.Output, "'egress.new_host')\", 1000)") || len(a.Egress.Blocked) > 20 {
		t.Errorf("the flood printed %q, and %d refusals are named", a.Output, len(a.Egress.Blocked))
	}
}

// What a server has seen is in the log, whenever the sidecar is killed.
func TestAKilledSidecarHasLetNothingOutUnrecorded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	served := map[string]bool{}
	service, port := serving(t, func(r *http.Request) string {
		mu.Lock()
		defer mu.Unlock()
		served[r.URL.Path] = true
		return "served"
	})
	folder := openDir(t)
	text := onePerson(t, isolated["bubblewrap"], keepNoneReady, "egress: {hosts: {plain.test: 127.0.0.1}, own: [\""+service+
		"\"], limits: {per_second: 1000}}", wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n"))
	const code = `import itertools, sys, threading, urllib.request
prefix = sys.stdin.read()
def go(lane):
    for n in itertools.count():
        urllib.request.urlopen("%s/%d/%d" % (prefix, lane, n), timeout=20).read()
for lane in range(4):
    threading.Thread(target=go, args=(lane,)).start()
`
	for round := range backendtest.Rounds(4, 60) {
		p := launch(t, folder, text)
		p.awaitServing(t)
		ctx, cancel := context.WithCancel(t.Context())
		before := len(copied(&mu, served))
		go func() {
			_, _ = p.agent.Execute(ctx, withInput("s", code, "http://plain.test:"+port+"/"+strconv.Itoa(round)), client.News{})
		}()
		awaittest.Until(t, "the first connection", func() bool { return len(copied(&mu, served)) > before })
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // the moment of the kill is to be any
		p.kill()
		cancel()
	}
	opened := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "state", "decisions", "*.jsonl"))
	must(t, err)
	for _, file := range files {
		logged, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(logged)) {
			var e struct {
				Custom struct{ Connection *api.Connection }
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Custom.Connection != nil && e.Custom.Connection.What == "opened" {
				opened[e.Custom.Connection.Path] = true
			}
		}
	}
	seen := copied(&mu, served)
	for path := range seen {
		if !opened[path] {
			t.Errorf("a server saw %s, of which the log says nothing", path)
		}
	}
	t.Logf("%d requests were served, %d are in the log", len(seen), len(opened))
}

func copied(mu *sync.Mutex, all map[string]bool) map[string]bool {
	mu.Lock()
	defer mu.Unlock()
	same := make(map[string]bool, len(all))
	for one := range all {
		same[one] = true
	}
	return same
}
