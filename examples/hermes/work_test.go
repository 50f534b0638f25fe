package hermes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// args are arguments of a tool.
type args = map[string]any

func TestAModelIsToldOfAVariableThatDidNotEnter(t *testing.T) {
	h := start(t, plugin(t), "", share(t).Agent, "BAILIFF_ENV=OF_NO_TABLE")
	if r := h.call(t, "terminal", args{"command": "true"}, nil); !strings.Contains(r.text("withheld"), "OF_NO_TABLE (env.") {
		t.Errorf("it is told %v", r)
	}
}

func TestAModelIsToldWhichConnectionsWereRefused(t *testing.T) {
	sidecar := serve(t, apptest.WithRules(t, "", "    network:\n      platforms: {}\n",
		"    network:\n      platforms: {telegram: {network: egress, egress: [allowed.test]}}\n"))
	h := start(t, plugin(t), "", sidecar.Agent)
	const command = "curl -sS https://x.test/"
	begun := h.call(t, "terminal", args{"command": command, "background": true}, nil).text("session_id")
	for name, r := range map[string]result{
		"a command": h.call(t, "terminal", args{"command": command}, nil),
		"a process": h.call(t, "process", args{"action": "wait", "session_id": begun, "timeout": 60}, nil),
	} {
		egress, _ := r["egress"].(map[string]any)
		if !strings.Contains(r.text("note"), "x.test:443 (egress.not_in_table, once)") || len(egress) == 0 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func TestEachToolWorksInTheSessionsSandbox(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent)
	const module = "def f():\n    return 1\n\ndef g():\n    return 2\n"
	v4a := "*** Begin Patch\n*** Update File: d/x y.py\n@@ def g():\n-    return 2\n+    return 20\n*** Add File: " +
		"d/new.txt\n+one\n+two\n*** End Patch"
	move := "*** Begin Patch\n*** Update File: d/new.txt\n*** Move to: e/newer.txt\n one\n-two\n+zwei\n*** Delete File: a.txt\n*** End " +
		"Patch"
	for _, step := range []struct {
		tool string
		args args
		want result // of these keys
	}{
		{"terminal", args{"command": "echo hi | tee a.txt; hostname; cd /tmp; echo $HERMES_HOME"},
			result{"output": "hi\nsandbox\n\n", "exit_code": 0.0, "error": nil, "status": nil}},
		{"terminal", args{"command": "pwd; cd /workspace", "timeout": "60"}, result{"output": "/tmp\n", "exit_code": 0.0}},
		{"terminal", args{"command": "pwd; cd /workspace", "workdir": "/usr", "pty": true}, result{"output": "/usr\n"}},
		{"terminal", args{"command": "false"}, result{"output": "", "exit_code": 1.0, "error": nil}},
		{"terminal", args{"command": "echo begun; sleep 60", "timeout": 1}, result{"exit_code": 124.0, "status": "timeout"}},
		{"terminal", args{"command": "ls", "workdir": "/nowhere"}, result{"exit_code": -1.0, "status": "error"}},
		{"execute_code", args{"code": "from hermes_tools import terminal\nx = terminal('echo nested')['output']\nprint(x)"},
			result{"status": "success", "output": "nested\n\n", "exit_code": 0.0, "tool_calls_made": 1.0}},
		{"execute_code", args{"code": "print(x.upper()); 1/0"}, result{"status": "error", "exit_code": 1.0,
			"error": "The script ended with exit code 1; its output says why."}},
		{"execute_code", args{"code": "print('x' in globals())", "reset": true}, result{"status": "success", "output": "False\n"}},
		{"write_file", args{"path": "d/x y.py", "content": module}, result{"bytes_written": 45.0, "dirs_created": true, "error": nil}},
		{"read_file", args{"path": "d/x y.py"}, result{"content": "1|def f():\n2|    return 1\n3|\n4|def g():\n5|    return 2",
			"total_lines": 5.0, "file_size": 45.0, "truncated": false}},
		{"read_file", args{"path": "/workspace/d/x y.py", "offset": 2, "limit": 2},
			result{"content": "2|    return 1\n3|", "truncated": true,
				"hint": "Use offset=4 to continue reading (showing 2-3 of 5 lines)"}},
		{"read_file", args{"path": "nowhere"}, result{"error": "File not found: nowhere"}},
		{"read_file", args{"path": "/bin/ls"}, result{"content": nil}},
		{"patch", args{"path": "d/x y.py", "old_string": "return 1", "new_string": "return 10"},
			result{"success": true, "files_modified": []any{"d/x y.py"}}},
		{"patch", args{"path": "d/x y.py", "old_string": "return", "new_string": ""}, result{"success": false}},
		{"patch", args{"path": "d/x y.py", "old_string": "not there", "new_string": ""},
			result{"success": false, "error": "Could not find a match for old_string in the file"}},
		{"patch", args{"mode": "patch", "patch": v4a}, result{"success": true, "files_modified": []any{"d/x y.py"},
			"files_created": []any{"d/new.txt"}}},
		{"patch", args{"mode": "patch", "patch": strings.Replace(v4a, "-    return 2\n", "-    return 3\n", 1)}, result{"success": false}},
		{"patch", args{"mode": "patch", "patch": move}, result{"success": true, "files_created": []any{"e/newer.txt"},
			"files_deleted": []any{"a.txt", "d/new.txt"}}},
		{"terminal", args{"command": "cat e/newer.txt; cat 'd/x y.py'; ls -A . d"},
			result{"output": "one\nzwei\n" + strings.NewReplacer("1", "10", "2", "20").Replace(module) + ".:\nd\ne\n\nd:\nx y.py\n"}},
		{"write_file", args{"path": "~/.note", "content": "ü\n"}, result{"bytes_written": 3.0, "dirs_created": false}},
		{"read_file", args{"path": "~/.note"}, result{"content": "1|ü"}},
		{"search_files", args{"pattern": `return \d+`}, result{"total_count": 2.0, "matches": []any{
			args{"path": "./d/x y.py", "line": 2.0, "content": "    return 10"},
			args{"path": "./d/x y.py", "line": 5.0, "content": "    return 20"}}}},
		{"search_files", args{"pattern": "return", "limit": 1, "context": 0}, result{"truncated": true}},
		{"search_files", args{"pattern": "return", "output_mode": "count"}, result{"counts": args{"./d/x y.py": 2.0}}},
		{"search_files", args{"pattern": "one", "output_mode": "files_only", "file_glob": "*.txt"},
			result{"files": []any{"./e/newer.txt"}}},
		{"search_files", args{"pattern": "*.py", "target": "files"}, result{"files": []any{"./d/x y.py"}, "total_count": 1.0}},
		{"search_files", args{"pattern": "nowhere"}, result{"total_count": 0.0, "error": nil}},
		{"search_files", args{"pattern": "ret(urn"}, result{"error": "grep: missing closing parenthesis"}},
		{"process", args{"action": "poll", "session_id": "proc_nowhere"}, result{"status": "not_found"}},
	} {
		got := h.call(t, step.tool, step.args, nil)
		for key, want := range step.want {
			if !reflect.DeepEqual(got[key], want) {
				t.Errorf("%s %v: %s is %.200v, want %v, of %.500v", step.tool, step.args, key, got[key], want, got)
			}
		}
	}
	h.untouched(t)
	if _, err := os.Stat("/workspace/d"); err == nil {
		t.Error("the files are on the host")
	}
}

func TestALongFileIsReadPageByPage(t *testing.T) {
	h := start(t, plugin(t), "", share(t).Agent)
	h.call(t, "terminal", args{"command": "seq -f 'line %g of many, which all are rather long' 1 5000 > long; printf end >> long"}, nil)
	next, read := 1.0, 0
	for next > 0 && read < 6000 {
		r := h.call(t, "read_file", args{"path": "long", "offset": next, "limit": 2000}, nil)
		for _, line := range strings.Split(r.text("content"), "\n") {
			read++
			want := fmt.Sprintf("%d|line %d of many, which all are rather long", read, read)
			if read == 5001 {
				want = "5001|end"
			}
			if line != want {
				t.Fatalf("it read %q, want %q", line, want)
			}
		}
		next = 0
		if r["truncated"] == true {
			next = float64(read + 1)
		}
	}
	if read != 5001 {
		t.Errorf("it read %d lines", read)
	}
}

func TestABackgroundProcessIsHermesToo(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent)
	begun := h.call(t, "terminal", args{"command": "echo name?; read n; echo hello $n; exit 3", "background": true,
		"notify_on_complete": true}, nil)
	id := begun.text("session_id")
	if !strings.HasPrefix(id, "proc_") || begun["output"] != "Background process started" || begun["exit_code"] != 0.0 {
		t.Fatalf("it began as %v", begun)
	}
	of := func(action string, more args) result {
		more["action"], more["session_id"] = action, id
		return h.call(t, "process", more, nil)
	}
	backendtest.Await(t, "its question", func() bool { return strings.Contains(of("log", args{}).text("output"), "name?") })
	if all, _ := h.call(t, "process", args{"action": "list"}, nil)["processes"].([]any); len(all) != 1 ||
		all[0].(map[string]any)["session_id"] != id || all[0].(map[string]any)["status"] != "running" {
		t.Errorf("listed are %v", all)
	}
	if r := of("wait", args{"timeout": 1}); r["status"] != "timeout" || r["process_running"] != true {
		t.Errorf("wait, too short: %v", r)
	}
	if r := of("submit", args{"data": "ana"}); r["status"] != "ok" || r["bytes_written"] != 4.0 {
		t.Errorf("submit: %v", r)
	}
	if r := of("wait", args{"timeout": 60}); r["status"] != "exited" || r["exit_code"] != 3.0 || r["output"] != "hello ana\n" {
		t.Errorf("wait: %v", r)
	}
	if r := of("poll", args{}); r["status"] != "exited" || r["exit_code"] != 3.0 {
		t.Errorf("poll: %v", r)
	}
	if r := of("log", args{"limit": 1}); r["output"] != "hello ana" || r["total_lines"] != 2.0 {
		t.Errorf("log: %v", r)
	}
	if r := of("write", args{"data": "x"}); r["status"] != "already_exited" {
		t.Errorf("write: %v", r)
	}
	id = h.call(t, "terminal", args{"command": "sleep 600", "background": true}, nil).text("session_id")
	if r := of("kill", args{}); r["status"] != "killed" {
		t.Errorf("kill: %v", r)
	}
	h.untouched(t)
}

