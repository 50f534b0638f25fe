package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// wayOut are the shipped policies with egress for the command line, and a row for one host.
func wayOut(t *testing.T, rows string) (section string) {
	t.Helper()
	folder, section := shippedWith(t, "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {cli: {network: egress, egress: [plain.test]}}\n")
	path := filepath.Join(folder, "data.yaml")
	tables, err := os.ReadFile(path)
	must(t, err)
	save(t, path, strings.Replace(string(tables), "    destinations:\n", "    destinations:\n"+rows, 1))
	return section
}

func TestACommandLeavesItsSandboxByTheSidecarAlone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "served %s %s", r.Method, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	service := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(service, ":")
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := startOffice(t, openDir(t), onePerson(t, section,
				"egress: {hosts: {plain.test: 127.0.0.1, other.test: 127.0.0.1}, own: [\""+service+"\"]}",
				wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
			const get = `python3 - <<'EOF'
import sys, urllib.request, urllib.error
for address in ADDRESSES:
    try:
        print(urllib.request.urlopen(address, timeout=20).read().decode())
    except urllib.error.HTTPError as refused:
        print(refused.code, refused.headers["X-Bailiff-Rule"])
EOF`
			code := strings.Replace(get, "ADDRESSES", `["http://plain.test:`+port+`/a", "http://other.test:`+port+`/a"]`, 1)
			req := atTerminal("s", code)
			req.Backend = ""
			a := ask(t, s.agent, req)
			wants(t, a, bailiff.Completed, "Refused on the way out: other.test:"+port+" (egress.not_in_table, once).")
			if !strings.Contains(a.Output, "served GET /a\n403 egress.not_in_table") {
				t.Errorf("it printed %q", a.Output)
			}
			if a.Egress == nil || len(a.Egress.Blocked) != 1 || a.Egress.Blocked[0].Host != "other.test" {
				t.Errorf("told of connections is %+v", a.Egress)
			}
		})
	}
}
