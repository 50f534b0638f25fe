package pdp

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
)

// rejudged judges by the input document that a judgement leaves in the log.
func rejudged(t *testing.T, p *PDP, req bailiff.Request) (was, now bailiff.Decision) {
	t.Helper()
	j := p.Decide(context.Background(), req, ready)
	text, err := j.Input.MarshalJSON()
	must(t, err)
	now, err = p.Rejudge(context.Background(), text)
	must(t, err)
	return j.Decision, now
}

func TestALoggedInputIsJudgedAsItsRequestWas(t *testing.T) {
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute})
	must(t, err)
	for _, args := range []struct {
		tool bailiff.Tool
		bailiff.Args
	}{
		{bailiff.Terminal, bailiff.Args{Command: "git push\x00\xff"}},
		{bailiff.Terminal, bailiff.Args{Command: "rm -rf /"}},
		{bailiff.ExecuteCode, bailiff.Args{Code: "import os\nos.system('rm -rf /')"}},
		{bailiff.Process, bailiff.Args{Action: "submit", ProcessID: "p", Command: "bash", Data: "reboot"}},
		{bailiff.Call, bailiff.Args{Name: "web_search", Arguments: `{"q": 1}`}},
	} {
		req := listing
		req.Tool, req.Args, req.Env = args.tool, args.Args, []string{"GITHUB_TOKEN"}
		was, now := rejudged(t, p, req)
		if !reflect.DeepEqual(was, now) {
			t.Errorf("%s %+v is %+v, was %+v", req.Tool, req.Args, now, was)
		}
	}
}

func TestALoggedInputIsJudgedByThePoliciesThatCannotDecideAsADenial(t *testing.T) {
	was, now := rejudged(t, opened(t, deciding(`{"outcome": "perhaps"}`)), listing)
	if !reflect.DeepEqual(was, now) || now.Outcome != bailiff.Deny || now.Denials[0].Rule != "policy.invalid" {
		t.Errorf("is %+v, was %+v", now, was)
	}
}

func TestWhatIsNoInputDocumentIsNotJudged(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing})
	for input, want := range map[string]string{
		"{": "reading an input document", "[]": "it is no object", "{}": "/time is missing", `{"time": "noon"}`: "/time: parsing time",
		`{"time": "2026-11-21T12:00:00Z"}`: "/backend/available is missing",
	} {
		d, err := p.Rejudge(context.Background(), []byte(input))
		if err == nil || !strings.Contains(err.Error(), want) || d.Outcome != bailiff.Deny {
			t.Errorf("%s: the error is %v, want it to say %q", input, err, want)
		}
	}
}

func TestPoliciesAreTriedWhoeverMayWriteThem(t *testing.T) {
	folder := tree(t, map[string]string{"p.rego": allowing})
	must(t, os.Chmod(filepath.Join(folder, "p.rego"), 0o666))
	if _, err := Try(context.Background(), Config{Paths: []string{folder}}); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(folder, "q.rego"), "package bailiff\n\nmore := input.sesion\n")
	if _, err := Try(context.Background(), Config{Paths: []string{folder}}); err == nil || !strings.Contains(err.Error(), "q.rego:3") {
		t.Errorf("the error is %v, want the place of the misspelt name", err)
	}
}

func TestWhatPoliciesDoNotLookAtIsNotJudgedTwice(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": strings.Replace(allowing, "limits :=", "default limits :=", 1) + `
limits := {"timeout_seconds": 7, "output_bytes": 1} if {
	input.session.user_id == "7"
	other
}

other := input.env
`})
	again := func(change func(*bailiff.Request, *bailiff.Circumstances)) bailiff.Decision {
		req, at := listing, ready
		change(&req, &at)
		text, err := p.Decide(context.Background(), req, at).Input.MarshalJSON()
		must(t, err)
		d, err := p.Rejudge(context.Background(), text)
		must(t, err)
		return d
	}
	isKnown := func(change func(*bailiff.Request, *bailiff.Circumstances)) bool {
		req, at, documents := listing, ready, p.inForce.Load().documents
		change(&req, &at)
		_, known := documents.Recall(documents.Key(document.NewJSON(inputOf(req, at, ""))))
		return known
	}
	again(func(*bailiff.Request, *bailiff.Circumstances) {})
	for name, change := range map[string]func(*bailiff.Request, *bailiff.Circumstances){
		"nothing":     func(*bailiff.Request, *bailiff.Circumstances) {},
		"the time":    func(_ *bailiff.Request, at *bailiff.Circumstances) { at.Time = at.Time.Add(time.Hour) },
		"the session": func(r *bailiff.Request, _ *bailiff.Circumstances) { r.Session.ID = "other" },
		"the text":    func(r *bailiff.Request, _ *bailiff.Circumstances) { r.Args.Command = "true" },
	} {
		if !isKnown(change) {
			t.Errorf("%s: want it taken for the same", name)
		}
	}
	for name, change := range map[string]func(*bailiff.Request, *bailiff.Circumstances){
		"a name in a part": func(r *bailiff.Request, _ *bailiff.Circumstances) { r.Session.UserID = "7" },
		"a whole part":     func(r *bailiff.Request, _ *bailiff.Circumstances) { r.Env = []string{"A"} },
		"the backends": func(_ *bailiff.Request, at *bailiff.Circumstances) {
			at.Backends = map[string]bailiff.BackendState{"local": {}}
		},
	} {
		known := isKnown(change)
		d := again(change)
		switch {
		case name == "the backends" && (d.Outcome != bailiff.Deny || isKnown(change)):
			t.Errorf("a backend that was not there is %v", d)
		case known || name != "the backends" && !isKnown(change):
			t.Errorf("%s: was taken for something that was judged", name)
		case name == "a name in a part" && d.Limits.TimeoutSeconds != 7:
			t.Errorf("the limits are %v", d.Limits)
		}
	}
}
