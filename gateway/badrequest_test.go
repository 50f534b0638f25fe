package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

// replace swaps a part of a good request for a bad one.
func replace(old, new string) string {
	if !strings.Contains(telegramRequest, old) {
		panic("no " + old + " in the request")
	}
	return strings.Replace(telegramRequest, old, new, 1)
}

func with(member string) string { return replace(`{"tool"`, "{"+member+`, "tool"`) }

func args(text string) string { return replace(`{"command": "git status"}`, text) }

func code(text string) string { return strings.Replace(args(text), "terminal", "execute_code", 1) }

func process(text string) string { return strings.Replace(args(text), "terminal", "process", 1) }

func session(member string) string { return replace(`{"id": "s1"`, "{"+member+`, "id": "s1"`) }

func ofAgent(members string) string { return session(`"agent": {` + members + `}`) }

func TestBadRequestsAreRefusedWithThePlaceOfTheFault(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	long := strings.Repeat("x", 600)
	for _, test := range []struct {
		name, body string
		code       string
		at, says   string
	}{
		{"an empty body", "", codeJSON, "", "ends too early"},
		{"text that is no JSON", "rm -rf /", codeJSON, "", "wrong at byte 0"},
		{"JSON that ends in the middle", telegramRequest[:40], codeJSON, "/args/command", "ends too early"},
		{"something after the request", telegramRequest + "{}", codeJSON, "", "wrong at byte"},
		{"a list", "[]", codeRequest, "", "want an object"},
		{"null", "null", codeRequest, "/tool", "is missing"},
		{"bytes that are not UTF-8", replace("git", "git\xff"), codeJSON, "/args/command", "invalid UTF-8"},
		{"half a surrogate pair", replace("git", `git\ud800`), codeJSON, "/args/command", "surrogate"},

		{"an unknown name", with(`"tools": []`), codeRequest, "/tools", `nothing is named "tools"`},
		{"a name in capitals", with(`"TOOL": "process"`), codeRequest, "/TOOL", `nothing is named "TOOL"`},
		{"a name that is given twice", with(`"tool": "process"`), codeJSON, "/tool", `"tool" is given twice`},
		{"a caller that names itself", with(`"caller": {"name": "root"}`), codeRequest, "/caller", "nothing is named"},
		{"an unknown name in the session", session(`"is_admin": true`), codeRequest, "/session/is_admin", "nothing is named"},
		{"a name twice in the session", session(`"platform": "cli"`), codeJSON, "/session/platform", "given twice"},

		{"no tool", replace(`"tool": "terminal", `, ""), codeRequest, "/tool", "is missing"},
		{"an unknown tool", replace("terminal", "browser"), codeRequest, "/tool", `is "browser"`},
		{"a tool that is a number", replace(`"terminal"`, "7"), codeRequest, "/tool", "want a string, is a number"},

		{"no args", replace(`"args": {"command": "git status"}, `, ""), codeRequest, "/args/command", "is missing"},
		{"args that are a list", args(`["ls"]`), codeRequest, "/args", "want an object, is a list"},
		{"an empty command", args(`{"command": ""}`), codeRequest, "/args/command", "is missing"},
		{"a command that is a list", args(`{"command": ["ls"]}`), codeRequest, "/args/command", "want a string, is a list"},
		{"a NUL byte in the command", replace("git", `git\u0000`), codeRequest, "/args/command", "NUL byte"},
		{"a relative folder", args(`{"command": "ls", "workdir": "src"}`), codeRequest, "/args/workdir", "want an absolute path"},
		{"a folder that no system has", args(`{"command": "ls", "workdir": "/` + strings.Repeat("x", 5000) + `"}`), codeRequest,
			"/args/workdir", "want at most 4096"},
		{"a folder with a NUL byte", args(`{"command": "ls", "workdir": "/a\u0000"}`), codeRequest, "/args/workdir", "NUL byte"},
		{"a timeout below zero", args(`{"command": "ls", "timeout": -5}`), codeRequest, "/args/timeout", "is -5"},
		{"a timeout above a day", args(`{"command": "ls", "timeout": 86401}`), codeRequest, "/args/timeout", "want 0 to 86400"},
		{"a timeout with a fraction", args(`{"command": "ls", "timeout": 1.5}`), codeRequest, "/args/timeout", "want a whole number"},
		{"a timeout out of all bounds", args(`{"command": "ls", "timeout": 1e300}`), codeRequest, "/args/timeout", "want a whole number"},
		{"a timeout that is text", args(`{"command": "ls", "timeout": "180"}`), codeRequest, "/args/timeout", "want a whole number"},
		{"background that is text", args(`{"command": "ls", "background": "yes"}`), codeRequest, "/args/background", "want true or false"},
		{"code for the terminal", args(`{"command": "ls", "code": "1"}`), codeRequest, "/args/code",
			`"code" here, want command, background, stdin, workdir, timeout`},
		{"a command for execute_code", code(`{"code": "1", "command": "ls"}`), codeRequest, "/args/command", "nothing is named"},
		{"execute_code without code", code(`{}`), codeRequest, "/args/code", "is missing"},
		{"a NUL byte in the code", code(`{"code": "a\u0000"}`), codeRequest, "/args/code", "NUL byte"},
		{"process without an action", process(`{}`), codeRequest, "/args/action", "is missing"},
		{"an unknown action", process(`{"action": "fork"}`), codeRequest, "/args/action", `is "fork"`},
		{"poll without a process", process(`{"action": "poll"}`), codeRequest, "/args/process_id", "is missing"},
		{"list with a process", process(`{"action": "list", "process_id": "p"}`), codeRequest, "/args/process_id",
			"does not belong to list"},
		{"write without data", process(`{"action": "write", "process_id": "p"}`), codeRequest, "/args/data", "is missing"},
		{"data for poll", process(`{"action": "poll", "process_id": "p", "data": "x"}`), codeRequest, "/args/data", "belongs to write"},
		{"args as a string that is no JSON", args(`"ls -l"`), codeJSON, "/args", "wrong at byte 0"},
		{"args as a string with an unknown name", args(`"{\"command\": \"ls\", \"cmd\": 1}"`), codeRequest, "/args/cmd",
			"nothing is named"},
		{"args as a string in a string", args(`"\"{}\""`), codeRequest, "/args", "want an object, is a string"},

		{"no session", replace(`, "session": {"id": "s1", "platform": "telegram"}`, ""), codeRequest, "/session/id", "is missing"},
		{"no session id", replace(`"id": "s1", `, ""), codeRequest, "/session/id", "is missing"},
		{"no platform", replace(`, "platform": "telegram"`, ""), codeRequest, "/session/platform", "is missing"},
		{"an unknown chat type", session(`"chat_type": "DM"`), codeRequest, "/session/chat_type", `is "DM"`},
		{"a user id that is a number", session(`"user_id": 42`), codeRequest, "/session/user_id", "want a string, is a number"},
		{"a NUL byte in a user's name", session(`"user_name": "\u0000"`), codeRequest, "/session/user_name", "NUL byte"},
		{"an agent without an id", ofAgent(`"depth": 1`), codeRequest, "/session/agent/id", "is missing"},
		{"an agent without a depth", ofAgent(`"id": "a"`), codeRequest, "/session/agent/depth", "is 0"},
		{"an agent above the person", ofAgent(`"id": "a", "depth": -1`), codeRequest, "/session/agent/depth", "is -1"},
		{"an agent without end", ofAgent(`"id": "a", "parent": "b", "depth": 17`), codeRequest, "/session/agent/depth", "to 16, is 17"},
		{"a depth that is text", ofAgent(`"id": "a", "depth": "1"`), codeRequest, "/session/agent/depth", "want a whole number"},
		{"a depth that is a part", ofAgent(`"id": "a", "depth": 1.5`), codeRequest, "/session/agent/depth", "want a whole number"},
		{"a child of the session's own that names a parent", ofAgent(`"id": "a", "parent": "b", "depth": 1`), codeRequest,
			"/session/agent/parent", "belongs to a depth of 2"},
		{"a deep agent without a parent", ofAgent(`"id": "a", "depth": 2`), codeRequest, "/session/agent/parent", "is missing"},
		{"an agent that started itself", ofAgent(`"id": "a", "parent": "a", "depth": 2`), codeRequest, "/session/agent/parent", "itself"},
		{"an agent's id without end", ofAgent(`"id": "` + long + `", "depth": 1`), codeRequest, "/session/agent/id", "600 bytes long"},
		{"an agent with more", ofAgent(`"id": "a", "depth": 1, "root": true`), codeRequest, "/session/agent/root", "nothing is named"},
		{"an agent that is a name", session(`"agent": "a"`), codeRequest, "/session/agent", "want an object"},
		{"a session id without end", replace("s1", long), codeRequest, "/session/id", "600 bytes long"},
		{"a chat id without end", session(`"chat_id": "` + long + `"`), codeRequest, "/session/chat_id", "600 bytes long"},

		{"a variable with a value", with(`"env": ["PATH=/tmp"]`), codeRequest, "/env/0", "want a variable's name"},
		{"a variable that begins with a digit", with(`"env": ["A", "1A"]`), codeRequest, "/env/1", "want a variable's name"},
		{"a variable without a name", with(`"env": [""]`), codeRequest, "/env/0", "want a variable's name"},
		{"a variable in another script", with(`"env": ["PÄTH"]`), codeRequest, "/env/0", "want a variable's name"},
		{"variables by the thousand", with(`"env": [` + strings.TrimSuffix(strings.Repeat(`"A",`, 1000), ",") + `]`), codeRequest, "/env",
			"at most 100"},
		{"variables as an object", with(`"env": {"A": "1"}`), codeRequest, "/env", "want a list, is an object"},
		{"a backend that is a number", with(`"backend": 1`), codeRequest, "/backend", "want a string"},
		{"a request id without end", with(`"request_id": "` + long[:129] + `"`), codeRequest, "/request_id", "at most 128"},
		{"a wait below zero", with(`"wait_seconds": -1`), codeRequest, "/wait_seconds", "want 0 to 86400"},
		{"a wait above a day", with(`"wait_seconds": 1e6`), codeRequest, "/wait_seconds", "want 0 to 86400"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := caller{t, c.client}
			p := c.post("/v1/execute", test.body).problem(t, http.StatusBadRequest)
			if p.Code != test.code || len(p.Errors) == 0 {
				t.Fatalf("the problem is %+v, want code %q and a fault", p, test.code)
			}
			if f := p.Errors[0]; f.At != test.at || !strings.Contains(f.Message, test.says) {
				t.Errorf("the fault is %q at %q, want %q at %q", f.Message, f.At, test.says, test.at)
			}
			if !strings.Contains(p.Message, p.Errors[0].Message) {
				t.Errorf("the sentence %q does not say %q", p.Message, p.Errors[0].Message)
			}
		})
	}
}