func TestHermesWaitsForACommandThatTakesLongerThanAMinute(t *testing.T) {
	backendtest.Reserve(t, "it takes more than a minute")
	h := start(t, plugin(t), "", serve(t).Agent)
	const command = "for i in $(seq 65); do echo $i; sleep 1; done; hostname; echo to the end"
	if r := h.call(t, "terminal", args{"command": command}, nil); !strings.HasSuffix(r.text("output"), "65\nsandbox\nto the end\n") {
		t.Errorf("it is told %v", r)
	}
	h.untouched(t)
}

func TestADenialIsHermesBlockedResultAndSaysWhy(t *testing.T) {
	sidecar := share(t)
	for _, kind := range []string{"", "hookless"} {
		h := start(t, plugin(t), kind, sidecar.Agent)
		for tool, given := range map[string]args{
			"terminal":     {"command": "rm -rf /"},
			"execute_code": {"code": "import shutil\nshutil.rmtree('/')"},
		} {
			r := h.call(t, tool, given, nil)
			if !strings.Contains(r.text("error"), "command.destroys_system") || kind == "hookless" && !r.isBlocked() {
				t.Errorf("%s: %v", tool, r)
			}
		}
		h.untouched(t)
	}
}

func TestACallThatHermesMakesAgainRunsOnce(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent)
	ids := func(turn, call string) map[string]any {
		return map[string]any{"ids": map[string]string{"session_id": "c1", "turn_id": turn, "tool_call_id": call}}
	}
	count := args{"command": "echo x >> n; wc -l < n"}
	for _, step := range []struct {
		more map[string]any
		want string
	}{
		{ids("t1", "call_0"), "1\n"}, {ids("t1", "call_0"), "1\n"}, // again
		// some providers count from nought in each turn
		{ids("t2", "call_0"), "2\n"},
		{ids("", "call_0"), "3\n"}, {ids("", "call_0"), "4\n"}, {ids("t1", ""), "5\n"}, {ids("t1", ""), "6\n"}, // nobody can tell
	} {
		if r := h.call(t, "terminal", count, step.more); r["output"] != step.want {
			t.Errorf("%v: %v, want %q", step.more, r, step.want)
		}
	}
}

