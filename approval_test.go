package bailiff

import (
	"reflect"
	"strings"
	"testing"
)

func claim(change func(*Claim)) Claim {
	c := Claim{
		Request: Request{Tool: Terminal, Args: Args{Command: "rm -r build"}, Caller: "hermes",
			Session: Session{ID: "s1", Platform: "telegram", UserID: "42", UserName: "Ana"}},
		Decision: Decision{Outcome: Ask, Approval: &ApprovalTerms{Reasons: []Reason{{Rule: "command.deletes_recursively", Match: "build"}}},
			Obligations: Obligations{Backend: BackendTerms{Name: "docker", Network: "none"}, Env: EnvTerms{Forward: []string{"A", "B"}}}},
		Files:  []File{{Path: "a.sh", SHA256: "01"}, {Path: "b.sh", SHA256: "02"}},
		Ground: Ground{Folder: "1:2", Links: []Link{{Path: "/w/cur", Targets: []string{"/w/build"}}}},
		Plain:  true,
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestAnApprovalIsBoundToWhatWillRunAndToNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Claim)
		drift  string // empty means that the approval still holds
	}{
		"nothing":                     {func(*Claim) {}, ""},
		"another request id":          {func(c *Claim) { c.Request.ID = "r2" }, ""},
		"a longer wait":               {func(c *Claim) { c.Request.WaitSeconds = 9 }, ""},
		"another display name":        {func(c *Claim) { c.Request.Session.UserName = "ANA" }, ""},
		"another decision id":         {func(c *Claim) { c.DecisionID = "d2" }, ""},
		"another revision":            {func(c *Claim) { c.Decision.Revision = "r2" }, ""},
		"variables in another order":  {func(c *Claim) { c.Decision.Env.Forward = []string{"B", "A"} }, ""},
		"files in another order":      {func(c *Claim) { c.Files[0], c.Files[1] = c.Files[1], c.Files[0] }, ""},
		"another word for the reason": {func(c *Claim) { c.Decision.Approval.Reasons[0].Message = "x" }, ""},
		"another argument":            {func(c *Claim) { c.Request.Args.Command = "rm -r ~/project" }, "the arguments"},
		"other input":                 {func(c *Claim) { c.Request.Args.Stdin = "y" }, "the arguments"},
		"another folder":              {func(c *Claim) { c.Request.Args.Workdir = "/" }, "the arguments, the reasons for asking"},
		"another tool":                {func(c *Claim) { c.Request.Tool = ExecuteCode }, "the tool"},
		"another caller":              {func(c *Claim) { c.Request.Caller = "codex" }, "the caller"},
		"another user of the machine": {func(c *Claim) { c.Request.Peer = "uid:1002" }, "the user that the caller runs as"},
		"another session":             {func(c *Claim) { c.Request.Session.ID = "s2" }, "the session"},
		"another user":                {func(c *Claim) { c.Request.Session.UserID = "43" }, "the session"},
		"one variable more":           {func(c *Claim) { c.Decision.Env.Forward = []string{"A", "B", "C"} }, "the forwarded variables"},
		"a changed file":              {func(c *Claim) { c.Files[1].SHA256 = "03" }, "a file that the command runs"},
		"a file more":                 {func(c *Claim) { c.Files = append(c.Files, File{Path: "c.sh"}) }, "a file that the command runs"},
		"a link more": {func(c *Claim) {
			c.Ground.Links = append(c.Ground.Links, Link{Path: "/w/build", Targets: []string{"/other"}})
		},
			"what a path of the command leads to, the reasons for asking"},
		"a link that leads elsewhere": {func(c *Claim) { c.Ground.Links = []Link{{Path: "/w/cur", Targets: []string{"/other"}}} },
			"what a path of the command leads to, the reasons for asking"},
		"another folder in its place": {func(c *Claim) { c.Ground.Folder = "1:3" }, "the working folder, the reasons for asking"},
		"another backend":             {func(c *Claim) { c.Decision.Backend.Name = "local" }, "the backend or its terms"},
		"another image":               {func(c *Claim) { c.Decision.Backend.Image = "x@sha256:1" }, "the backend or its terms"},
		"a wider network":             {func(c *Claim) { c.Decision.Backend.Network = "full" }, "the backend or its terms"},
		"a constant": {func(c *Claim) { c.Decision.Env.Set = map[string]string{"CI": "1"} },
			"the variables that the policies set"},
		"a sealed variable":           {func(c *Claim) { c.Decision.Env.Sealed = []string{"A"} }, "the sealed variables"},
		"a longer time limit":         {func(c *Claim) { c.Decision.Limits.TimeoutSeconds = 9 }, "the limits"},
		"a tool more for its scripts": {func(c *Claim) { c.Decision.Tools = []string{"terminal"} }, "the tools that a script may call"},
		"one reason more": {func(c *Claim) {
			c.Decision.Approval.Reasons = append(c.Decision.Approval.Reasons, Reason{Rule: "command.sudo"})
		}, "the reasons for asking"},
		"another match": {func(c *Claim) { c.Decision.Approval.Reasons[0].Match = "~/project" }, "the reasons for asking"},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := claim(nil), claim(c.change)
			if got := is.Drift(was); got != c.drift {
				t.Errorf("drift is %q, want %q", got, c.drift)
			}
			if same := is.Digest() == was.Digest(); same != (c.drift == "") {
				t.Errorf("one digest: %t, with drift %q", same, c.drift)
			}
		})
	}
}

