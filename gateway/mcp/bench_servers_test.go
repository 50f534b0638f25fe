package mcp

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// weather is a server of one tool.
const weather = `import json, sys
tool = {"name": "get_weather", "description": "The weather.", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}
for line in sys.stdin:
    said = json.loads(line)
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "weather", "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": "Rain."}]},
    }
    if said.get("method") in results:
        print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": results[said["method"]]}), flush=True)
`

// BenchmarkServers reads what 50 servers take of the memory of a sidecar that has one already, and what each of the programs does that
// their clients start: resident, 20 s after each answered a call of its tool.
func BenchmarkServers(b *testing.B) {
	folder := apptest.OpenDir(b)
	backendtest.Must(b, os.WriteFile(filepath.Join(folder, "weather.py"), []byte(weather), 0o644)) //nolint:gosec // sandboxes read it
	s := apptest.Serve(b, append(showing(b, folder, "", "weather: {get_weather: allow}"), "limits: {sandboxes: {user: 60}}")...)
	for b.Loop() {
		converse(b, s, 1)
		time.Sleep(20 * time.Second)
		before := residentMB(b, s.PID())
		hooks := converse(b, s, 50)
		time.Sleep(20 * time.Second)
		b.ReportMetric((residentMB(b, s.PID())-before)/50, "sidecar-MB/server")
		most := 0.0
		for _, pid := range hooks {
			most = max(most, residentMB(b, pid))
		}
		b.ReportMetric(most, "largest-stdio-end-MB")
		b.ReportMetric(0, "ns/op")
	}
}

// converse starts servers, calls the tool of each once, and leaves them open; it returns the programs that speak with them.
func converse(b *testing.B, s *apptest.Sidecar, servers int) (pids []int) {
	b.Helper()
	operators := s.Operators(b)
	for range servers {
		cmd := exec.Command(filepath.Join(apptest.Programs(b), "bailiff-hook"), "mcp", "weather", "--listen", s.Agent, "--",
			"python3", "/srv/example/weather.py")
		in, err := cmd.StdinPipe()
		backendtest.Must(b, err)
		out, err := cmd.StdoutPipe()
		backendtest.Must(b, err)
		backendtest.Must(b, cmd.Start())
		b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		lines := bufio.NewScanner(out)
		ask := func(message, want string) {
			_, err := fmt.Fprintln(in, message)
			backendtest.Must(b, err)
			for lines.Scan() {
				if strings.Contains(lines.Text(), `"id"`) {
					break
				}
			}
			if !strings.Contains(lines.Text(), want) {
				b.Fatalf("asked %s it answers %s", message, lines.Text())
			}
		}
		ask(begins, "weather")
		if shown, err := operators.MCPServer(b.Context(), "weather"); err == nil && !shown.Trusted {
			_, err = operators.TrustMCP(b.Context(), "weather", shown.Digest)
			backendtest.Must(b, err)
		}
		ask(`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_weather", "arguments": {"city": "Oslo"}}}`,
			"Rain.")
		pids = append(pids, cmd.Process.Pid)
	}
	return pids
}

const begins = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, ` +
	`"clientInfo": {"name": "b", "version": "1"}}}`

// residentMB is what a process has in memory.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	backendtest.Must(b, err)
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	backendtest.Must(b, err)
	return float64(kilobytes) / 1024
}
