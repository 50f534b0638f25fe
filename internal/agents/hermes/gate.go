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

	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
)

// canary is what must be denied. Were it run by mistake, it would do nothing.
const canary = "false && rm -rf --no-preserve-root /"

//go:embed canary.py
var canaryScript string

// patience is how long all canaries together may take, silence how long the sidecar
// may be silent on one.
const (
	patience = time.Minute
	silence  = 10 * time.Second
)

// canaries are what came of all of them; Settings says why there are none.
type canaries struct {
	Settings string       `json:"settings"`
	Calls    []canaryCall `json:"calls"`
}

// canaryCall is what came of one canary, at a platform or, without one, with no sidecar
// to ask.
type canaryCall struct {
	Platform string `json:"platform"`
	Error    string `json:"error"`
	Code     string `json:"code"`
	Outcome  string `json:"outcome"`
	Hook     string `json:"hook"`
	Result   string `json:"result"`
	Raised   string `json:"raised"`
	Ran      bool   `json:"ran"`
}

// examineGate has the plug-in, in a Python of its own, ask for what must be denied. It
// is the shipped one, not read from the home, where it could change meanwhile.
func (h *Home) examineGate(ctx context.Context, d *Diagnosis) {
	told, err := h.tryGate(ctx)
	switch {
	case err != nil:
		d.Checks.Fail("gate", "It could not be tried: "+err.Error()+".", "")
		return
	case told.Settings != "":
		d.Checks.Fail("plug-in settings", "The plug-in blocks everything: "+told.Settings+".", "Correct that, and restart Hermes.")
		return
	}
	for _, t := range told.Calls {
		name, proof := "gate "+t.Platform, "A command that must be denied is denied, and blocked by the plug-in"+h.asWhom()+"."
		if t.Platform == "" {
			name, proof = "gate without a sidecar", "With no sidecar to ask, the plug-in blocks."
		}
		if fault, do := t.fault(); fault != "" {
			d.Checks.Fail(name, fault, do)
			continue
		}
		d.Checks.Fine(name, "%s", proof)
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
	case t.Code == "unauthorized":
		return "The sidecar refuses the plug-in's token: " + strings.TrimSuffix(t.Error, ".") + ".",
			"Let " + pluginSettings + "token_file (or BAILIFF_TOKEN_FILE) name a file with the token of that listener's token_file."
	case t.Error != "":
		return "The plug-in cannot ask the sidecar: " + strings.TrimSuffix(t.Error, ".") + ".", ""
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

// asWhom says as whom the sidecar was asked, where that is not who asks for it.
func (h *Home) asWhom() string {
	if int(h.Owner) == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf("; asked as uid %d, whose home it is", h.Owner)
}

func (h *Home) tryGate(ctx context.Context) (canaries, error) {
	var told canaries
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	program, err := h.python()
	if err != nil {
		return told, err
	}
	job, err := json.Marshal(h.job())
	if err != nil {
		return told, err
	}
	cmd := h.asOwner(ctx, program, "-I", "-B", "-c", canaryScript)
	cmd.Stdin = bytes.NewReader(job)
	printed, err := run(cmd)
	switch {
	case ctx.Err() != nil:
		return told, fmt.Errorf("the plug-in fell silent for %s", patience)
	case err != nil:
		return told, fmt.Errorf("starting the plug-in by %s: %w", program, err)
	}
	if err := json.Unmarshal(printed, &told); err != nil {
		return told, fmt.Errorf("reading what came of it: %w", err)
	}
	return told, nil
}

// job says what is to be tried; entry is what Hermes would hand over.
func (h *Home) job() map[string]any {
	return map[string]any{
		"modules": modules(), "entry": h.entry(), "command": canary, "platforms": append(h.Platforms(), "cli"),
		"nowhere": "unix:///nonexistent/bailiff.sock", "patience": silence.Seconds(),
	}
}

// entry is what config.yaml says of the plug-in, but for values that are not read.
func (h *Home) entry() map[string]any {
	entry := map[string]any{}
	for _, key := range h.settings.below(pluginEntry) {
		said, _ := h.settings.of(key)
		if _, unread := said.value.(odd); unread {
			continue
		}
		within, names := entry, strings.Split(strings.TrimPrefix(key, pluginEntry), ".")
		for _, name := range names[:len(names)-1] {
			inner, ok := within[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				within[name] = inner
			}
			within = inner
		}
		within[names[len(names)-1]] = jsonOf(said.value)
	}
	return entry
}

// jsonOf is a value as JSON has it, whose numbers are fewer than YAML's.
func jsonOf(value any) any {
	if number, ok := value.(json.Number); ok && !json.Valid([]byte(number)) {
		return string(number)
	}
	return value
}

// modules are the shipped plug-in's.
func modules() map[string]string {
	texts := map[string]string{}
	shipped(func(name string, text []byte) { texts[name] = string(text) })
	return texts
}

// environment is what is set for the plug-in by variables, of .env and, stronger,
// of this process.
func (h *Home) environment() []string {
	all := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range sortedNames(h.settings.variables) {
		if strings.HasPrefix(name, pluginVariables) {
			all = append(all, name+"="+h.settings.variables[name].value.Reveal())
		}
	}
	return append(all, slices.DeleteFunc(os.Environ(), func(pair string) bool { return !strings.HasPrefix(pair, pluginVariables) })...)
}

// run is what a program prints; an error has the end of what it complains of.
func run(cmd *exec.Cmd) ([]byte, error) {
	var printed, complaint bounded
	cmd.Stdout, cmd.Stderr = &printed, &complaint
	program, err := subprocess.Start(cmd)
	if err == nil {
		err = program.Wait()
	}
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, complaint.lastLine())
	}
	return printed.text, nil
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

// python is a Python for the plug-in.
func (h *Home) python() (program string, err error) {
	self := uint32(os.Geteuid()) //nolint:gosec // a uid fits
	switch {
	case self == h.Owner:
		program, err = exec.LookPath("python3")
	case self != 0:
		return "", fmt.Errorf("the home belongs to uid %d, and this is uid %d: run it as that user, or as root", h.Owner, self)
	default: // root's own folders may be shut to others
		program, err = exec.LookPath("/usr/local/bin/python3")
		if err != nil {
			program, err = exec.LookPath("/usr/bin/python3")
		}
	}
	if err != nil {
		return "", errors.New("there is no python3, which Hermes needs too")
	}
	return program, nil
}

// asOwner starts a program as the user whose home it is, since the sidecar is to see
// that user ask. Other programs of that user's could take it over, so it has no
// terminal: into one that is root's, they could type.
func (h *Home) asOwner(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := subprocess.Command(ctx, program, args...)
	cmd.Env = h.environment()
	if uint32(os.Geteuid()) != h.Owner { //nolint:gosec // a uid fits
		cmd.SysProcAttr.Credential = h.credential()
	}
	return cmd
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
