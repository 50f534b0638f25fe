package pdp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp/answers"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
)

// asked is all that a judgement can depend on besides the policies.
type asked struct {
	Request bailiff.Request
	At      bailiff.Circumstances
}

func (a asked) judged(p *PDP) bailiff.Judgement {
	return p.Decide(context.Background(), a.Request, a.At)
}

func recalled(j bailiff.Judgement) bool {
	_, yes := j.Timers["timer_bailiff_recall_ns"]
	return yes
}

func openShipped(t testing.TB) *PDP {
	t.Helper()
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute, Home: "/home/ana"})
	must(t, err)
	return p
}

func TestTheSameRequestIsRememberedWithItsJudgement(t *testing.T) {
	p := openShipped(t)
	later := ready
	later.Time = ready.Time.Add(time.Hour + time.Nanosecond)
	for name, req := range map[string]bailiff.Request{
		"allowed": listing,
		"denied":  {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -rf /"}, Session: listing.Session},
		"a program": {Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "import os\nos.system('ls')"}, Session: listing.Session,
			Env: []string{"A"}},
		"a script": {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "sh ./deploy.sh"}, Session: listing.Session},
		"hostile bytes": {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "echo '\xff\"\\\n,\"time\":\"x\"'"},
			Session: listing.Session},
		"a host":            {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "curl https://a.test"}, Session: listing.Session},
		"unknown platforms": {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "ls"}},
	} {
		t.Run(name, func(t *testing.T) {
			first, again := p.Decide(context.Background(), req, ready), p.Decide(context.Background(), req, later)
			if first.Fault != nil || recalled(first) || !recalled(again) {
				t.Fatalf("timers are %v, then %v: want the second request recalled (%v)", first.Timers, again.Timers, first.Fault)
			}
			if !reflect.DeepEqual(first.Decision, again.Decision) || !slices.Equal(first.Files, again.Files) ||
				!slices.Equal(first.Paths, again.Paths) || !slices.Equal(first.Implied, again.Implied) ||
				first.AllPaths != again.AllPaths || first.Plain != again.Plain ||
				first.Reaches != again.Reaches || first.Reaches != (name == "a host") {
				t.Errorf("decided %+v of files %v, plain %v\nthen %+v of files %v, plain %v", first.Decision, first.Files, first.Plain,
					again.Decision, again.Files, again.Plain)
			}
			wantInput(t, first, inputOf(req, ready, "/home/ana"))
			wantInput(t, again, inputOf(req, later, "/home/ana"))
		})
	}
}

// wantInput says that the log would show this input document.
func wantInput(t *testing.T, j bailiff.Judgement, want ast.Object) {
	t.Helper()
	if got, want := asJSON(t, j.Input), asJSON(t, document.NewJSON(want)); got != want {
		t.Errorf("the input reads\n%s\nwant\n%s", got, want)
	}
}

// immaterial is what a judgement does not depend on; any other field does.
var immaterial = map[string]bool{"Request.ID": true, "Request.WaitSeconds": true, "Request.Folder": true, "At.Time": true,
	"Request.Within":     true, // budgets alone are about it
	"At.Contents[].Text": true, // it has its digest
	"At.Ground.Host":     true, // policies do not see it
	"At.Ground.Folder":   true, "At.Ground.Settings": true, "At.Ground.Settings[].Path": true, "At.Ground.Settings[].SHA256": true}

