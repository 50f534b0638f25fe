package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func inBackground(session, command string, env ...string) bailiff.Request {
	req := inChat(session, command)
	req.Args.Background, req.Env = true, env
	return req
}

func attending(session, action, id, data string) bailiff.Request {
	req := inChat(session, "")
	req.Tool, req.Args = bailiff.Process, bailiff.Args{Action: action, ProcessID: id, Data: data, Timeout: 20}
	return req
}

func TestABackgroundProcessFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	for name, section := range isolated {
		t.Run(name, func(t *testing.T) {
			s := startSidecar(t, section)
			agent := s.client(t)
			started := ask(t, agent, inBackground("s1",
				`echo ready; while read -r line; do echo "got $line"; [ "$line" = quit ] && exit 3; done`))
			id := started.ProcessID
			if started.Status != bailiff.Completed || id == "" || started.Backend != name {
				t.Fatalf("answer is %+v", started)
			}
			awaittest.Until(t, "its first line", func() bool {
				a := ask(t, agent, attending("s1", "log", id, ""))
				return a.Output == "ready\n"
			})
			if a := ask(t, agent, attending("s1", "poll", id, "")); a.Output != "ready\n" {
				t.Errorf("the first poll told %q", a.Output)
			}
			ask(t, agent, attending("s1", "write", id, "hel"))
			ask(t, agent, attending("s1", "submit", id, "lo"))
			var polled string
			awaittest.Until(t, "its answer", func() bool {
				polled += ask(t, agent, attending("s1", "poll", id, "")).Output
				return polled != ""
			})
			if polled != "got hello\n" {
				t.Errorf("the next polls told %q", polled)
			}
			if a := ask(t, agent, inChat("s1", "echo beside it")); a.Status != bailiff.Completed || a.SandboxID != started.SandboxID {
				t.Errorf("a command beside it was answered %+v", a)
			}
			if a := ask(t, agent, attending("s2", "poll", id, "")); a.Status != bailiff.Failed || a.Code != bailiff.CodeProcess {
				t.Errorf("another session was answered %+v", a)
			}
			ask(t, agent, attending("s1", "submit", id, "quit"))
			if a := ask(t, agent, attending("s1", "wait", id, "")); a.ExitCode != 3 || a.Output != "got quit\n" ||
				a.Processes[0].Status != bailiff.Completed {
				t.Errorf("waiting was answered %+v", a)
			}
			if a := ask(t, agent, attending("s1", "list", "", "")); len(a.Processes) != 1 || *a.Processes[0].ExitCode != 3 {
				t.Errorf("listed are %+v", a.Processes)
			}
			if text := decisionLog(t, s); !strings.Contains(text, "Background process "+id+" ended.") {
				t.Error("its end is not in the decision log")
			}
		})
	}
}

func TestKillingAProcessEndsAllThatItStarted(t *testing.T) {
	t.Parallel()
	for name, section := range isolated {
		t.Run(name, func(t *testing.T) {
			agent := startSidecar(t, section).client(t)
			// One child stays, one is double-forked into a session of its own.
			id := ask(t, agent, inBackground("s1",
				`echo $$ > pids; sleep 1000 & echo $! >> pids; setsid sh -c 'sleep 1001 & echo $! >> pids' & wait`)).ProcessID
			beside := ask(t, agent, inBackground("s1", "sleep 1002")).ProcessID
			awaittest.Until(t, "three processes", func() bool { return ask(t, agent, inChat("s1", "wc -l < pids")).Output == "3\n" })
			const running = `for p in $(cat pids); do kill -0 $p 2>/dev/null && echo $p; done; true`
			if a := ask(t, agent, inChat("s1", running)); strings.Count(a.Output, "\n") != 3 {
				t.Fatalf("running are %q", a.Output)
			}
			a := ask(t, agent, attending("s1", "kill", id, ""))
			if a.Status != bailiff.Completed || a.Processes[0].Status != bailiff.Interrupted ||
				*a.Processes[0].ExitCode != bailiff.ExitInterrupted {
				t.Errorf("killing was answered %+v", a)
			}
			if a := ask(t, agent, inChat("s1", running)); a.Output != "" {
				t.Errorf("running are still %q", a.Output)
			}
			if a := ask(t, agent, attending("s1", "poll", beside, "")); !a.Processes[0].EndedAt.IsZero() {
				t.Errorf("the process beside it is %+v", a.Processes[0])
			}
		})
	}
}

func TestAProcessWithAVariableIsAloneAndItsOutputRedacted(t *testing.T) {
	t.Parallel()
	const value = "canary-2b8d6f01c4e7"
	folder := t.TempDir()
	variables := filepath.Join(folder, "variables.env")
	must(t, os.WriteFile(variables, []byte("LANG="+value+"\n"), 0o600))
	s := startSidecar(t, "backends: {bubblewrap: {}}", `env: {sources: ["file:`+variables+`"]}`)
	agent := s.client(t)
	id := ask(t, agent, inBackground("s1",
		`printf "it is ${LANG%??????}"; read -r x; printf "${LANG#?????????????}"; echo .; read -r x`, "LANG")).ProcessID
	var told string
	poll := func() bool {
		told += ask(t, agent, attending("s1", "poll", id, "")).Output
		return told != ""
	}
	awaittest.Until(t, "its first half", poll)
	if a := ask(t, agent, inChat("s1", "cat /proc/[0-9]*/environ")); a.Code != bailiff.CodeOccupied || !strings.Contains(a.Message, id) {
		t.Errorf("a command beside it was answered %+v", a)
	}
	ask(t, agent, attending("s1", "submit", id, ""))
	awaittest.Until(t, "its second half", func() bool { poll(); return strings.Contains(told, ".") })
	if strings.Contains(told, "canary") || !strings.Contains(told, "redacted") {
		t.Errorf("polls told %q", told)
	}
	ask(t, agent, attending("s1", "kill", id, ""))
	if a := ask(t, agent, inChat("s1", "echo free")); a.Output != "free\n" {
		t.Errorf("once it was gone the answer is %+v", a)
	}
}

func TestAProcessEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}}")
	agent := s.client(t)
	var a api.Answer
	for range 2 { // what one session leaves does not keep the next from its room
		a = ask(t, agent, inBackground("s1", "sleep 1003"))
		if a.Status != bailiff.Completed {
			t.Fatalf("answer is %+v", a)
		}
		if _, err := agent.EndSession(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
		if a := ask(t, agent, attending("s1", "list", "", "")); len(a.Processes) != 0 {
			t.Errorf("listed are %+v", a.Processes)
		}
	}
	if text := decisionLog(t, s); strings.Count(text, "ended. The session was ended") != 2 {
		t.Errorf("the ends are not in the decision log: %s", text)
	}
}