func TestAnInterruptedCallStops(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent)
	id, wait := h.begin(t, "terminal", args{"command": "echo begun; echo begun > begun; sleep 600"}, nil)
	backendtest.Await(t, "the command", func() bool { return h.call(t, "terminal", args{"command": "cat begun"}, nil)["exit_code"] == 0.0 })
	h.interrupt(t, id)
	if r := h.await(t, "terminal", wait); r["exit_code"] != 130.0 || r["output"] != "begun\n[Command interrupted]" {
		t.Errorf("it ended with %v", r)
	}
	backendtest.Await(t, "the command's end", func() bool {
		return h.call(t, "terminal", args{"command": "grep -l 'sleep' /proc/[0-9]*/comm"}, nil)["exit_code"] != 0.0
	})
}

func TestACommandEndsWithAHermesThatIsKilled(t *testing.T) {
	s := serve(t)
	h := start(t, plugin(t), "", s.Agent)
	h.begin(t, "terminal", args{"command": "sleep 600"}, nil)
	s.Busy(t, 1)
	_ = h.cmd.Process.Kill()
	s.Busy(t, 0)
}

func TestAWrongTokenRunsNothingAndIsNotSaid(t *testing.T) {
	url, right := share(t).TCP(t)
	for token, runs := range map[string]bool{right: true, "another-token": false} {
		file := filepath.Join(t.TempDir(), "token")
		backendtest.Must(t, os.WriteFile(file, []byte(token), 0o600))
		h := start(t, plugin(t), "", "tcp://"+strings.TrimPrefix(url, "http://"), "BAILIFF_TOKEN_FILE="+file)
		r := h.call(t, "terminal", guarded["terminal"], nil)
		if said := fmt.Sprint(r); (r["output"] == "hi\n") != runs || strings.Contains(said, token) ||
			!runs && !strings.HasPrefix(r.text("error"), "BLOCKED: ") {
			t.Errorf("it ends as %s, and should run: %t", said, runs)
		}
		h.untouched(t)
	}
}