func TestWhateverChangesIsJudgedAnew(t *testing.T) {
	p := openShipped(t)
	base := asked{listing, ready}
	base.At.Files = []bailiff.File{{Path: "/workspace/a.sh"}}
	base.At.Contents = []bailiff.Content{{File: bailiff.File{Path: "/workspace/a.sh", SHA256: "b1"}, Kind: bailiff.ContentText, Text: "ls"}}
	base.At.Ground = bailiff.Ground{Links: []bailiff.Link{{Path: "/workspace/l", Targets: []string{"/etc"}}},
		Settings: []bailiff.File{{Path: "/workspace/.git/config"}}, Unknown: []bailiff.File{{Path: "/workspace/t", SHA256: "c1"}}}
	base.judged(p)
	all := changes(reflect.TypeFor[asked](), "", nil)
	if len(all) < 25 {
		t.Fatalf("%d fields were found", len(all))
	}
	for name, change := range all {
		one := base
		change(reflect.ValueOf(&one).Elem())
		if j := one.judged(p); recalled(j) != immaterial[name] {
			t.Errorf("with another %s the judgement is recalled: %v, want %v", name, recalled(j), immaterial[name])
		}
	}
}

func TestARequestThatIsAlikeToThePoliciesIsDecidedAsIfItWasTheFirst(t *testing.T) {
	p := openShipped(t)
	s := p.inForce.Load()
	base := asked{listing, ready}
	base.Request.Env, base.Request.Backend = []string{"GITHUB_TOKEN"}, "docker"
	base.At.Files = []bailiff.File{{Path: "/workspace/a.sh"}}
	base.At.Contents = []bailiff.Content{{File: bailiff.File{Path: "/workspace/a.sh", SHA256: "b1"}, Kind: bailiff.ContentText, Text: "ls"}}
	base.At.Ground = bailiff.Ground{Links: []bailiff.Link{{Path: "/workspace/l", Targets: []string{"/etc"}}},
		Settings: []bailiff.File{{Path: "/workspace/.git/config"}}, Unknown: []bailiff.File{{Path: "/workspace/t", SHA256: "c1"}}}
	base.judged(p)
	alike := 0
	for name, change := range changes(reflect.TypeFor[asked](), "", nil) {
		one := base
		change(reflect.ValueOf(&one).Elem())
		j := one.judged(p)
		input := p.facts(one.Request, one.At, "").Document(one.Request, one.At)
		answer, err := evaluation.Run(t.Context(), s.decision, input, one.At.Time, time.Minute)
		want, fault := answers.Decision(answer, err, one.At.Backends)
		want.Revision = s.revision
		if (j.Fault == nil) != (fault == nil) || !reflect.DeepEqual(j.Decision, want) {
			t.Errorf("with another %s it is decided %+v, want %+v", name, j.Decision, want)
		}
		if j.Timers["timer_bailiff_alike_ns"] > 0 {
			alike++
		}
	}
	if alike < 5 {
		t.Errorf("%d requests were alike, want all that differ in what no policy reads", alike)
	}
}

// changes are those of every field below a type, by its name.
func changes(in reflect.Type, name string, path []int) map[string]func(reflect.Value) {
	all := map[string]func(reflect.Value){}
	for i := range in.NumField() {
		field := in.Field(i)
		here, at := strings.TrimPrefix(name+"."+field.Name, "."), append(path[:len(path):len(path)], i)
		if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[time.Time]() {
			maps.Copy(all, changes(field.Type, here, at))
			continue
		}
		all[here] = func(v reflect.Value) { alter(v.FieldByIndex(at)) }
		for part, change := range changesWithin(field.Type) {
			all[here+part] = func(v reflect.Value) { change(v.FieldByIndex(at)) }
		}
	}
	return all
}

// changesWithin are those of every field of what a list or a map holds.
func changesWithin(many reflect.Type) map[string]func(reflect.Value) {
	all := map[string]func(reflect.Value){}
	if kind := many.Kind(); kind != reflect.Slice && kind != reflect.Map || many.Elem().Kind() != reflect.Struct {
		return all
	}
	for name, change := range changes(many.Elem(), "", nil) {
		all["[]."+name] = func(v reflect.Value) {
			one := reflect.New(many.Elem()).Elem()
			if many.Kind() == reflect.Slice {
				one.Set(v.Index(0))
				change(one)
				v.Set(reflect.Append(reflect.MakeSlice(many, 0, 1), one))
				return
			}
			key, same := v.MapKeys()[0], reflect.MakeMap(many)
			one.Set(v.MapIndex(key))
			change(one)
			same.SetMapIndex(key, one)
			v.Set(same)
		}
	}
	return all
}

