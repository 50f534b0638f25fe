package gateway

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func (o *office) caller(t testing.TB, person string) caller {
	return callerOf(t, open(t, ListenerConfig{}, o.handler(t, person)))
}

func TestApprovalsAreListedInPages(t *testing.T) {
	o := newOffice(t, 1)
	var want []string
	for n := range 7 {
		want = append(want, o.ask(t, asking(fmt.Sprint("s", n%2), fmt.Sprint("rm ", n), "rm")))
	}
	if _, err := o.Answer(t.Context(), want[3], bailiff.Approver{Person: "ana"}, bailiff.Verdict{}); err != nil {
		t.Fatal(err)
	}
	c := o.caller(t, "ana")
	for _, test := range []struct {
		query string
		want  []string
		pages int
	}{
		{"limit=3", want, 3},
		{"limit=7", want, 1},
		{"", want, 1},
		{"state=denied", want[3:4], 1},
		{"state=pending&session=s1&limit=1", []string{want[1], want[5]}, 2},
		{"user=telegram:42&limit=500", want, 1},
		{"user=discord:42", nil, 1},
		{"session=other&state=&after=", nil, 1},
	} {
		var got []string
		pages, after := 0, ""
		for {
			var page api.Approvals
			c.do(http.MethodGet, "/v1/approvals?"+test.query+after, "").into(t, http.StatusOK, &page)
			for _, e := range page.Approvals {
				got = append(got, e.ID)
				if !e.Shortened || len(e.Input) > 0 {
					t.Errorf("the list has an input document: %+v", e)
				}
			}
			if pages++; page.Next == "" {
				break
			}
			after = "&after=" + page.Next
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) || pages != test.pages {
			t.Errorf("%s lists %v in %d pages, want %v in %d", test.query, got, pages, test.want, test.pages)
		}
	}
}

func TestAListsQueryIsStrict(t *testing.T) {
	c := newOffice(t, 1).caller(t, "ana")
	for query, says := range map[string]string{
		"state=open":               "want one of pending, approved",
		"limit=0":                  "want a number from 1 to 500",
		"limit=501":                "want a number from 1 to 500",
		"limit=ten":                "want a number from 1 to 500",
		"page=2":                   "nothing is named so here, want one of after, limit",
		"session=a&session=b":      "is given twice",
		"after=x":                  "want what an earlier answer gave",
		"user=%ff":                 "want at most 1,024 bytes of UTF-8",
		"session=%zz":              "its query cannot be read",
		"session=" + long(t, 1025): "want at most 1,024 bytes",
	} {
		if p := c.do(http.MethodGet, "/v1/approvals?"+query, "").problem(t, http.StatusBadRequest); !strings.Contains(p.Message, says) {
			t.Errorf("%.40s: %s", query, p.Message)
		}
	}
}

func long(t testing.TB, n int) string {
	t.Helper()
	return strings.Repeat("x", n)
}

func TestAPageOfManyPendingIsCheap(t *testing.T) {
	const few, many = 200, 2_000
	o := newOffice(t, 1)
	askMany(t, o, 0, few)
	ofFew := bytesOfAPage(t, o, few)
	askMany(t, o, few, many)
	ofMany := bytesOfAPage(t, o, many)
	t.Logf("a page of %d pending takes %d bytes, of %d %d", few, ofFew, many, ofMany)
	if most := 2 * ofFew; ofMany > most {
		t.Errorf("a page of %d pending took %d bytes, want at most %d", many, ofMany, most)
	}
}

// bytesOfAPage turns all pages of those that are pending, and says how many bytes one allocated, in the mean.
func bytesOfAPage(t *testing.T, o *office, pending int) uint64 {
	t.Helper()
	c := o.caller(t, "ana")
	query := "/v1/approvals?state=pending&limit=100"
	var page api.Approvals
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := 0; n < pending; n += 100 {
		page = api.Approvals{}
		c.do(http.MethodGet, query, "").into(t, http.StatusOK, &page)
		query = "/v1/approvals?state=pending&limit=100&after=" + page.Next
	}
	runtime.ReadMemStats(&after)
	if page.Next != "" || len(page.Approvals) != 100 {
		t.Errorf("the last page has %d and goes on at %q", len(page.Approvals), page.Next)
	}
	return (after.TotalAlloc - before.TotalAlloc) / uint64(pending/100)
}