// A field that is bound must have a word, or its drift would go untold.
func TestEveryBoundFieldHasAWordForItsDrift(t *testing.T) {
	fields := reflect.TypeFor[bound]()
	for i := range fields.NumField() {
		if name := fields.Field(i).Name; strings.TrimSpace(driftWords[name]) == "" {
			t.Errorf("no word for a drift of %s", name)
		}
	}
}

func TestPairsAreSortedAndEachOnce(t *testing.T) {
	c := claim(func(c *Claim) {
		c.Ground = Ground{}
		c.Decision.Approval.Reasons = []Reason{{Rule: "b", Match: "2"}, {Rule: "a", Match: "1"}, {Rule: "b", Match: "2"},
			{Rule: "b", Match: "1"}}
	})
	if got, want := c.Pairs(), []Pair{{"a", "1", ""}, {"b", "1", ""}, {"b", "2", ""}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAMatchHoldsForItsFolderOrItsTextOnly(t *testing.T) {
	plain, behind := claim(nil), Link{Path: "/w/build", Targets: []string{"/other"}}
	for name, c := range map[string]struct {
		change func(*Claim)
		same   bool
	}{
		"the same again":       {func(*Claim) {}, true},
		"more of a plain text": {func(c *Claim) { c.Request.Args.Command = "ls; rm -r build" }, true},
		"in another folder":    {func(c *Claim) { c.Request.Args.Workdir = "/home/ana" }, false},
		"in a text that is not plain": {func(c *Claim) { c.Plain, c.Request.Args.Command = false, "cd /home/ana && rm -r build" },
			false},
		"in another one of that name":    {func(c *Claim) { c.Ground.Folder = "1:3" }, false},
		"behind a link":                  {func(c *Claim) { c.Ground.Links = []Link{behind} }, false},
		"named as such a text's context": {func(c *Claim) { c.Request.Args.Workdir = "text 0123" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if same := reflect.DeepEqual(claim(c.change).Pairs(), plain.Pairs()); same != c.same {
				t.Errorf("the pairs are the same: %t, want %t", same, c.same)
			}
		})
	}
	one, other := claim(func(c *Claim) { c.Plain = false }),
		claim(func(c *Claim) { c.Plain, c.Request.Args.Command = false, "cd c && rm -r build" })
	if reflect.DeepEqual(one.Pairs(), other.Pairs()) || !reflect.DeepEqual(one.Pairs(), one.Pairs()) {
		t.Error("texts that are not plain share their pairs")
	}
}