// alter gives a value another one.
func alter(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.New(v.Type().Elem()).Elem()))
	case reflect.Map:
		more := reflect.MakeMap(v.Type())
		more.SetMapIndex(reflect.ValueOf("another"), reflect.New(v.Type().Elem()).Elem())
		v.Set(more)
	case reflect.Pointer: // to a history, or to what was used of budgets
		if _, isHistory := v.Interface().(*bailiff.SessionHistory); isHistory {
			v.Set(reflect.ValueOf(&bailiff.SessionHistory{Denials: bailiff.DenialCount{InARow: 3, Total: 3}}))
			return
		}
		v.Set(reflect.ValueOf(&bailiff.Spent{Used: map[string]map[string]int{"user": {"few": 1}}}))
	case reflect.Struct: // a time, and a later one of the same day
		v.Set(reflect.ValueOf(v.Interface().(time.Time).Add(time.Second)))
	default:
		panic("no change is known for a " + v.Type().String())
	}
}

func TestOnlyTimeIndependentPoliciesAreRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		more       string
		remembered bool
	}{
		"fixed names":                    {`x if input.session.platform == "telegram"`, true},
		"a fixed name in brackets":       {`x if input["session"].platform`, true},
		"a variable further down":        {"x if {\n\tsome k\n\tinput.session[k] == \"time\"\n}", true},
		"a part as a whole":              {"x if walk(input.session, [_, \"time\"])", true},
		"an alias of a part":             {"import input.session as s\n\nx if s.platform", true},
		"parts of a given time":          {`x if time.weekday(1) == "Monday"`, true},
		"a part that is replaced":        {"y if input.tool\n\nx if y with input.tool as \"a\"", true},
		"another document's time":        {`x if data.some.input.time`, true},
		"the time":                       {`x if input.time > "2026"`, false},
		"the time in brackets":           {`x if input["time"] > "2026"`, false},
		"an alias of the time":           {"import input.time as t\n\nx if t > \"2026\"", false},
		"the time in a rule's head":      {`x[input.time] := 1`, false},
		"the time in a rule's long head": {`x[input.tool][input.time] := 1`, false},
		"the time as a result":           {`x := input.time`, false},
		"the time in an else":            {"x := 1 if {\n\tinput.tool == \"call\"\n} else := input.time", false},
		"the time as a step":             {`x := data.days[input.time]`, false},
		"the time below a part":          {`x := input.session[input.time]`, false},
		"the time in a comprehension":    {`x := {t | t := input.time}`, false},
		"the time in every":              {"x if {\n\tevery c in [1] {\n\t\tinput.time != c\n\t}\n}", false},
		"the time in a text":             {"x := $\"at {input.time}\"", false},
		"the time in a replacement":      {"y if input.tool\n\nx if y with input.tool as input.time", false},
		"a name that is not fixed":       {"x if {\n\tsome k\n\tinput[k] == \"2026\"\n}", false},
		"a name that is computed":        {`x := input[concat("", ["ti", "me"])]`, false},
		"everything":                     {`x := input`, false},
		"an alias of everything":         {"import input as i\n\nx if i.tool", true},
		"everything as an argument":      {`x := object.get(input, "time", "")`, false},
		"everything in an array":         {`x := [input]`, false},
		"everything, key by key":         {"x if {\n\tsome _, v in input\n\tv == \"a\"\n}", false},
		"everything replaced":            {"y if input.tool\n\nx if y with input as {}", false},
		"the clock":                      {`x if time.now_ns() > 1`, false},
		"the clock, deep inside":         {`x := {a | some a in [time.clock([time.now_ns(), "UTC"])[0]]}`, false},
		"the clock as a replacement": {"y if time.parse_duration_ns(\"1s\")\n\nf(_) := time.now_ns()\n\nx if y with " +
			"time.parse_duration_ns as f", false},
		"chance":                {`x := rand.intn("a", 5)`, false},
		"an identifier":         {`x := uuid.rfc4122("a")`, false},
		"a token's dates":       {`x := io.jwt.decode_verify("a", {"secret": "b"})`, false},
		"a certificate's dates": {`x := crypto.x509.parse_and_verify_certificates("a")`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, map[string]string{"p.rego": allowing + dependsOnMore, "more.rego": "package more\n\n" + c.more + "\n"})
			judged(p)
			if got := recalled(judged(p)); got != c.remembered {
				t.Errorf("remembered: %v, want %v", got, c.remembered)
			}
		})
	}
}

