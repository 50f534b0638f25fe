package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestResultsAreBounded(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer(), limit: 1000}
	o := connect(t, f, true)
	said := text(o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"a`+strings.Repeat("x", 100_000)+`z"}}`))
	if len(said) > 1100 || !strings.HasPrefix(said, "ax") || !strings.HasSuffix(said, "xz") || !strings.Contains(said, "bytes left out") {
		t.Errorf("a long result has %d bytes: %.80s", len(said), said)
	}
}

func TestAllPartsOfAResultAreBounded(t *testing.T) {
	part := func(kind, name string, size int) string {
		return fmt.Sprintf(`{"type":%q,%q:"%s"}`, kind, name, strings.Repeat("x", size))
	}
	for _, c := range []struct{ name, result, want string }{
		{"small", `{"content":[{"type":"image","data":"aa"}],"structuredContent":{"a":1}}`,
			`{"content":[{"data":"aa","type":"image"}],"structuredContent":{"a":1}}`},
		{"an image", `{"content":[` + part("image", "data", 2000) + `]}`, "image of 2017 bytes was left out"},
		{"a second sound", `{"content":[` + part("audio", "data", 600) + "," + part("audio", "data", 600) + `]}`,
			"audio of 617 bytes was left out"},
		{"a link", `{"content":[` + part("resource_link", "uri", 2000) + `]}`, "resource_link of 2024 bytes was left out"},
		{"structure", `{"content":[],"structuredContent":"` + strings.Repeat("x", 2000) + `"}`, "2002 bytes of structured content"},
		{"structure and a text", `{"content":[` + part("text", "text", 600) + `],"structuredContent":"` + strings.Repeat("x", 600) + `"}`,
			"bytes left out"},
		{"many parts", `{"content":[` + strings.Repeat(`{"type":"text","text":""},`, 500) + `{"type":"text","text":""}]}`,
			"401 parts of the result were left out"},
	} {
		server := func(p *serverEnd, m map[string]any) {
			if m["method"] == "tools/call" {
				p.result(m["id"], c.result)
				return
			}
			echoServer()(p, m)
		}
		o := connect(t, &sidecar{table: map[string]string{"echo": "allow"}, server: server, limit: 1000}, true)
		result := string(jsonOf(o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)["result"]))
		if !strings.Contains(result, c.want) || len(result) > 5000 {
			t.Errorf("%s: %d bytes, %.300s", c.name, len(result), result)
		}
	}
}

func TestWhatAServerSaysBesidesResultsIsBounded(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	f := &sidecar{table: map[string]string{"echo": "allow", "logging/setLevel": "allow"}}
	f.server = func(p *serverEnd, m map[string]any) {
		switch m["method"] {
		case "tools/call":
			token := string(jsonOf(m["params"].(map[string]any)["_meta"].(map[string]any)["progressToken"]))
			notice := func(size int) {
				p.line(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + long[:size] + `"}}`)
				p.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token +
					`,"progress":1,"message":"` + long[:size] + `"}}`)
			}
			notice(20_000)
			for range 50 {
				notice(10_000)
			}
			p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"%s","data":"%s"}}`, jsonOf(m["id"]), long, long))
		default:
			echoServer()(p, m)
		}
	}
	o := connect(t, f, true)
	for round := range 2 {
		o.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call",` +
			`"params":{"name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":1}}}`)
		notices := 0
		m := o.next()
		for ; m["method"] != nil; m = o.next() {
			notices++
		}
		if said := text(m); notices != maxNotices/10_100 || len(said) > longestFault+10 {
			t.Errorf("round %d: %d notifications and %d bytes of a fault", round, notices, len(said))
		}
	}
}

func TestFaultsAndListsOfAServerAreBounded(t *testing.T) {
	long := strings.Repeat("x", 600_000)
	for method, c := range map[string]struct{ answer, want string }{
		"initialize": {`"error":{"code":-1,"message":"` + long + `"}`, "-1 xxx"},
		"tools/list": {`"error":{"code":-2,"message":"` + long + `"}`, "-2 xxx"},
		"tools/list ": {`"result":{"tools":[{"name":"a","description":"` + long + `"}],"nextCursor":"b"}`,
			"-32603 The server says more than 1024 KiB of its tools."},
		"initialize ": {`"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"e","version":"1"}}`,
			`-32603 The server speaks the version "2099-01-01" of the protocol, and bailiff 2024-11-05 to 2025-11-25.`},
	} {
		f := &sidecar{server: func(p *serverEnd, m map[string]any) {
			if m["method"] == strings.TrimSpace(method) {
				p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, jsonOf(m["id"]), c.answer))
				return
			}
			echoServer()(p, m)
		}}
		said := text(connect(t, f, false).ask(1, "initialize", asClient("2025-06-18")))
		if !strings.HasPrefix(said, c.want) || len(said) > longestFault+10 {
			t.Errorf("%s: %d bytes, %.200s", method, len(said), said)
		}
	}
}

func TestAnAnswerThatIsTooLongFailsItsCallAlone(t *testing.T) {
	kept := make(chan any, 1)
	f := &sidecar{table: map[string]string{"echo": "allow"}}
	f.server = func(p *serverEnd, m map[string]any) {
		if m["method"] != "tools/call" {
			echoServer()(p, m)
			return
		}
		switch m["params"].(map[string]any)["arguments"].(map[string]any)["text"] {
		case "keep":
			kept <- m["id"]
		case "head":
			p.long(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"text":"xx`, jsonOf(m["id"])), `xx"}]}}`)
		case "tail":
			p.long(`{"result":{"content":[{"text":"\"id\":77}`, fmt.Sprintf(`xx"}]},"jsonrpc":"2.0","id":%s}`, jsonOf(m["id"])))
		case "release":
			p.result(<-kept, `{"content":[{"type":"text","text":"was kept"}]}`)
			p.result(m["id"], `{"content":[{"type":"text","text":"too"}]}`)
		}
	}
	o := connect(t, f, true)
	call := func(id int, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`, id, text)
	}
	o.send(call(5, "keep"))
	for _, where := range []string{"head", "tail"} {
		o.send(call(6, where))
		if m := o.next(); m["id"] != 6.0 || !strings.Contains(text(m), "more than 8 MiB") {
			t.Errorf("an id at the %s: %v", where, m)
		}
	}
	o.send(call(7, "release"))
	answers := map[any]string{}
	for range 2 {
		m := o.next()
		answers[m["id"]] = text(m)
	}
	if answers[5.0] != "was kept" || answers[7.0] != "too" {
		t.Errorf("other calls are answered %v", answers)
	}
}

func ofLimit(bytes int) (d bailiff.Decision) {
	d.Limits.OutputBytes = bytes
	return d
}