// askMany asks for commands of these numbers in parallel, so that the book writes many at once.
func askMany(t testing.TB, o *office, from, to int) {
	t.Helper()
	failed := make(chan error, to-from)
	slots := make(chan struct{}, 256)
	for n := from; n < to; n++ {
		slots <- struct{}{}
		go func() {
			_, err := o.Ask(t.Context(), asking("s", fmt.Sprint("rm ", n), "rm"))
			<-slots
			failed <- err
		}()
	}
	for range to - from {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnApprovalIsShownWhole(t *testing.T) {
	o := newOffice(t, 1)
	command := "rm -rf ./build # " + long(t, 2000)
	id := o.ask(t, asking("s1", command, "rm", "./build"))
	for n := range 30 {
		code := n
		e := api.Event{DecisionID: fmt.Sprint("d", n), RequestedBy: "hermes", Timestamp: since,
			Input: rawDocument(`{"tool": "terminal", "args": {"command": "ls ` + long(t, 2000) +
				`"}, "session": {"platform": "telegram", "user_id": "42"}}`),
			Result: bailiff.Denial("command.destroys_system", "No."),
			Custom: api.Custom{Event: api.ExecutionEvent, Session: fmt.Sprint("s", n%2), Status: bailiff.Completed, ExitCode: &code}}
		if err := o.log.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var shown api.ShownApproval
	o.caller(t, "ana").do(http.MethodGet, "/v1/approvals/"+id, "").into(t, http.StatusOK, &shown)
	e := shown.Approval
	if e.ID != id || e.Shortened || e.Request.Args.Command != command || !strings.Contains(string(e.Input), long(t, 2000)) ||
		len(e.Files) != 1 ||
		e.Decision.Env.Forward[0] != "GITHUB_TOKEN" || e.Plan.Timeout != time.Hour || e.Peer != "uid:1001" {
		t.Errorf("shown %+v", e)
	}
	if got := fmt.Sprint(shown.Marks); got != "[{command 0 2 [command.deletes]} {command 7 14 [command.deletes]}]" || shown.MarksCut {
		t.Errorf("the marks are %s", got)
	}
	if len(shown.History) == 0 || len(shown.History) > historyLength {
		t.Fatalf("the history has %d events", len(shown.History))
	}
	h := shown.History[0]
	if h.DecisionID != "d29" && h.Event != api.ApprovalEvent {
		t.Errorf("the newest event is %+v", h)
	}
	for _, h := range shown.History {
		if h.Session != "s1" || len(h.Text) > loggedText {
			t.Errorf("the history has %+v", h)
		}
		if h.Event == api.ExecutionEvent && (h.Outcome != "deny" || h.Rules[0] != "command.destroys_system" || *h.ExitCode%2 != 1 ||
			h.User != "42" || h.Tool != "terminal") {
			t.Errorf("the history has %+v", h)
		}
	}
}

func TestAnswersAreTakenOnceAndFromWhomMayGiveThem(t *testing.T) {
	o := newOffice(t, 2)
	ana, eve, bob, nobody := o.caller(t, "ana"), o.caller(t, "eve"), o.caller(t, "bob"), o.caller(t, "")
	first, second := o.ask(t, asking("s1", "rm x", "rm")), o.ask(t, asking("s1", "rm y", "rm"))
	for _, test := range []struct {
		name   string
		who    caller
		path   string
		body   string
		status int
		code   string
		says   string
	}{
		{"by whom the listener does not know", nobody, first + "/approve", "", 403, "not_eligible", "cannot tell who you are"},
		{"by whom asked for it", bob, first + "/approve", "", 403, "not_eligible", "Bob asked for it; ana or eve can answer."},
		{"of what was never asked", ana, "a-none/approve", "", 404, "approval_unknown", "no approval a-none"},
		{"with a scope that is not offered", ana, first + "/approve", `{"scope": "always"}`, 422, "scope_not_offered", "once, session"},
		{"with a name that is unknown", ana, first + "/approve", `{"scop": "once"}`, 400, codeRequest, `nothing is named "scop"`},
		{"with a name of the other answer", ana, first + "/approve", `{"reason": "fine"}`, 400, codeRequest, `nothing is named "reason"`},
		{"with a name that is given twice", ana, first + "/approve", `{"scope": "once", "scope": "session"}`, 400, codeJSON, "given twice"},
		{"with a list", ana, first + "/deny", `[]`, 400, codeRequest, "want an object"},
		{"with nothing", ana, first + "/approve", `null`, 400, codeRequest, "want an object"},
		{"with too long a reason", ana, first + "/deny", `{"reason": "` + long(t, 1001) + `"}`, 400, codeRequest,
			"longer than 1,000 characters"},
		{"by the digest of another one", ana, first + "/approve", `{"digest": "x"}`, 409, "other_digest", "is not what was shown"},
		{"yes", ana, first + "/approve", `{"scope": "session"}`, 200, "", ""},
		{"yes again", ana, first + "/approve", "", 409, "already_voted", "ana has answered"},
		{"no after yes", ana, first + "/deny", "", 409, "already_voted", "ana has answered"},
		{"the other yes", eve, first + "/approve", `{}`, 200, "", ""},
		{"too late", eve, first + "/deny", "", 409, "already_settled", "is approved since"},
		{"no", eve, second + "/deny", `{"reason": "not on a friday"}`, 200, "", ""},
		{"yes after no", ana, second + "/approve", "", 409, "already_settled", "not on a friday"},
	} {
		a := test.who.post("/v1/approvals/"+test.path, test.body)
		if test.code == "" {
			var e api.Entry
			a.into(t, test.status, &e)
			continue
		}
		if p := a.problem(t, test.status); p.Code != test.code || !strings.Contains(strings.ToLower(p.Message),
			strings.ToLower(test.says)) || !strings.HasSuffix(p.Message, ".") {
			t.Errorf("%s: %+v", test.name, p)
		}
	}
	e, _ := o.Get(first)
	if e.State != bailiff.ApprovalApproved || e.Scope != bailiff.ScopeOnce || len(e.Votes) != 2 || e.Votes[1].Channel != "operator" {
		t.Errorf("it is %+v", e)
	}
}

func TestGrantsAreListedAndRevoked(t *testing.T) {
	o := newOffice(t, 1)
	c := o.caller(t, "ana")
	id := o.ask(t, asking("s1", "rm x", "rm"))
	var e api.Entry
	c.post("/v1/approvals/"+id+"/approve", `{"scope": "session"}`).into(t, http.StatusOK, &e)
	var list api.Grants
	c.do(http.MethodGet, "/v1/grants", "").into(t, http.StatusOK, &list)
	if len(list.Grants) != 1 || list.Grants[0].ID != e.GrantID || list.Grants[0].Pairs[0].Match != "rm" {
		t.Fatalf("the grants are %+v", list)
	}
	if p := o.caller(t, "").do(http.MethodDelete, "/v1/grants/"+e.GrantID, "").problem(t, http.StatusForbidden); p.Code != "not_eligible" {
		t.Errorf("a stranger's answer is %+v", p)
	}
	var g api.Grant
	c.do(http.MethodDelete, "/v1/grants/"+e.GrantID, "").into(t, http.StatusOK, &g)
	if p := c.do(http.MethodDelete, "/v1/grants/"+e.GrantID, "").problem(t, http.StatusNotFound); g.ID != e.GrantID ||
		p.Code != "grant_unknown" {
		t.Errorf("revoked %+v, then %+v", g, p)
	}
}

func TestWhatIsFrozenIsThawedByTheSameName(t *testing.T) {
	o := newOffice(t, 1)
	c := o.caller(t, "ana")
	id := o.ask(t, asking("s1", "rm x", "rm"))
	var f api.Freeze
	c.post("/v1/freeze", `{"kind": "user", "id": "telegram:42", "reason": "odd"}`).into(t, http.StatusOK, &f)
	if e, _ := o.Get(id); f.By != "ana" || f.Reason != "odd" || e.State != bailiff.ApprovalCancelled {
		t.Errorf("frozen %+v, and the approval is %s", f, e.State)
	}
	var list api.Freezes
	c.do(http.MethodGet, "/v1/freeze", "").into(t, http.StatusOK, &list)
	if len(list.Freezes) != 1 || !reflect.DeepEqual(list.Freezes[0], f) {
		t.Errorf("frozen is %+v", list)
	}
	c.do(http.MethodDelete, "/v1/freeze", `{"kind": "user", "id": "42"}`).problem(t, http.StatusNotFound)
	if a := c.do(http.MethodDelete, "/v1/freeze", `{"kind": "user", "id": "telegram:42"}`); a.status != http.StatusNoContent {
		t.Errorf("thawing: %d %s", a.status, a.body)
	}
	if got := o.Freezes(); len(got) > 0 {
		t.Errorf("frozen is still %+v", got)
	}
}

func TestAFreezeSaysWhat(t *testing.T) {
	c := newOffice(t, 1).caller(t, "ana")
	for _, test := range []struct{ name, method, body, says string }{
		{"nothing", "POST", ``, `/kind: want "session", "user" or "all"`},
		{"another kind", "POST", `{"kind": "chat", "id": "7"}`, `/kind: want "session"`},
		{"a session without a name", "POST", `{"kind": "session"}`, "/id: is missing: say which session"},
		{"all with a name", "POST", `{"kind": "all", "id": "s1"}`, "all has none"},
		{"a name too long", "DELETE", `{"kind": "session", "id": "` + long(t, 1025) + `"}`, "longer than 1,024 bytes"},
		{"a reason too long", "POST", `{"kind": "all", "reason": "` + long(t, 1001) + `"}`, "longer than 1,000"},
		{"a thaw with a reason", "DELETE", `{"kind": "all", "reason": "fine"}`, "belongs to a freeze"},
		{"an unknown name", "POST", `{"kind": "all", "force": true}`, `nothing is named "force"`},
	} {
		if p := c.do(test.method, "/v1/freeze", test.body).problem(t, http.StatusBadRequest); !strings.Contains(p.Message, test.says) {
			t.Errorf("%s: %s", test.name, p.Message)
		}
	}
	for _, method := range []string{"POST", "DELETE"} {
		newOffice(t, 1).caller(t, "").do(method, "/v1/freeze", `{"kind": "all"}`).problem(t, http.StatusForbidden)
	}
}

func TestRecentDecisionsAreToldInShort(t *testing.T) {
	o := newOffice(t, 1)
	for _, session := range []string{"s1", "s2", "s1"} {
		if err := o.log.Record(t.Context(), api.Event{DecisionID: "d-" + session, Custom: api.Custom{Event: api.DecisionEvent,
			Session: session}}); err != nil {
			t.Fatal(err)
		}
	}
	c := o.caller(t, "ana")
	for query, want := range map[string]int{"": 3, "?session=s1": 2, "?limit=1": 1, "?session=s3": 0} {
		var list api.Decisions
		c.do(http.MethodGet, "/v1/decisions"+query, "").into(t, http.StatusOK, &list)
		if len(list.Decisions) != want {
			t.Errorf("%s: %+v", query, list)
		}
	}
}

func TestAtTheSocketThePeerAnswers(t *testing.T) {
	o := newOffice(t, 1)
	id := o.ask(t, asking("s1", "rm x", "rm"))
	config := o.config(&sidecar{}, "")
	config.Who = ByPeer(func(uid uint32, channel string) bailiff.Approver {
		return bailiff.Approver{Person: "ana", Credential: fmt.Sprint("uid:", uid), Channel: channel}
	})
	h, err := NewOperator(config)
	if err != nil {
		t.Fatal(err)
	}
	tcp := open(t, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Login: true}, h)
	if p := callerOf(t, tcp).post("/v1/approvals/"+id+"/approve", "").problem(t, http.StatusForbidden); p.Code != "not_eligible" {
		t.Errorf("by TCP: %+v", p)
	}
	var e api.Entry
	callerOf(t, open(t, ListenerConfig{}, h)).post("/v1/approvals/"+id+"/approve", "").into(t, http.StatusOK, &e)
	if v := e.Votes[0]; v.Person != "ana" || v.Credential != fmt.Sprint("uid:", os.Geteuid()) || v.Channel != "operator" {
		t.Errorf("the vote is %+v", v)
	}
}

func TestLinksToTheConsoleAreGivenWhereThereIsOne(t *testing.T) {
	o := newOffice(t, 1)
	var link api.ConsoleLink
	o.caller(t, "ana").post("/v1/console/links", "").into(t, http.StatusOK, &link)
	if link.URL != "http://127.0.0.1:8642/#once" || link.ExpiresAt.IsZero() {
		t.Errorf("the link is %+v", link)
	}
	o.caller(t, "").post("/v1/console/links", "").problem(t, http.StatusForbidden)
	config := o.config(&sidecar{}, "ana")
	config.Link = nil
	h, err := NewOperator(config)
	if err != nil {
		t.Fatal(err)
	}
	callerOf(t, open(t, ListenerConfig{}, h)).post("/v1/console/links", "").problem(t, http.StatusNotFound)
}

func TestBreakGlassIsForWhomMayAndForAReason(t *testing.T) {
	o := newOffice(t, 1)
	whole := `{"request": ` + telegramRequest + `, "reason": "The disk is full."}`
	var a api.Answer
	o.caller(t, "ana").post("/v1/break-glass", whole).into(t, http.StatusOK, &a)
	if a.Output != "The disk is full." {
		t.Errorf("answered %+v", a)
	}
	o.caller(t, "bob").post("/v1/break-glass", whole).problem(t, http.StatusForbidden)
	o.caller(t, "").post("/v1/break-glass", whole).problem(t, http.StatusForbidden)
	for _, body := range []string{"", `{"request": ` + telegramRequest + `, "reason": " "}`, `{"reason": "x"}`,
		`{"request": {"tool": "browser"}, "reason": "x"}`} {
		o.caller(t, "ana").post("/v1/break-glass", body).problem(t, http.StatusBadRequest)
	}
}

func TestNoNumberOfSecondsWrapsAround(t *testing.T) {
	t.Parallel()
	for wish, want := range map[int]time.Duration{
		0: 0, 90: 90 * time.Second, -1: -time.Second, math.MinInt: -time.Second, -(1 << 55): -time.Second, // a multiple of 2^64 ns
		1 << 55: math.MaxInt32 * time.Second, math.MaxInt: math.MaxInt32 * time.Second,
	} {
		if is := seconds(wish); is != want {
			t.Errorf("%d seconds are %s, want %s", wish, is, want)
		}
	}
}