// dependsOnMore has the decision of allowing depend on package more, and on all of that
// however it is reached, without ever being another one.
const dependsOnMore = `
limits := {} if {
	input.tool == "call"
	data.more
}
`

func TestWhatTheDecisionDoesNotDependOnCostsNoMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files      map[string]string
		remembered bool
	}{
		"a mask that reads the whole event": {map[string]string{"p.rego": allowing,
			"mask.rego": "package system.log\n\nmask := [\"/input\"] if input != {}\n"}, true},
		"a mask that looks at the clock": {map[string]string{"p.rego": allowing,
			"mask.rego": "package system.log\n\nmask := [\"/input\"] if time.now_ns() > input.time\n"}, true},
		"a document that only clients ask for": {map[string]string{"p.rego": allowing,
			"agent.rego": "package agent\n\nanswer := input if data.bailiff.decision.outcome == \"allow\"\n"}, true},
		"a decision that asks the mask": {map[string]string{"p.rego": allowing + "\nlimits := {} if count(data.system.log.mask) > 1\n",
			"mask.rego": "package system.log\n\nmask := [\"/input\"] if input != {}\n"}, false},
		"a decision that asks a package by a name it computes": {map[string]string{"p.rego": allowing +
			"\nlimits := {} if count(data.a[input.tool].t) > 1\n",
			"a.rego": "package a.b\n\nt := [input]\n"}, false},
		"a decision through an else of a function": {map[string]string{"p.rego": allowing + "\nlimits := {} if data.a.f(1)\n",
			"a.rego": "package a\n\nf(x) if x == 2\nelse := now if input.tool == \"call\"\n\nnow := time.now_ns()\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, c.files)
			judged(p)
			if j := judged(p); recalled(j) != c.remembered || j.Fault != nil {
				t.Errorf("remembered: %v, want %v (%v)", recalled(j), c.remembered, j.Fault)
			}
		})
	}
}

func TestAReloadForgets(t *testing.T) {
	root := tree(t, map[string]string{"p.rego": timed(5)})
	p, told := watched(t, Config{Paths: []string{root}})
	judged(p)
	if j := judged(p); !recalled(j) || j.Decision.Limits.TimeoutSeconds != 5 {
		t.Fatalf("got %+v, want it recalled", j)
	}
	before := p.Revision()
	write(t, filepath.Join(root, "p.rego"), timed(7))
	for p.Revision() == before {
		told.await(t)
	}
	if j := judged(p); recalled(j) || j.Decision.Limits.TimeoutSeconds != 7 || j.Decision.Revision != p.Revision() {
		t.Errorf("got %+v, want the new policies' judgement", j)
	}
}

func TestFaultsAreNotRemembered(t *testing.T) {
	for name, p := range map[string]*PDP{
		"no decision": opened(t, deciding(`{"outcome": "deny"}`)),
		"undefined":   opened(t, deciding(`1 if input.tool == "call"`)),
		"two decisions": opened(t, map[string]string{"p.rego": "package bailiff\n\ndecision := 1 if input.tool\n\ndecision := 2 if " +
			"input.args\n"}),
	} {
		judged(p)
		if j := judged(p); j.Fault == nil || recalled(j) {
			t.Errorf("%s: got %+v, want it judged anew", name, j)
		}
	}
}

