package grafana_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// typed says what Grafana's types have against dashboards, by their names, line by line.
func typed(t *testing.T, texts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	must(t, os.CopyFS(folder, os.DirFS("testdata")))
	must(t, os.Symlink(filepath.Join(apptest.Clients(t), "node_modules"), filepath.Join(folder, "node_modules")))
	line := []string{"--strict", "--noEmit", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler", "--target", "esnext"}
	for name, text := range texts {
		file := filepath.Join(folder, name+".ts")
		must(t, os.WriteFile(file, fmt.Appendf(nil, "import type { Dashboard } from './dashboard'; export const it: Dashboard = %s", text),
			0o600))
		line = append(line, file)
	}
	check := exec.Command(apptest.Client(t, "tsc"), line...)
	check.Dir = folder
	printed, err := check.CombinedOutput()
	if err != nil && check.ProcessState.ExitCode() > 2 || check.ProcessState == nil {
		t.Fatalf("tsc: %v", err)
	}
	return string(printed)
}

func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("dashboards", name+".json"))
	must(t, err)
	return string(text)
}

func TestTheDashboardsAreWhatGrafanasTypesSay(t *testing.T) {
	texts := map[string]string{}
	for _, d := range dashboards(t) {
		texts[d.name] = source(t, d.name)
	}
	if faults := typed(t, texts); faults != "" {
		t.Error(faults)
	}
}

// The check would pass by itself if the types said nothing.
func TestGrafanasTypesFindFaults(t *testing.T) {
	texts, whole := map[string]string{}, source(t, "decisions")
	for name, change := range map[string][2]string{
		"key":      {`"gridPos"`, `"gridPosition"`},
		"option":   {`"showLegend"`, `"showLegends"`},
		"value":    {`"placement": "bottom"`, `"placement": "below"`},
		"kind":     {`"type": "timeseries"`, `"type": "timeserie"`},
		"number":   {`"schemaVersion": 41`, `"schemaVersion": "41"`},
		"variable": {`"type": "textbox"`, `"type": "text"`},
		"query":    {`"refId": "A",`, ``},
	} {
		texts[name] = strings.Replace(whole, change[0], change[1], 1)
		if texts[name] == whole {
			t.Errorf("there is no %s to change", change[0])
		}
	}
	faults := typed(t, texts)
	for name := range texts {
		if !strings.Contains(faults, name+".ts(") {
			t.Errorf("nothing is found wrong with the %s", name)
		}
	}
}