// An agent that Hermes starts is a session of its own there, within the same chat.
func TestAgentsThatHermesStartsAreJudgedToo(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent)
	child := map[string]any{"ids": map[string]string{"session_id": "c1-child", "task_id": "subagent-0", "tool_call_id": "call_0"}}
	if r := h.call(t, "terminal", args{"command": "hostname"}, child); r["output"] != "sandbox\n" {
		t.Errorf("its command ends as %v", r)
	}
	if r := h.call(t, "terminal", args{"command": "rm -rf /"}, child); !strings.Contains(r.text("error"), "command.destroys_system") {
		t.Errorf("its denied command ends as %v", r)
	}
	h.untouched(t)
}

func TestTheChatIsToldWhoCanApprove(t *testing.T) {
	sidecar := serve(t, apptest.WithRules(t, "", "command.deletes_recursively: {networked: allow, shared: allow_with_undo}",
		"command.deletes_recursively: {host: ask, sandbox: ask}"))
	h := start(t, plugin(t), "", sidecar.Agent)
	h.call(t, "terminal", args{"command": "mkdir -p drafts notes"}, nil)
	_, wait := h.begin(t, "terminal", args{"command": "rm -r drafts"}, nil)
	told := <-h.sent
	if told["target"] != "telegram:42" || !strings.Contains(told["message"], "ana") {
		t.Errorf("the chat was told %v", told)
	}
	approve(t, sidecar.Operators(t))
	if r := h.await(t, "terminal", wait); r["exit_code"] != 0.0 || r["approval"] != "Approved by ana (once)." {
		t.Errorf("it ended with %v", r)
	}
	impatient := start(t, plugin(t), "", sidecar.Agent, "BAILIFF_WAIT_SECONDS=0")
	r := impatient.call(t, "terminal", args{"command": "rm -r notes"}, nil)
	if r["status"] != "pending_approval" || r["exit_code"] != -1.0 || !strings.Contains(r.text("error"), "ana") {
		t.Errorf("it waits as %v", r)
	}
	approve(t, sidecar.Operators(t))
	if r := impatient.call(t, "terminal", args{"command": "rm -r notes; ls"}, nil); r["status"] != "pending_approval" {
		t.Errorf("another command used the approval: %v", r)
	}
	if r := impatient.call(t, "terminal", args{"command": "rm -r notes"}, nil); r["exit_code"] != 0.0 {
		t.Errorf("the same call again: %v", r)
	}
}

