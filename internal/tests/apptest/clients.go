package apptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// Clients is the folder with what scripts/install-clients installs from npm: the
// programs are in node_modules/.bin. Nothing in there may be changed.
func Clients(tb testing.TB) string {
	tb.Helper()
	printed, err := exec.Command(filepath.Join(Root(tb), "scripts", "install-clients"), "--where").Output()
	if err != nil {
		tb.Fatalf("finding the clients from npm: %v", err)
	}
	folder := strings.TrimSpace(string(printed))
	_, err = os.Stat(folder)
	backendtest.Needs(tb, "CLIENTS FROM NPM (run scripts/install-clients)", err)
	return folder
}

// Client is the path of one of their programs, such as "codex".
func Client(tb testing.TB, program string) string {
	tb.Helper()
	return filepath.Join(Clients(tb), "node_modules", ".bin", program)
}