func TestWhatRanOutOfTimeIsJudgedAnew(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": strings.Replace(allowing, "limits := {",
		"limits := {\"pids\": 0} if count(numbers.range(1, 300000)) == 0\n\nlimits := {", 1)})
	p.config.EvalTimeout = time.Millisecond
	wantDenial(t, judged(p), "policy.error", "no answer within")
	p.config.EvalTimeout = time.Minute
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	wantDenial(t, p.Decide(ctx, listing, ready), "policy.error", "given up")
	if j := judged(p); j.Fault != nil || recalled(j) {
		t.Errorf("got %+v, want it judged anew", j)
	}
}

func TestLargeJudgementsAreNotRemembered(t *testing.T) {
	backendtest.Evaluates(t)
	const large = 64 << 10
	p := opened(t, map[string]string{"p.rego": strings.Replace(allowing, `"denials": []`,
		`"denials": [], "env": {"set": {"N": concat("", [x | some _ in numbers.range(1, 100000); x := "n"])}}`, 1)})
	judged(p)
	if recalled(judged(p)) {
		t.Error("a large decision is remembered")
	}
	p = opened(t, map[string]string{"p.rego": allowing})
	req := listing
	for _, args := range []bailiff.Args{{Command: "ls " + strings.Repeat("x", large)},
		{Command: "ls " + strings.Repeat("x ", large/4)}} {
		req.Args = args
		p.Decide(context.Background(), req, ready)
		if recalled(p.Decide(context.Background(), req, ready)) {
			t.Errorf("an input with a command of %d bytes is remembered", len(args.Command))
		}
	}
}

func TestNobodyCanSpoilWhatIsRemembered(t *testing.T) {
	p := openShipped(t)
	one := asked{listing, ready}
	one.Request.Env, one.Request.Args.Command = []string{"GITHUB_TOKEN", "LD_PRELOAD"}, "sudo ls"
	one.At.EnvAvailable = []string{"GITHUB_TOKEN"}
	want, input := asJSON(t, one.judged(p).Decision), asJSON(t, one.judged(p).Input)
	for range 3 {
		j := one.judged(p)
		if got := asJSON(t, j.Decision); got != want {
			t.Fatalf("decided %s\nwant %s", got, want)
		}
		spoil(&j.Decision)
		text, err := j.Input.MarshalJSON()
		must(t, err)
		if string(text) != input {
			t.Fatalf("the input reads %s\nwant %s", text, input)
		}
		clear(text)
	}
}

// spoil overwrites what a decision of these tests holds.
func spoil(d *bailiff.Decision) {
	clear(d.Denials)
	clear(d.Backend.Mounts)
	clear(d.Env.Forward)
	clear(d.Env.Withheld)
	clear(d.Env.Set)
	if d.Approval != nil {
		clear(d.Approval.Reasons)
		clear(d.Approval.Scopes)
	}
}

// TestManyAskAtOnce has readers that spoil what they get while generations pass.
func TestManyAskAtOnce(t *testing.T) {
	const clients, rounds = 8, 400
	p := opened(t, map[string]string{"p.rego": strings.Replace(allowing, `"denials": []`,
		`"denials": [], "env": {"set": {"N": input.session.user_name}, "withheld": [{"name": input.session.user_name, "rule": "r"}]}`, 1)})
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for n := range rounds {
				one := asked{listing, ready}
				one.Request.Session.UserName = fmt.Sprint(n % 50)
				one.At.Time = ready.Time.Add(time.Duration(n) * time.Second)
				j := one.judged(p)
				if e := j.Decision.Env; e.Set["N"] != one.Request.Session.UserName || e.Withheld[0].Name != e.Set["N"] {
					t.Errorf("%s got %+v", one.Request.Session.UserName, e)
				}
				if text := asJSON(t, j.Input); !strings.Contains(text, `"time":"`+one.At.Time.Format(time.RFC3339Nano)+`"`) {
					t.Errorf("the input reads %s, want the time of the request", text)
				}
				spoil(&j.Decision)
			}
		})
	}
	running.Wait()
}
