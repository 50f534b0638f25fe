package pdp

import "testing"

func TestADecisionIsReadWhole(t *testing.T) {
	p := opened(t, deciding(`{
		"outcome": "ask", "denials": set(),
		"approval": {"reasons": {{"rule": "r", "message": "m", "match": "x"}}, "scopes": ["once", "session"],
			"timeout_seconds": 300, "grant_seconds": 3600, "quorum": 2},
		"backend": {"name": "docker", "image": "i", "runtime": "runsc", "scope": "user", "idle_seconds": 60, "max_seconds": 3600,
			"persistent": true, "network": "egress",
			"egress": ["github.com:443"], "cpus": 1.5, "memory_mb": 512, "disk_mb": 1024, "pids": 64, "read_only": true,
			"mounts": [{"source": "/srv/a", "target": "/a", "read_only": true}]},
		"env": {"forward": ["A"], "sealed": ["A"], "withheld": [{"name": "B", "rule": "w"}], "set": {"C": "c"},
			"swap": [{"name": "A", "hosts": ["a.test", "b.test:8443"], "in": ["x-a", "header:x-b", "query:key", "path"],
				"stray_passes": true, "not_alone": true}]},
		"limits": {"timeout_seconds": 180, "output_bytes": 50000, "background_seconds": 900, "processes": 4},
		"tools": {"terminal", "web_search"},
	}`))
	j := judged(p)
	must(t, j.Fault)
	want := `{"outcome":"ask","denials":[],` +
		`"approval":{"reasons":[{"rule":"r","message":"m","match":"x"}],"scopes":["once","session"],"timeout_seconds":300,` +
		`"grant_seconds":3600,"quorum":2},` +
		`"backend":{"name":"docker","image":"i","runtime":"runsc","scope":"user","idle_seconds":60,"max_seconds":3600,"persistent":true,` +
		`"network":"egress","egress":["github.com:443"],"cpus":1.5,` +
		`"memory_mb":512,"disk_mb":1024,"pids":64,"read_only":true,"mounts":[{"source":"/srv/a","target":"/a","read_only":true}]},` +
		`"env":{"forward":["A"],"withheld":[{"name":"B","rule":"w"}],"set":{"C":"c"},"sealed":["A"],` +
		`"swap":[{"name":"A","hosts":["a.test","b.test:8443"],"in":["x-a","header:x-b","query:key","path"],` +
		`"stray_passes":true,"not_alone":true}]},` +
		`"limits":{"timeout_seconds":180,"output_bytes":50000,"background_seconds":900,"processes":4},"tools":["terminal","web_search"],` +
		`"revision":"` + p.Revision() + `"}`
	if got := asJSON(t, j.Decision); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAWrongAnswerDenies(t *testing.T) {
	wantDenial(t, judged(opened(t, deciding(`{"outcome": "maybe"}`))), "policy.invalid", `/outcome is "maybe", want allow, ask or deny`)
}