func approve(t *testing.T, operators *client.Client) {
	t.Helper()
	pending, err := operators.Approvals(t.Context(), api.Query{State: "pending"})
	if err != nil || len(pending.Approvals) != 1 {
		t.Fatalf("pending are %+v, %v", pending, err)
	}
	if _, err := operators.Approve(t.Context(), pending.Approvals[0].ID, "once"); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfAConversationIsTheEndOfItsSandbox(t *testing.T) {
	sidecar := serve(t)
	h := start(t, plugin(t), "", sidecar.Agent)
	in := func(conversation string) map[string]any {
		return map[string]any{"ids": map[string]string{"session_id": conversation}}
	}
	keeps := func(conversation string) bool {
		return h.call(t, "terminal", args{"command": "cat note"}, in(conversation))["output"] == "kept\n"
	}
	note := func(conversation string) {
		h.call(t, "write_file", args{"path": "note", "content": "kept\n"}, in(conversation))
	}
	note("c1")
	h.hook(t, "on_session_finalize", args{"session_id": "c1", "platform": "telegram", "reason": "shutdown"})
	if !keeps("c1") {
		t.Error("a gateway that stops takes the files of its chats with it")
	}
	h.hook(t, "on_session_finalize", args{"session_id": "c1", "platform": "telegram"})
	h.hook(t, "on_session_reset", args{"session_id": "c2", "platform": "telegram", "old_session_id": "c1", "new_session_id": "c2"})
	if keeps("c2") {
		t.Error("/new kept the files")
	}
	note("c2")
	again := start(t, plugin(t), "", sidecar.Agent) // which does not know of c2
	again.hook(t, "on_session_finalize", args{"session_id": "c2", "platform": "telegram"})
	again.hook(t, "on_session_reset", args{"session_id": "c3", "platform": "telegram", "old_session_id": "c2"})
	if r := again.call(t, "terminal", args{"command": "cat note"}, in("c3")); r["exit_code"] != 1.0 {
		t.Errorf("/new after a restart kept the files: %v", r)
	}
}

func TestNobodyEntersASessionThatCouldNotBeEnded(t *testing.T) {
	sidecar := serve(t)
	h := start(t, plugin(t), "hookless", sidecar.Agent)
	h.call(t, "write_file", args{"path": "note", "content": "kept\n"}, nil)
	sidecar.Kill()
	h.hook(t, "on_session_finalize", args{"session_id": "c1", "platform": "telegram"})
	if r := h.call(t, "terminal", args{"command": "cat note"}, nil); !r.isBlocked() {
		t.Errorf("it answered %v", r)
	}
}

func TestScriptsCallHermesToolsThatBothSidesAllow(t *testing.T) {
	sidecar := serve(t, apptest.WithRules(t, "", "callable_tools:\n",
		"callable_tools:\n      web_search: allow\n      web_extract: allow\n"))
	h := start(t, plugin(t), "", sidecar.Agent, `HOST_SETTINGS={"tools": ["web_search"]}`)
	script := "from hermes_tools import web_search\nprint(web_search(query='court')['found'])"
	if r := h.call(t, "execute_code", args{"code": script}, nil); r["output"] != "COURT\n" || r["tool_calls_made"] != 1.0 {
		t.Errorf("web_search: %v", r)
	}
	for _, script := range []string{"import hermes_tools; hermes_tools.web_extract(url='x')",
		"import hermes_tools; hermes_tools.read_file(path='/etc/passwd')"} {
		if r := h.call(t, "execute_code", args{"code": script}, nil); r["status"] != "error" {
			t.Errorf("%s: %v", script, r)
		}
	}
	h.untouched(t)
}

// Hermes' gateway says who asks; the environment and the arguments do not.
func TestWhoAsksIsWhomHermesGatewayNames(t *testing.T) {
	with := func(changes map[string]string) map[string]string {
		all := map[string]string{}
		for _, values := range []map[string]string{chat, changes} {
			for name, value := range values {
				all[name] = value
			}
		}
		return all
	}
	for name, test := range map[string]struct {
		bound any
		env   []string
		want  map[string]any // nil is nobody: blocked
	}{
		"a chat": {chat, nil, map[string]any{"id": "hermes:HOME:agent:main:telegram:dm:42", "platform": "telegram", "chat_type": "dm",
			"chat_id": "42", "user_id": "42", "user_name": "Bo", "unattended": false}},
		"a thread of a group, in a profile": {with(map[string]string{"HERMES_SESSION_CHAT_TYPE": "supergroup",
			"HERMES_SESSION_THREAD_ID": "9", "HERMES_SESSION_PROFILE": "ops"}), nil,
			map[string]any{"chat_type": "group", "thread_id": "9", "profile": "ops"}},
		"a chat of a type to come": {with(map[string]string{"HERMES_SESSION_CHAT_TYPE": "stadium"}), nil,
			map[string]any{"chat_type": "group"}},
		"a chat, whatever the environment says": {chat, []string{"HERMES_SESSION_PLATFORM=cli", "HERMES_SESSION_USER_ID=0",
			"HERMES_CRON_SESSION=1"},
			map[string]any{"platform": "telegram", "user_id": "42", "unattended": false}},
		"a job of a chat's": {map[string]string{"HERMES_CRON_SESSION": "1", "HERMES_CRON_JOB_ID": "j7",
			"HERMES_CRON_JOB_ORIGIN_PLATFORM": "discord", "HERMES_CRON_JOB_ORIGIN_USER_ID": "8"}, nil,
			map[string]any{"id": "hermes:HOME:cron:j7", "platform": "discord", "user_id": "8", "unattended": true, "job": "cron:j7"}},
		"a job of unknown origin": {map[string]string{"HERMES_CRON_SESSION": "1", "HERMES_CRON_JOB_ID": "j8"}, nil,
			map[string]any{"platform": "cron", "unattended": true}},
		"whoever sits at the machine": {nil, nil, map[string]any{"platform": "cli", "user_id": fmt.Sprint(os.Getuid()),
			"unattended": false}},
		"whoever uses the TUI": {map[string]string{"HERMES_SESSION_SOURCE": "tui", "HERMES_UI_SESSION_ID": "w1"},
			[]string{"HOST_IS_GATEWAY=1"}, map[string]any{"platform": "cli", "id": "hermes:HOME:cli:w1"}},
		"a server's client": {with(map[string]string{"HERMES_SESSION_PLATFORM": "api_server"}), nil,
			map[string]any{"platform": "api_server"}},
		"a task of a board": {nil, []string{"HERMES_KANBAN_TASK=t_7", "HERMES_KANBAN_BOARD=ops", "HERMES_PROFILE=builder"},
			map[string]any{"id": "hermes:HOME:kanban:ops:t_7", "platform": "kanban", "unattended": true, "job": "kanban:ops:t_7",
				"profile": "builder"}},
		"a worker without a person":   {map[string]string{"HERMES_SESSION_SOURCE": "kanban"}, nil, nil},
		"nobody, in a gateway":        {nil, []string{"HOST_IS_GATEWAY=1"}, nil},
		"nobody, in an older gateway": {nil, []string{"HERMES_EXEC_ASK=1"}, nil},
		"a platform without a key":    {with(map[string]string{"HERMES_SESSION_KEY": ""}), nil, nil},
		"a key without a platform":    {with(map[string]string{"HERMES_SESSION_PLATFORM": ""}), []string{"HOST_IS_GATEWAY=1"}, nil},
		"a cleared session":           {map[string]string{}, []string{"HOST_IS_GATEWAY=1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan []byte, 8)
			env := append([]string{"HERMES_EXEC_ASK=", "BAILIFF_ENV=GITHUB_TOKEN, NPM_TOKEN"}, test.env...)
			h := start(t, plugin(t), "hookless", listen(t, asked), env...)
			r := h.call(t, "terminal", args{"command": "id"}, map[string]any{"session": test.bound})
			if !r.isBlocked() {
				t.Errorf("it is no blocked result: %v", r)
			}
			if test.want == nil {
				if len(asked) > 0 || !strings.Contains(r.text("error"), "whose session") {
					t.Errorf("it asked for nobody: %v", r)
				}
				return
			}
			var request struct {
				Session map[string]any
				Env     []string
			}
			if err := json.Unmarshal(<-asked, &request); err != nil {
				t.Fatal(err)
			}
			id, _ := request.Session["id"].(string)
			request.Session["id"] = ofHome.ReplaceAllString(id, "hermes:HOME:")
			for key, want := range test.want {
				if request.Session[key] != want {
					t.Errorf("%s is %v, want %v", key, request.Session[key], want)
				}
			}
			if !slices.Equal(request.Env, []string{"GITHUB_TOKEN", "NPM_TOKEN"}) {
				t.Errorf("it asked for %v", request.Env)
			}
		})
	}
}

// ofHome is how a session's id begins, by whose it is.
var ofHome = regexp.MustCompile(`^hermes:[0-9a-f]{12}:`)

// Bots of several homes, and of several profiles in one, may be in the same chat with
// the same keys.
func TestHomesAndProfilesShareNoSession(t *testing.T) {
	seen := map[string]string{}
	for _, home := range []string{"", "/srv/a", "/srv/b"} {
		for _, profile := range []string{"", "a", "b"} {
			asked := make(chan []byte, 8)
			h := start(t, plugin(t), "hookless", listen(t, asked), "HERMES_EXEC_ASK=", "HERMES_HOME="+home)
			bound := maps.Clone(chat)
			bound["HERMES_SESSION_PROFILE"] = profile
			h.call(t, "terminal", args{"command": "id"}, map[string]any{"session": bound})
			h.call(t, "terminal", args{"command": "id"}, map[string]any{"session": bound})
			var request struct{ Session struct{ ID string } }
			if err := json.Unmarshal(<-asked, &request); err != nil {
				t.Fatal(err)
			}
			id, which := request.Session.ID, fmt.Sprintf("profile %q in home %q", profile, home)
			if other, taken := seen[id]; taken || id == "" {
				t.Errorf("%s is in session %q, like %s", which, id, other)
			}
			seen[id] = which
			if err := json.Unmarshal(<-asked, &request); err != nil || request.Session.ID != id {
				t.Errorf("%s is in session %q, then in %q (%v)", which, id, request.Session.ID, err)
			}
		}
	}
}

// Hermes renames a conversation when it makes it shorter, and gives subagents
// conversations of their own.
func TestATerminalsConversationsShareItsSandboxUntilTheyEnd(t *testing.T) {
	h := start(t, plugin(t), "", serve(t).Agent, "HERMES_EXEC_ASK=")
	in := func(conversation string) map[string]any {
		return map[string]any{"session": nil, "ids": map[string]string{"session_id": conversation}}
	}
	h.call(t, "write_file", args{"path": "note", "content": "kept\n"}, in("c1"))
	if r := h.call(t, "terminal", args{"command": "cat note"}, in("c2")); r["output"] != "kept\n" {
		t.Errorf("a conversation that was renamed lost its files: %v", r)
	}
	h.hook(t, "on_session_finalize", args{"session_id": "c2", "platform": "cli", "reason": "shutdown"})
	if r := h.call(t, "terminal", args{"command": "cat note"}, in("c3")); r["exit_code"] != 1.0 {
		t.Errorf("/new kept the files: %v", r)
	}
}
