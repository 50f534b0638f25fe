package apptest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// Machine is this machine as a real agent sees it: as it is, but with a home and a
// project of its own, the programs where their pages put them, at /usr/local/bin, and
// a sidecar at the address of one without a configuration.
type Machine struct {
	// Home and Project are folders, seen by the agent under the same names.
	Home, Project string
	folder        string
	// over are the files and folders that lie over those of the machine.
	over []string
}

// NewMachine is one with a sidecar at an address, or what a broken sidecar left of it. An agent
// on it finds the program given, in the folder of [Programs] or another.
func NewMachine(tb testing.TB, address, programs string) *Machine {
	tb.Helper()
	_, err := exec.LookPath("bwrap")
	backendtest.Needs(tb, "BUBBLEWRAP (run scripts/install-deps)", err)
	folder := OpenDir(tb)
	s := &Machine{Home: filepath.Join(folder, "home"), Project: filepath.Join(folder, "project"), folder: folder}
	for _, path := range []string{s.Home, s.Project, filepath.Join(folder, "tmp")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	s.over = []string{"--ro-bind", programs, "/usr/local/bin"}
	if socket := strings.TrimPrefix(address, "unix://"); exists(socket) {
		s.over = append(s.over, "--bind", socket, "/run/bailiff/agent.sock")
	}
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Save writes a file; of those below /etc the agent sees this one instead of its
// folder's own.
func (s *Machine) Save(tb testing.TB, path, text string) {
	tb.Helper()
	if below, ok := strings.CutPrefix(path, "/etc/"); ok {
		path = filepath.Join(s.folder, "etc", below)
		s.over = append(s.over, "--ro-bind", filepath.Dir(path), filepath.Join("/etc", filepath.Dir(below)))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// Claude is Claude Code with a model, in its project.
func (s *Machine) Claude(tb testing.TB, m *Model, args ...string) *exec.Cmd {
	tb.Helper()
	return s.command(tb, []string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=none", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false", "IS_SANDBOX=1"},
		append([]string{Client(tb, "claude"), "-p", "Do what is to be done."}, args...))
}

// Codex is Codex with a model, in its project. Its config.toml is the one given, with
// the model.
func (s *Machine) Codex(tb testing.TB, m *Model, config string, args ...string) *exec.Cmd {
	tb.Helper()
	s.Save(tb, filepath.Join(s.Home, ".codex", "config.toml"), "model_provider = \"scripted\"\n"+config+
		"\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \""+m.URL+"/v1\"\nwire_api = \"responses\"\n")
	return s.command(tb, nil, append([]string{Client(tb, "codex"), "exec", "--skip-git-repo-check", "--json"},
		append(args, "Do what is to be done.")...))
}

// Gemini is Gemini CLI with a model, in its project, which it trusts. It asks nobody.
func (s *Machine) Gemini(tb testing.TB, m *Model, args ...string) *exec.Cmd {
	tb.Helper()
	path := filepath.Join(s.Home, ".gemini", "settings.json")
	settings := object{}
	if text, err := os.ReadFile(path); err == nil { // a test's own
		err = json.Unmarshal(text, &settings)
		backendtest.Must(tb, err)
	}
	settings["security"] = object{"auth": object{"selectedType": "gemini-api-key"}}
	text, err := json.Marshal(settings)
	backendtest.Must(tb, err)
	s.Save(tb, path, string(text))
	return s.command(tb, []string{"GOOGLE_GEMINI_BASE_URL=" + m.URL, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_CLI_NO_RELAUNCH=true"},
		append([]string{Client(tb, "gemini"), "--model", "gemini-2.5-flash", "--yolo", "--prompt", "Do what is to be done."}, args...))
}

// Qwen is Qwen Code with a model, in its project. It asks no person.
func (s *Machine) Qwen(tb testing.TB, m *Model, args ...string) *exec.Cmd {
	tb.Helper()
	return s.command(tb, []string{"OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_API_KEY=none", "OPENAI_MODEL=scripted"},
		append([]string{Client(tb, "qwen"), "--auth-type", "openai", "--yolo", "--prompt", "Do what is to be done."}, args...))
}

// Copilot is Copilot CLI with a model, which needs no account, in its project. It asks no person. What it unpacks at its first start,
// 190 MB, stays for other tests.
func (s *Machine) Copilot(tb testing.TB, m *Model, args ...string) *exec.Cmd {
	tb.Helper()
	return s.command(tb, []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + m.URL + "/v1", "COPILOT_PROVIDER_API_KEY=none",
		"COPILOT_AUTO_UPDATE=false", "XDG_CACHE_HOME=" + filepath.Join(Clients(tb), ".cache")},
		append([]string{Client(tb, "copilot"), "--model", "scripted", "--allow-all-tools", "--prompt", "Do what is to be done."}, args...))
}

// Opencode is opencode with a model, in its project. Its opencode.json has these
// servers of tools.
func (s *Machine) Opencode(tb testing.TB, m *Model, servers map[string]any) *exec.Cmd {
	tb.Helper()
	config, err := json.Marshal(object{"model": "scripted/scripted", "mcp": servers, "provider": object{"scripted": object{
		"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": m.URL + "/v1", "apiKey": "none"},
		"models": object{"scripted": object{}}}}})
	if err != nil {
		tb.Fatal(err)
	}
	s.Save(tb, filepath.Join(s.Home, ".config", "opencode", "opencode.json"), string(config))
	return s.command(tb, []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"},
		[]string{Client(tb, "opencode"), "run", "--format", "json", "Do what is to be done."})
}

// command starts a program there. Its processes end with it.
func (s *Machine) command(tb testing.TB, env, program []string) *exec.Cmd {
	tb.Helper()
	// The mounts are its own from before bubblewrap reads them: those of an engine come and go meanwhile.
	argv := append(append([]string{"unshare", "--mount", "--map-root-user", "--", "bwrap"}, append(s.mounts(tb), "--")...), program...)
	command := exec.Command(argv[0], argv[1:]...)
	command.Dir = s.Project
	command.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+s.Home, "XDG_RUNTIME_DIR=/run",
		"TMPDIR="+filepath.Join(s.folder, "tmp"), "SHELL=/bin/bash")
	return command
}

// mounts are the arguments by which bubblewrap shows it: folders into which
// something is put that may be missing there are laid out again.
func (s *Machine) mounts(tb testing.TB) []string {
	args := []string{"--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/etc"}
	inside, err := os.ReadDir("/etc")
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range inside {
		path := filepath.Join("/etc", entry.Name())
		args = append(args, "--ro-bind-try", path, path)
	}
	return append(args, s.over...)
}

// Work has an agent, which has this model, work to a good end, and returns what the
// agent told it of each call.
func (m *Model) Work(tb testing.TB, agent *exec.Cmd) (told []string) {
	tb.Helper()
	var printed, said bytes.Buffer
	agent.Stdout, agent.Stderr = &printed, &said
	err := agent.Run()
	if told = m.Results(); err != nil || len(told) != m.calls {
		tb.Fatalf("%s: %v; of %d calls it ended %d: %q; on offer were %v\n%s\n%s", filepath.Base(agent.Path), err, m.calls,
			len(told), told,
			m.Offers(), printed.String(), said.String())
	}
	return told
}

// Mark is a path at which there is nothing, in a folder that is there in sandboxes too:
// what a command makes of it shows where the command ran.
func Mark(tb testing.TB) (path string) {
	tb.Helper()
	path, err := os.MkdirTemp("/tmp", "mark") // which a sandbox has, too
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(path) })
	return path
}

// WantNoMark checks that nothing made the mark on this machine.
func WantNoMark(tb testing.TB, mark string) {
	tb.Helper()
	if _, err := os.Lstat(mark); err == nil {
		tb.Errorf("it ran on this machine: %s is there", mark)
	}
}
