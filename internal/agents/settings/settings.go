// Package settings edits the files in which agents keep their settings, so that an agent asks
// bailiff: what an agent's own package (internal/agents/NAME) says of its files is said in terms of
// this one.
//
// What is promised: reading and editing write nothing; a [Change] says what would be written. Files
// are edited where they stand, and an edit of what is there already changes nothing. What was written
// is noted in [Records], so that it can be taken back, byte by byte where no person changed the file
// since, and else key by key.
//
// Not here: which agents there are, and what any of them wants.
package settings

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// Entry is what an agent's settings have to say.
type Entry struct {
	// Listen is the address of the sidecar.
	Listen string
	// Programs is the folder of bailiff and bailiff-hook, Home that of the user.
	Programs, Home string
	// Getenv reads the variables by which agents find their settings.
	Getenv func(name string) string
	// undone are the texts that files have once what was written is taken back.
	undone map[string]string
}

// Open is a change of one of the agent's files: of its text, or of what that is once it is taken back.
func (e Entry) Open(path, why string, mode os.FileMode) (Change, error) {
	c, err := Read(path, why, mode)
	if text, has := e.undone[c.Path]; has {
		c.After = text
	}
	return c, err
}

// guardAfter stands behind a hook that looks again: its failure is told.
const guardAfter = " || exit 2"

// Hook is the command line by which an agent has each of its tools judged.
func (e Entry) Hook(client string) string { return e.hook(client) + hook.Guard }

// HookAfter is the line by which it has files looked at again.
func (e Entry) HookAfter(client string) string { return e.hook(client) + guardAfter }

func (e Entry) hook(client string) string {
	line := shellquote.Join("/usr/bin/timeout", "-s", "KILL", "55", e.Programs+"/bailiff-hook", client)
	if e.Listen != "" {
		line += " " + shellquote.Join("--listen", e.Listen)
	}
	return line
}

// asks says whether a hook that is there, perhaps with flags that its user added, asks this
// sidecar, and refuses where it fails.
func (e Entry) asks(line string) bool {
	return (strings.HasSuffix(line, hook.Guard) || strings.HasSuffix(line, guardAfter)) && strings.HasPrefix(line, "/usr/bin/timeout ") &&
		strings.Contains(line, shellquote.Join(e.Programs+"/bailiff-hook")) && strings.Contains(line, shellquote.Join("--listen", e.Listen))
}

// MCPCommand is the command line by which an agent starts bailiff's tools.
func (e Entry) MCPCommand() []string {
	return []string{e.Programs + "/bailiff", "mcp", "--listen", e.Listen, "--in-project"}
}

// File is a file of root's.
type File struct{ Path, Text string }

// InstallLines are the lines by which root installs bailiff's programs and these files, which lie in one folder. The hooks of the
// client in them ask at this sidecar, unless that is the one at which every user's own listens.
func (e Entry) InstallLines(client string, files ...File) []string {
	lines := []string{"install " + shellquote.Quote(e.Programs) + "/bailiff* /usr/local/bin", "mkdir -p " + filepath.Dir(files[0].Path)}
	word := "bailiff-hook " + client + " "
	for _, f := range files {
		if e.Listen != "unix://"+defaultpath.Socket(defaultpath.AgentSocket) {
			f.Text = strings.ReplaceAll(f.Text, word, word+shellquote.Join("--listen", e.Listen)+" ")
		}
		lines = append(lines, "cat > "+f.Path+" <<'EOT'\n"+strings.TrimSuffix(f.Text, "\n")+"\nEOT")
	}
	return lines
}
