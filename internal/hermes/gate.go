package hermes

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// canary is what must be denied. Were it run by mistake, it would do nothing.
const canary = "false && rm -rf --no-preserve-root /"

//go:embed canary.py
var canaryScript string

// patience is how long all canaries together may take.
const patience = 2 * time.Minute

// canaryCall is what came of one canary, at a platform or, without one, with no sidecar
// to ask.
type canaryCall struct {
	Platform string `json:"platform"`
	Error    string `json:"error"`
	Outcome  string `json:"outcome"`
	Hook     string `json:"hook"`
	Result   string `json:"result"`
	Raised   string `json:"raised"`
	Ran      bool   `json:"ran"`
}

// examineGate has the plug-in, in a Python of its own, ask for what must be denied. It
// is the shipped one, not read from the home, where it could change meanwhile.
func (h *Home) examineGate(ctx context.Context, d *Diagnosis) {
	calls, err := h.tryGate(ctx)
	if err != nil {
		d.fail("gate", "It could not be tried: "+err.Error()+".", "")
		return
	}
	for _, t := range calls {
		name, proof := "gate "+t.Platform, "A command that must be denied is denied, and blocked by the plug-in."
		if t.Platform == "" {
			name, proof = "gate without a sidecar", "With no sidecar to ask, the plug-in blocks."
		}
		if fault, do := t.fault(); fault != "" {
			d.fail(name, fault, do)
			continue
		}
		d.fine(name, "%s", proof)
	}
}

// fault is what is wrong with what came of a canary, and what would mend it.
func (t canaryCall) fault() (fault, do string) {
	var hook struct{ Action string }
	var result struct {
		Output   *string `json:"output"`
		ExitCode int     `json:"exit_code"`
		Error    string  `json:"error"`
		Status   string  `json:"status"`
	}
	switch {
	case t.Ran:
		return "The plug-in let Hermes run it.", "Do not use this plug-in."
	case t.Error != "":
		return "The plug-in cannot ask the sidecar: " + strings.TrimSuffix(t.Error, ".") + ".", "See the checks of the sidecar and its listener."
	case t.Outcome != "deny":
		return fmt.Sprintf("The policies do not deny %q: %s.", canary, t.Outcome), "Look at your policies: bailiff test, bailiff decide."
	case t.Raised != "":
		return "The plug-in raised " + t.Raised + ", which Hermes takes for leave to go on.", "Do not use this plug-in."
	case json.Unmarshal([]byte(t.Hook), &hook) != nil || hook.Action != "block":
		return "The plug-in's hook does not block it.", "Do not use this plug-in."
	case json.Unmarshal([]byte(t.Result), &result) != nil || result.Output == nil || *result.Output != "" || result.ExitCode != -1 ||
		result.Status != "blocked" || !strings.HasPrefix(result.Error, "BLOCKED: "):
		return "The plug-in's result is not the blocked one.", "Do not use this plug-in."
	}
	return "", ""
}

func (h *Home) tryGate(ctx context.Context) ([]canaryCall, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := h.python(ctx)
	if err != nil {
		return nil, err
	}
	job, err := json.Marshal(h.job())
	if err != nil {
		return nil, err
	}
	var printed, complaint bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(job), &printed, &complaint, time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("starting the plug-in: %w%s", err, complaint.lastLine())
	}
	var calls []canaryCall
	if err := json.Unmarshal(printed.text, &calls); err != nil {
		return nil, fmt.Errorf("reading what came of it: %w", err)
	}
	return calls, nil
}

// job says what is to be tried; settings are those that Hermes would hand over.
func (h *Home) job() map[string]any {
	settings := map[string]any{}
	for _, key := range h.settings.below(pluginSettings) {
		said, _ := h.settings.of(key)
		if _, unread := said.value.(odd); !unread {
			settings[strings.TrimPrefix(key, pluginSettings)] = said.value
		}
	}
	return map[string]any{
		"modules": modules(), "settings": settings, "command": canary, "platforms": append(h.Platforms(), "cli"),
		"nowhere": "unix:///nonexistent/bailiff.sock",
	}
}

// modules are the shipped plug-in's.
func modules() map[string]string {
	texts := map[string]string{}
	shipped(func(name string, text []byte) { texts[name] = string(text) })
	return texts
}

// environment is what is set for the plug-in by variables, of .env and, stronger,
// of whoever asks.
func (h *Home) environment() []string {
	all := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range sortedNames(h.settings.variables) {
		if strings.HasPrefix(name, pluginVariables) {
			all = append(all, name+"="+h.settings.variables[name].value.Reveal())
		}
	}
	return append(all, slices.DeleteFunc(os.Environ(), func(pair string) bool { return !strings.HasPrefix(pair, pluginVariables) })...)
}

// bounded keeps what a program prints, which may be made to print on and on.
type bounded struct{ text []byte }

func (b *bounded) Write(more []byte) (int, error) {
	if len(b.text)+len(more) > maxFile {
		return 0, errors.New("it prints too much")
	}
	b.text = append(b.text, more...)
	return len(more), nil
}

// lastLine is the end of what a program that failed had to say.
func (b *bounded) lastLine() string {
	said := strings.TrimSpace(string(b.text))
	if said == "" {
		return ""
	}
	return ": " + said[strings.LastIndexByte(said, '\n')+1:]
}

// python starts Python as the user whose home it is, since the sidecar is to see that
// user ask. Other programs of that user's could take it over, so it has no terminal:
// into one that is root's, they could type.
func (h *Home) python(ctx context.Context) (*exec.Cmd, error) {
	var program string
	var err error
	self := uint32(os.Geteuid()) //nolint:gosec // a uid fits
	switch {
	case self == h.Owner:
		program, err = exec.LookPath("python3")
	case self != 0:
		return nil, fmt.Errorf("the home belongs to uid %d: run this as that user, or as root", h.Owner)
	default: // root's own folders may be shut to others
		program, err = exec.LookPath("/usr/local/bin/python3")
		if err != nil {
			program, err = exec.LookPath("/usr/bin/python3")
		}
	}
	if err != nil {
		return nil, errors.New("there is no python3, which Hermes needs too")
	}
	cmd := exec.CommandContext(ctx, program, "-I", "-B", "-c", canaryScript)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", h.environment(), &syscall.SysProcAttr{Setsid: true}
	if self != h.Owner {
		cmd.SysProcAttr.Credential = h.credential()
	}
	return cmd, nil
}

// credential is the owner's, with the groups that a socket may be open to.
func (h *Home) credential() *syscall.Credential {
	owner, err := user.LookupId(strconv.FormatUint(uint64(h.Owner), 10))
	if err != nil {
		return &syscall.Credential{Uid: h.Owner, Gid: h.Owner}
	}
	return credentialOf(h.Owner, owner)
}

func credentialOf(uid uint32, owner *user.User) *syscall.Credential {
	credential := &syscall.Credential{Uid: uid, Gid: uid}
	if gid, err := strconv.ParseUint(owner.Gid, 10, 32); err == nil {
		credential.Gid = uint32(gid)
	}
	groups, _ := owner.GroupIds()
	for _, group := range groups {
		if gid, err := strconv.ParseUint(group, 10, 32); err == nil {
			credential.Groups = append(credential.Groups, uint32(gid))
		}
	}
	return credential
}
