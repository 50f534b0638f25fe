package app

import (
	"net/http"
	"testing"

	"github.com/bailiff-dev/bailiff"
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
			s := startOffice(t, openDir(t), onePerson(t, section,
				"egress: {hosts: {plain.test: 127.0.0.1, other.test: 127.0.0.1}, own: [\""+service+"\"]}",
				wayOut(t, "      plain.test: [{ports: ["+port+"], protocol: http, methods: [GET]}]\n")))
			a := answeredWithYes(t, s, withInput("s", directly, "plain.test:"+port, "PLAIN.test.:"+port, "other.test:"+port, "plain.test:22",
				"plain.test:81"))
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
