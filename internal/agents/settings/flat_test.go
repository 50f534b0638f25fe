package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// In a flat file an entry is itself a hook. The ones of others stay where they are, and root may let none of a user's run.
func TestAFlatFileKeepsTheHooksOfOthersAndTellsWhatRootSwitchesOff(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	own, managed := filepath.Join(folder, "own.json"), filepath.Join(folder, "managed.json")
	f := HooksFile{Client: "x", Name: "X", Flat: true, Command: "bash", Roots: filepath.Join(folder, "root.json"), Managed: managed,
		Table: hook.Table{Before: "pre", Limit: hook.Limit{Key: "timeoutSec", Units: 1}}, Path: func(Entry) string { return own }}
	e := Entry{Listen: "unix:///run/a.sock", Programs: "/opt/b", Home: folder, Getenv: func(string) string { return "" }}
	const others = `{"type": "command", "bash": "mine", "matcher": "edit"}`
	if err := os.WriteFile(own, []byte(`{"hooks": {"pre": [`+others+`]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	changes, err := f.Add(e)
	if err != nil || len(changes) != 1 || Write(changes) != nil {
		t.Fatalf("%+v, %v", changes, err)
	}
	hooks, err := f.FileHooks(e)
	if err != nil || len(hooks) != 1 || hooks[0].Line != e.Hook("x") || hooks[0].Limit != UsualLimit || hooks[0].Off != "" {
		t.Errorf("found are %+v, %v", hooks, err)
	}
	if what, _ := hooks[0].Fault(); what != "" {
		t.Error(what)
	}
	if again, err := f.Add(e); err != nil || !again[0].IsNone() {
		t.Errorf("added once more it is %+v, %v", again, err)
	}
	if err := os.WriteFile(managed, []byte(`{"allowManagedHooksOnly": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if hooks, err := f.FileHooks(e); err != nil || len(hooks) != 1 || !strings.Contains(hooks[0].Off, "root's hooks only") {
		t.Errorf("switched off are %+v, %v", hooks, err)
	}
	left, err := f.Remove(e)
	if err != nil || strings.Contains(left[0].After, "bailiff-hook") || !strings.Contains(left[0].After, `"mine"`) {
		t.Errorf("left is %+v, %v", left, err)
	}
}
