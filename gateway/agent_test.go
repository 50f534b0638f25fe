package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestARequestReachesTheEnforcerAsItWasSent(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	var a api.Answer
	c.post("/v1/execute", `{"request_id": "r", "tool": "terminal",
		"args": {"command": "git push", "workdir": "/workspace", "timeout": 180.0, "background": true, "stdin": "a\u0000b"},
		"session": {"id": "agent:main:telegram:dm:42", "platform": "telegram", "chat_type": "dm", "chat_id": "42", "thread_id": "7",
		            "user_id": "42", "user_name": "ana", "profile": "p", "unattended": true},
		"env": ["GITHUB_TOKEN"], "backend": "docker", "wait_seconds": 30}`).into(t, http.StatusOK, &a)
	want := bailiff.Request{
		ID: "r", Tool: bailiff.Terminal,
		Args: bailiff.Args{Command: "git push", Workdir: "/workspace", Timeout: 180, Background: true, Stdin: "a\x00b"},
		Session: bailiff.Session{ID: "agent:main:telegram:dm:42", Platform: "telegram", ChatType: "dm", ChatID: "42", ThreadID: "7",
			UserID: "42", UserName: "ana", Profile: "p", Unattended: true},
		Env: []string{"GITHUB_TOKEN"}, Backend: "docker", WaitSeconds: 30, Caller: "hermes",
		Peer: "uid:" + strconv.Itoa(os.Geteuid()),
	}
	if got := e.last(t); !reflect.DeepEqual(got, want) {
		t.Errorf("the enforcer got %+v, want %+v", got, want)
	}
	if a.RequestID != "r" || a.DecisionID != "d1" || a.Output != "hello\n" || a.OutputEncoding != "utf8" ||
		a.Decision.Outcome != bailiff.Allow {
		t.Errorf("the answer is %+v", a)
	}
}

func TestADecisionIsAnsweredAndNothingIsRun(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	var d api.Decided
	c.post("/v1/decide", telegramRequest).into(t, http.StatusOK, &d)
	if d.DecisionID != "d1" || d.Decision.Outcome != bailiff.Allow || d.Decision.Revision != "r1" {
		t.Errorf("the answer is %+v", d)
	}
	if c.post("/v1/decide?then=execute", telegramRequest).into(t, http.StatusOK, &d); d.DecisionID != "p1" {
		t.Errorf("ahead the answer is %+v", d)
	}
	a := c.post("/v1/decide?then=run", telegramRequest)
	if a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "execute") {
		t.Errorf("of another word it says %d %s", a.status, a.body)
	}
}

func TestAListenerSpeaksForItsPlatformsOnly(t *testing.T) {
	for _, test := range []struct {
		name      string
		platforms []string
		may, not  []string
	}{
		{"no platform is named: every messaging platform", nil, []string{"telegram", "discord", "slack"},
			[]string{"cli", "irc", "Telegram", "*"}},
		{"two are named", []string{"telegram", "cli"}, []string{"telegram", "cli"}, []string{"discord", "irc", "*"}},
		{"all", []string{"*"}, []string{"telegram", "cli", "irc"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := agentOf(&enforcer{})
			config.Platforms = test.platforms
			c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, config)))
			for _, platform := range test.may {
				if a := c.post("/v1/decide", replace("telegram", platform)); a.status != http.StatusOK {
					t.Errorf("%s is answered %d: %s", platform, a.status, a.body)
				}
			}
			for _, platform := range test.not {
				for _, path := range []string{"/v1/decide", "/v1/execute"} {
					if p := c.post(path, replace("telegram", platform)).problem(t, http.StatusForbidden); p.Code != "platform_not_allowed" {
						t.Errorf("%s: the problem is %+v", platform, p)
					}
				}
			}
		})
	}
}

func TestEndingASessionEndsThisListenersOnly(t *testing.T) {
	for _, id := range []string{"agent:main:telegram:dm:42", "a/b", "a b?c#d%2F"} {
		e := &enforcer{}
		c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
		var ended api.SessionEnded
		c.do(http.MethodDelete, "/v1/sessions/"+url.PathEscape(id), "").into(t, http.StatusOK, &ended)
		if got := e.last(t); got.Session.ID != id || got.Caller != "hermes" || ended != (api.SessionEnded{Removed: 1, Processes: 2}) {
			t.Errorf("session %q of %q was ended, want %q of hermes", got.Session.ID, got.Caller, id)
		}
	}
}

func TestWhatAnAgentsListenerDoesNotServe(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1/status", 404}, {"GET", "/v1/policies", 404}, {"GET", "/v1/sandboxes", 404},
		{"DELETE", "/v1/sandboxes/x", 404}, {"POST", "/v1/sandboxes/reap", 404}, {"GET", "/v1/approvals", 404},
		{"GET", "/metrics", 404}, {"GET", "/debug/pprof/", 404}, {"GET", "/", 404}, {"POST", "/v1", 404},
		{"POST", "/v1/execute/", 404}, {"POST", "//v1/execute", 404}, {"POST", "/v1/../v1/execute", 404}, {"POST", "/V1/EXECUTE", 404},
		{"GET", "/v1/execute", 405}, {"PUT", "/v1/decide", 405}, {"GET", "/v1/sessions/x", 405}, {"GET", "/v1/data/bailiff/decision", 405},
		{"POST", "/healthz", 405}, {"HEAD", "/v1/execute", 405},
	} {
		a := c.do(test.method, test.path, "")
		if a.status != test.status || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: answered %d (%s), want %d", test.method, test.path, a.status, a.header.Get("Content-Type"), test.status)
		}
		if test.status == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", test.method, test.path)
		}
	}
}

func TestAConfigThatLacksSomethingNamesIt(t *testing.T) {
	_, err := NewAgent(AgentConfig{DataPaths: []string{"agent/call/decision"}})
	if want := "agent config lacks Circumstances, Enforcer, Evaluator, Name, Platforms or Messaging, Tools"; err == nil ||
		err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	_, err = NewOperator(OperatorConfig{})
	want := "operator config lacks Approvals, Decisions, Freezer, Grants, History, Permit, Projects, Reports, Sandboxes, Sessions, " +
		"Statuser, Who"
	if err == nil ||
		err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestThisMachinesOwnAddressesAreKnownInEverySpelling(t *testing.T) {
	here := &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 8640}
	own := []string{"127.0.0.1:9", "127.9.9.9:9", "[::1]:9", "192.0.2.1:9", "[::ffff:192.0.2.1]:9", "nonsense"}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			own = append(own, netip.AddrPortFrom(prefix.Addr(), 9).String(), netip.AddrPortFrom(prefix.Addr().WithZone("eth0"), 9).String())
		}
	}
	for _, remote := range own {
		if !isOwn(remote, here) {
			t.Errorf("%s passes as another machine's", remote)
		}
	}
	for _, remote := range []string{"198.51.100.7:9", "[2001:db8::7]:9", "[fe80::dead:beef%eth0]:9"} {
		if isOwn(remote, here) {
			t.Errorf("%s passes as this machine's", remote)
		}
	}
}
