package ssh_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

// BenchmarkCommandOverSSH runs a command in live sandboxes and by the ssh command over
// a connection that stands, by turns: medians, and their ratios.
func BenchmarkCommandOverSSH(b *testing.B) {
	server := remotetest.Serve(b, remotetest.Options{})
	master := standing(b, server)
	took := backendtest.ByTurns(b, map[string]func() error{
		"ssh":        func() error { return exec.Command("ssh", append(master, "true")...).Run() },
		"bare":       inside(b, made(b, section(server, server.User(b))), spec),
		"bubblewrap": inside(b, boxed(b, server, "root"), boxes),
	})
	b.ReportMetric(float64(backendtest.Median(took["bare"]))/float64(backendtest.Median(took["ssh"])), "ratio")
	b.ReportMetric(float64(backendtest.Median(took["bubblewrap"]))/float64(backendtest.Median(took["ssh"])), "bubblewrap-ratio")
}

// standing is the beginning of a command line of ssh, over a connection that stays.
func standing(b *testing.B, server *remotetest.Server) []string {
	b.Helper()
	program, err := exec.LookPath("ssh")
	backendtest.Needs(b, "THE SSH COMMAND", err)
	socket := filepath.Join(b.TempDir(), "master")
	master := []string{"-F", "none", "-S", socket, "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=" + filepath.Join(server.Folder,
		"known_hosts"),
		"-i", filepath.Join(server.Folder, "user"), "-p", server.Port(), server.User(b) + "@127.0.0.1"}
	cmd := exec.Command(program, append([]string{"-M", "-N", "-f"}, master...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("connecting: %v\n%s", err, out)
	}
	b.Cleanup(func() { _ = exec.Command(program, append([]string{"-O", "exit"}, master...)...).Run() })
	return master
}

// inside runs a command in a sandbox that stands.
func inside(b *testing.B, backend backends.Backend, wanted backends.Spec) func() error {
	b.Helper()
	sandbox, err := backend.Open(b.Context(), wanted)
	backendtest.Must(b, err)
	b.Cleanup(func() { sandbox.Close(b.Context()) })
	return func() error {
		_, err := sandbox.Run(b.Context(), runner.Shell("true"), func([]byte) {})
		return err
	}
}
