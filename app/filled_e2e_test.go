package app

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestASessionIsToldOfAWorkspaceBeyondItsBound(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			_, policies := shippedWith(t, "      cli: {isolation: optional, ",
				"      cli: {isolation: optional, limits: {workspace_mb: 8, workspace_files: 200}, ")
			s := startOffice(t, openDir(t), onePerson(t, section, policies))
			tell := func(command string) api.Answer {
				req := atTerminal("s", command)
				req.Backend = ""
				return ask(t, s.agent, req)
			}
			wants(t, tell("echo small > file"), bailiff.Completed, "")
			fills := atTerminal("s", "head -c 16M /dev/zero > big; echo full; read line")
			fills.Backend, fills.Args.Background = "", true
			started := ask(t, s.agent, fills)
			process := atTerminal("s", "")
			process.Tool, process.Backend, process.Args = bailiff.Process, "", bailiff.Args{Action: "log", ProcessID: started.ProcessID}
			awaittest.Until(t, "the file to be written", func() bool { return strings.Contains(ask(t, s.agent, process).Output, "full") })
			awaittest.Until(t, "the next command to be told", func() bool {
				return strings.Contains(tell("true").Message, "may have 8 (workspace_mb): what makes it grow is stopped")
			})
			awaittest.Until(t, "the process to be stopped", func() bool {
				process.Args.Action = "poll"
				state := ask(t, s.agent, process).Processes
				return len(state) == 1 && state[0].Status == bailiff.Interrupted
			})
			if gone := tell("rm big"); gone.ExitCode != 0 {
				t.Errorf("deleting files: %+v", gone)
			}
			awaittest.Until(t, "the workspace to be within its bound", func() bool { return tell("true").Message == "" })
		})
	}
}
