package answers

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
)

var backends = map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}}

const (
	limits   = `"limits": {"timeout_seconds": 1, "output_bytes": 1}`
	backend  = `"backend": {"name": "docker", "scope": "session", "network": "none"}`
	approval = `"approval": {"reasons": [{"rule": "r", "message": "m"}], "scopes": ["once"], "timeout_seconds": 1, "quorum": 1}`
)

func TestAnAnswerThatIsNoDecisionDenies(t *testing.T) {
	with := func(parts ...string) string { return "{" + strings.Join(parts, ", ") + "}" }
	allow := func(parts ...string) string { return with(append(parts, `"outcome": "allow"`)...) }
	sandbox := func(more string) string {
		return allow(limits, `"backend": {"name": "docker", "scope": "session", "network": "none", `+more+`}`)
	}
	ask := func(approval string) string {
		return with(`"outcome": "ask"`, backend, limits, `"approval": `+approval)
	}
	for name, c := range map[string]struct{ answer, message string }{
		"no object":                  {`"allow"`, "the document is a string, want an object"},
		"true":                       {`true`, "the document is a boolean, want an object"},
		"empty":                      {`{}`, "/outcome is missing"},
		"null outcome":               {with(`"outcome": null`), "/outcome is null, want a string"},
		"unknown outcome":            {with(`"outcome": "maybe"`), `/outcome is "maybe", want allow, ask or deny`},
		"outcome in capitals":        {with(`"outcome": "ALLOW"`), `/outcome is "ALLOW"`},
		"unknown key":                {allow(backend, limits, `"network": "none"`), "/network is no known key"},
		"unknown key of the backend": {sandbox(`"privileged": true`), "/backend/privileged is no known key"},
		"unknown key of a reason": {with(`"outcome": "deny"`, `"denials": [{"rule": "r", "message": "m", "x": 1}]`),
			"/denials/0/x is no known key"},
		"unknown grade of a reason": {with(`"outcome": "deny"`, `"denials": [{"rule": "r", "message": "m", "severity": "urgent"}]`),
			`/denials/0/severity is "urgent", want low, medium, high or critical`},
		"advice without a message": {allow(backend, limits, `"advise": [{"rule": "r"}]`), "/advise/0/message is missing"},
		"advice that is a text":    {allow(backend, limits, `"advise": ["use pnpm"]`), "/advise/0 is a string, want an object"},
		"technique that is none": {with(`"outcome": "deny"`, `"denials": [{"rule": "r", "message": "m", "attack": ["T1"]}]`),
			`/denials/0/attack/0 is "T1", want a technique of ATT&CK`},
		"unknown key of the env":      {allow(backend, limits, `"env": {"inherit": true}`), "/env/inherit is no known key"},
		"unknown key of the limits":   {allow(backend, `"limits": {"timeout": 1}`), "/limits/timeout is no known key"},
		"unknown key of the approval": {ask(`{"by": "ana"}`), "/approval/by is no known key"},
		"key that is no string":       {"{1: 2}", "the document has the key 1, want strings"},
		"a revision of its own":       {allow(backend, limits, `"revision": "x"`), "/revision is set by the policies"},
		"denials that are an object":  {with(`"outcome": "deny"`, `"denials": {"rule": "r"}`), "/denials is an object, want an array"},
		"denial without a message":    {with(`"outcome": "deny"`, `"denials": [{"rule": "r"}]`), "/denials/0/message is missing"},
		"denial with an empty rule": {with(`"outcome": "deny"`, `"denials": [{"rule": "", "message": "m"}]`),
			"/denials/0/rule is empty"},
		"denial without a reason": {with(`"outcome": "deny"`), "/denials is empty although the outcome is deny"},
		"allowed with denials": {allow(backend, limits, `"denials": [{"rule": "r", "message": "m"}]`),
			"/outcome is allow although there are denials"},
		"allowed with reasons to ask": {allow(backend, limits, approval), "/outcome is allow although there are reasons to ask"},
		"ask without an approval": {with(`"outcome": "ask"`, backend, limits),
			"/approval/reasons is empty although the outcome is ask"},
		"ask without reasons": {ask(`{"reasons": [], "scopes": ["once"], "timeout_seconds": 1, "quorum": 1}`),
			"/approval/reasons is empty"},
		"ask with denials": {with(`"outcome": "ask"`, backend, limits, approval, `"denials": [{"rule": "r", "message": "m"}]`),
			"/outcome is ask although"},
		"unknown scope of an approval": {ask(`{"scopes": ["once", "forever"]}`),
			`/approval/scopes/1 is "forever", want once, session or always`},
		"approval without scopes": {ask(`{"reasons": [{"rule": "r", "message": "m"}], "scopes": [], "timeout_seconds": 1, ` +
			`"quorum": 1}`), "/approval/scopes is empty"},
		"approval by nobody": {ask(`{"reasons": [{"rule": "r", "message": "m"}], "scopes": ["once"], "timeout_seconds": 1, ` +
			`"quorum": 0}`), "/approval/quorum is 0"},
		"approval without end": {ask(`{"reasons": [{"rule": "r", "message": "m"}], "scopes": ["once"], "timeout_seconds": 0, ` +
			`"quorum": 1}`), "/approval/timeout_seconds is 0"},
		"unknown scope of a sandbox": {allow(limits, `"backend": {"name": "docker", "scope": "world", "network": "none"}`),
			`/backend/scope is "world"`},
		"unknown network": {allow(limits, `"backend": {"name": "docker", "scope": "user", "network": "host"}`),
			`/backend/network is "host", want none, egress or full`},
		"unknown backend": {allow(limits, `"backend": {"name": "chroot", "scope": "user", "network": "none"}`),
			`/backend/name is "chroot", which is no configured backend`},
		"no backend":              {allow(limits), `/backend/name is ""`},
		"no scope":                {allow(limits, `"backend": {"name": "docker", "network": "none"}`), "/backend/scope is missing"},
		"no network":              {allow(limits, `"backend": {"name": "docker", "scope": "user"}`), "/backend/network is missing"},
		"hosts without a network": {sandbox(`"egress": ["a.test:443"]`), "/backend/egress names hosts although the network is none"},
		"no limits":               {allow(backend), "/limits/timeout_seconds is missing or zero"},
		"unbounded output":        {allow(backend, `"limits": {"timeout_seconds": 1}`), "/limits/output_bytes is missing or zero"},
		"negative time": {allow(backend, `"limits": {"timeout_seconds": -1}`),
			"/limits/timeout_seconds is -1, want a whole number"},
		"time in words": {allow(backend, `"limits": {"timeout_seconds": "3m"}`),
			"/limits/timeout_seconds is a string, want a number"},
		"a fraction of a process":   {sandbox(`"pids": 1.5`), "/backend/pids is 1.5, want a whole number"},
		"memory that overflows":     {sandbox(`"memory_mb": 9223372036854775807`), "/backend/memory_mb is 9223372036854775807"},
		"memory beyond all numbers": {sandbox(`"memory_mb": 1e400`), "/backend/memory_mb is 1e400"},
		"negative processors":       {sandbox(`"cpus": -0.5`), "/backend/cpus is -0.5"},
		"endless processors":        {sandbox(`"cpus": 1e308`), "/backend/cpus is 1e308"},
		"read-only in words":        {sandbox(`"read_only": "yes"`), "/backend/read_only is a string, want true or false"},
		"image that is a list":      {sandbox(`"image": []`), "/backend/image is an array, want a string"},
		"runtime that is a number":  {sandbox(`"runtime": 7`), "/backend/runtime is a number, want a string"},
		"image with a NUL":          {sandbox(`"image": "a\u0000b"`), "/backend/image holds a NUL byte"},
		"relative mount": {sandbox(`"mounts": [{"source": "etc", "target": "/x"}]`),
			`/backend/mounts/0/source is "etc", want a clean absolute path`},
		"mount that climbs":      {sandbox(`"mounts": [{"source": "/srv/../etc", "target": "/x"}]`), "/backend/mounts/0/source is"},
		"mount without a target": {sandbox(`"mounts": [{"source": "/srv"}]`), "/backend/mounts/0/target is missing"},
		"unknown key of a mount": {sandbox(`"mounts": [{"source": "/a", "target": "/b", "type": "bind"}]`),
			"/backend/mounts/0/type is no known key"},
		"variable with an equals sign": {allow(backend, limits, `"env": {"forward": ["A=B"]}`),
			`/env/forward/0 is "A=B", which is no name of a variable`},
		"a value for any host below a domain": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["*.test"], "in": ["x"]}]}`),
			`/env/swap/0/hosts/0 is "*.test", want one host in small letters, or host:port`},
		"a value in a header that is handed on": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["a.test"], "in": ["referer"]}]}`),
			`/env/swap/0/in/0 is "referer", want the name of a header in small letters, none of cookie,`},
		"a value in a parameter without a name": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["a.test"], "in": ["query:"]}]}`),
			`/env/swap/0/in/0 is "query:", want query: and the name of a parameter`},
		"a value in such a header by its long name": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["a.test"], "in": ["header:user-agent"]}]}`),
			`/env/swap/0/in/0 is "header:user-agent", want the name of a header`},
		"a value in the body": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["a.test"], "in": ["body:key"]}]}`),
			`/env/swap/0/in/0 is "body:key", want the name of a header`},
		"a stand-in that passes in a word": {allow(backend, limits,
			`"env": {"swap": [{"name": "A", "hosts": ["a.test"], "in": ["path"], "stray_passes": "yes"}]}`),
			`/env/swap/0/stray_passes is a string, want true or false`},
		"variable that is a number": {allow(backend, limits, `"env": {"forward": [1]}`), "/env/forward/0 is a number, want a string"},
		"constant for no variable":  {allow(backend, limits, `"env": {"set": {"a b": "c"}}`), `/env/set/a b is "a b"`},
		"constant that is a number": {allow(backend, limits, `"env": {"set": {"A": 1}}`), "/env/set/A is a number"},
		"withheld without a rule": {allow(backend, limits, `"env": {"withheld": [{"name": "A"}]}`),
			"/env/withheld/0/rule is missing"},
		"key with a slash":             {allow(backend, limits, `"a/b~c": 1`), "/a~1b~0c is no known key"},
		"set of a wrong thing":         {with(`"outcome": "deny"`, `"denials": {"no reason"}`), "/denials/0 is a string, want an object"},
		"reason to ask without a rule": {ask(`{"reasons": [{"message": "m"}]}`), "/approval/reasons/0/rule is missing"},
		"persistent in words":          {sandbox(`"persistent": "yes"`), "/backend/persistent is a string, want true or false"},
		"an age in words":              {sandbox(`"max_seconds": "1d"`), "/backend/max_seconds is a string, want a number"},
		"a fraction of a background": {allow(backend, `"limits": {"background_seconds": 0.5}`),
			"/limits/background_seconds is 0.5, want a whole number"},
		"fewer processes than none": {allow(backend, `"limits": {"processes": -1}`), "/limits/processes is -1, want a whole number"},
		"tools that are no list":    {allow(backend, limits, `"tools": "terminal"`), "/tools is a string, want an array"},
		"a tool that is no name":    {allow(backend, limits, `"tools": ["rm -rf"]`), `/tools/0 is "rm -rf", which no script may call`},
		"a tool that runs scripts": {allow(backend, limits, `"tools": ["execute_code"]`),
			`/tools/0 is "execute_code", which no script may call`},
		"null where an object is meant": {allow(backend, `"limits": null`), "/limits is null, want an object"},
	} {
		t.Run(name, func(t *testing.T) {
			d, fault := Decision(ast.MustParseTerm(c.answer), nil, backends)
			switch {
			case d.Outcome != bailiff.Deny || len(d.Denials) == 0 || d.Denials[0].Rule != "policy.invalid" || fault == nil:
				t.Errorf("got %+v and %v, want a denial by policy.invalid first", d, fault)
			case !strings.Contains(d.Denials[0].Message, c.message):
				t.Errorf("the denial says %q, want it to say %q", d.Denials[0].Message, c.message)
			}
		})
	}
}

func TestAWrongAnswerKeepsItsDenials(t *testing.T) {
	for _, wrong := range []string{`"approval": 1`, `"backend": {"privileged": true}`, `"typo": 1`, `"outcome": "allow"`} {
		got, _ := Decision(ast.MustParseTerm(`{"denials": [{"rule": "command.wipes", "message": "No."}], `+wrong+`}`), nil, backends)
		if got.Outcome != bailiff.Deny || len(got.Denials) != 2 || got.Denials[1].Rule != "command.wipes" {
			t.Errorf("%s: got %+v, want a denial that still names command.wipes", wrong, got)
		}
	}
}

func TestADenialNeedsNoBackend(t *testing.T) {
	answer := ast.MustParseTerm(`{"outcome": "deny", "denials": [{"rule": "r", "message": "m"}], "backend": {"name": ""}, "limits": ` +
		`{"timeout_seconds": 0}}`)
	if d, fault := Decision(answer, nil, backends); fault != nil || d.Denials[0].Rule != "r" {
		t.Errorf("got %+v, %v, want the policies' own denial", d, fault)
	}
}

func TestSentencesOfAReasonAreBoundedAndItsMatchIsNot(t *testing.T) {
	for length, want := range map[int]int{1999: 1999, 2000: 2000, 1_000_000: 2000 + len("…")} {
		long := strings.Repeat("x", length)
		d, fault := Decision(ast.MustParseTerm(`{"outcome": "deny", "denials": [{"rule": "r", "message": "`+long+`", "instead": "`+long+
			`", "match": "`+long+`"}]}`), nil, nil)
		if fault != nil {
			t.Fatal(fault)
		}
		said := d.Denials[0]
		if len(said.Message) != want || len(said.Instead) != want || said.Match != long {
			t.Errorf("of %d bytes each the message has %d, the way out %d and the match %d", length, len(said.Message), len(said.Instead),
				len(said.Match))
		}
	}
}