func TestEveryFaultIsNamed(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	p := c.post("/v1/decide", `{"tool": "browser", "env": ["A=1"], "wait_seconds": -1}`).problem(t, http.StatusBadRequest)
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.At)
	}
	if got, want := strings.Join(at, " "), "/tool /session/id /session/platform /env/0 /wait_seconds"; got != want {
		t.Errorf("faults are at %s, want %s", got, want)
	}
}

func TestUnusualSpellingsOfAGoodRequestAreUnderstood(t *testing.T) {
	for name, body := range map[string]string{
		"args as a string": args(`"{\"command\": \"git status\"}"`),
		"args before the tool": `{"args": {"command": "git status"}, "tool": "terminal", "session": {"platform": "telegram", "id": ` +
			`"s1"}}`,
		"null for what is absent": with(`"env": null, "backend": null, "wait_seconds": null, "request_id": null`),
		"space all around":        " \n" + telegramRequest + "\n ",
		"escapes in a name":       strings.Replace(telegramRequest, `"tool"`, `"\u0074ool"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			e := &enforcer{}
			c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
			var a api.Answer
			c.post("/v1/execute", body).into(t, http.StatusOK, &a)
			if got := e.last(t).Args.Command; got != "git status" {
				t.Errorf("the command is %q", got)
			}
		})
	}
}

func TestTwoMebibytesAreTooMuch(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	for name, body := range map[string]string{
		"a request of 2 MiB":              replace("git status", strings.Repeat("x", 2<<20)),
		"a request one byte over the top": replace("git status", strings.Repeat("x", LargestRequest+1-len(replace("git status", "")))),
	} {
		t.Run(name, func(t *testing.T) {
			if p := (caller{t, c.client}).post("/v1/execute", body).problem(t, http.StatusRequestEntityTooLarge); p.Code != "too_large" {
				t.Errorf("the problem is %+v", p)
			}
		})
	}
}

func TestARequestOfExactlyOneMebibyteIsTaken(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	command := strings.Repeat("x", LargestRequest-len(replace("git status", "")))
	var a api.Answer
	c.post("/v1/execute", replace("git status", command)).into(t, http.StatusOK, &a)
	if e.last(t).Args.Command != command {
		t.Error("the command arrived changed")
	}
}

func TestWhatElseIsWrongIsNamedBesideAnUnknownName(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	p := c.post("/v1/decide", args(`{"cmd": "ls"}`)).problem(t, http.StatusBadRequest)
	if len(p.Errors) != 2 || p.Errors[0].At != "/args/cmd" || p.Errors[1] != (api.Fault{At: "/args/command", Message: "is missing"}) {
		t.Errorf("the faults are %+v", p.Errors)
	}
}
