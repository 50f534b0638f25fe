package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// The user's service, and the unit that says it.
const (
	serviceName = "bailiff"
	unitName    = serviceName + ".service"
)

// StopLine is what [Survey.Stop] does, as a line that a person can run.
const StopLine = "systemctl --user disable --now " + serviceName

// unitMark is how a unit that was written here is told from one of the user's own.
const unitMark = "# Written by \"bailiff setup\"."

// HasManager says whether the user has a service manager, which can start a sidecar.
func HasManager(ctx context.Context) bool {
	return exec.CommandContext(ctx, "systemctl", "--user", "show-environment").Run() == nil
}

// ServiceChange is the unit by which the user's service manager starts the sidecar. A unit of
// that name which was not written here stays.
func (s *Survey) ServiceChange() (settings.Change, error) {
	c, err := settings.Read(filepath.Join(s.in.Home, ".config", "systemd", "user", unitName), "starts the sidecar", 0o644)
	if err != nil || c.Before != "" && !strings.HasPrefix(c.Before, unitMark) {
		return c, err
	}
	if s.otherIn(c.Before) == "" {
		c.After = s.unit()
	}
	return c, nil
}

// OtherService is the configuration of the user's service, where that is another one than this; empty where it is not. A user
// has one service: that of another configuration stays as it is.
func (s *Survey) OtherService() string {
	c, err := s.ServiceChange()
	if err != nil {
		return ""
	}
	return s.otherIn(c.Before)
}

// otherIn is the other configuration that a unit names, which was written here.
func (s *Survey) otherIn(unit string) string {
	if !strings.HasPrefix(unit, unitMark) || strings.Contains(unit, s.serves()+"\n") {
		return ""
	}
	_, word, _ := strings.Cut(unit, serveWords)
	word, _, _ = strings.Cut(word, "\n")
	return unitText(word)
}

// refuseOtherService keeps a new configuration from taking the sockets and the state of the one that the user's service has.
func (s *Survey) refuseOtherService() error {
	if other := s.OtherService(); other != "" && s.fresh() {
		return fmt.Errorf("your service is that of %s, and a sidecar of a new configuration would want the same sockets and "+
			"state: add the project there, by --config %s", other, shellquote.Quote(other))
	}
	return nil
}

// IsService says whether the user's service manager starts the sidecar of this configuration by a unit that was written
// here. A unit may be that of another configuration of the user's.
func (s *Survey) IsService() bool {
	c, err := s.ServiceChange()
	return err == nil && strings.HasPrefix(c.Before, unitMark) && strings.Contains(c.Before, s.serves()+"\n")
}

// serves are the words of the unit that name the configuration.
func (s *Survey) serves() string { return serveWords + unitWord(s.File) }

const serveWords = " serve --config "

// Serves is for what the sidecar is needed still, after a removal was written. What is in doubt counts.
func (s *Survey) Serves() (needs []string) {
	for _, folder := range s.left {
		needs = append(needs, "the folder "+folder)
	}
	for _, name := range agents.Names() {
		if lacking, err := agents.Lacking(name, s.Entry()); err == nil && len(lacking) == 0 && name != s.in.Agent {
			needs = append(needs, name)
		}
	}
	for _, l := range s.cfg.Agent.Listeners {
		if !slices.Equal(l.Platforms, []string{"cli"}) {
			needs = append(needs, "the listener "+l.Name)
		}
	}
	for _, service := range s.cfg.Chat.Services() {
		needs = append(needs, "the chat "+service)
	}
	if s.cfg.Store.Peer.Listen != "" {
		needs = append(needs, "the sidecars that reach it by store.peer")
	}
	return needs
}

// unit gives its control groups away, so that sandboxes of bubblewrap have their limits.
func (s *Survey) unit() string {
	return fmt.Sprintf(`%s
[Unit]
Description=bailiff, which judges, sandboxes and logs the commands of agents

[Service]
Type=exec
ExecStart=%s%s
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=30
Delegate=yes
UMask=0077

[Install]
WantedBy=default.target
`, unitMark, unitWord(filepath.Join(s.in.Programs, "bailiff")), s.serves())
}

// unitWord writes a word of a command line as systemd reads it.
func unitWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(word) + `"`
}

// unitText is the word that [unitWord] wrote.
func unitText(written string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%", "$$", "$").Replace(strings.Trim(written, `"`))
}

// Restart has the service manager start the sidecar anew, with what is written now.
func Restart(ctx context.Context) error {
	return systemctl(ctx, "starting", []string{"daemon-reload"}, []string{"enable", unitName}, []string{"restart", unitName})
}

// Stop has the service manager end the sidecar and start it no more, and takes the unit away.
func (s *Survey) Stop(ctx context.Context) error {
	unit, err := s.ServiceChange()
	if err == nil {
		err = systemctl(ctx, "stopping", []string{"disable", "--now", unitName})
	}
	if err == nil {
		err = os.Remove(unit.Path)
	}
	if err == nil {
		err = systemctl(ctx, "stopping", []string{"daemon-reload"})
	}
	return err
}

func systemctl(ctx context.Context, doing string, lines ...[]string) error {
	for _, words := range lines {
		cmd := exec.CommandContext(ctx, "systemctl", append([]string{"--user"}, words...)...)
		cmd.Env = os.Environ() // by which the manager is found
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s the sidecar by systemctl --user %s: %w: %s", doing, strings.Join(words, " "), err,
				bailiff.Foreign(string(said)))
		}
	}
	return nil
}

// Lingers says whether the user's services go on without a login of the user.
func Lingers() bool {
	me, err := user.Current()
	return err == nil && settings.Exists(filepath.Join("/var/lib/systemd/linger", me.Username))
}

// Launch does what [Survey.Line] does, in a session of its own, so that no terminal ends the sidecar. What it says is in the log.
func (s *Survey) Launch() (sidecar *exec.Cmd, log string, err error) {
	log = backends.RealPath(filepath.Join(s.cfg.StateDir, "serve.log"))
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return nil, log, fmt.Errorf("making the sidecar's state folder: %w", err)
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, log, fmt.Errorf("opening the sidecar's log: %w", err)
	}
	defer file.Close()
	sidecar = exec.Command(filepath.Join(s.in.Programs, "bailiff"), "serve", "--config", s.File) //nolint:gosec // bailiff itself
	sidecar.Env, sidecar.Stdout, sidecar.Stderr = os.Environ(), file, file
	sidecar.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := sidecar.Start(); err != nil {
		return nil, log, fmt.Errorf("starting the sidecar: %w", err)
	}
	return sidecar, log, nil
}

// Line is what starts the sidecar where no service manager does.
func (s *Survey) Line() string {
	return shellquote.Join(filepath.Join(s.in.Programs, "bailiff"), "serve", "--config", s.File)
}
