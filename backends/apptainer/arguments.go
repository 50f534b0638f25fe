package apptainer

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// Inside are the runner, and where it finds how often the sandbox has run out of
// memory: its control group is not seen there.
const (
	runnerPath = "/.bailiff/runner"
	eventsPath = "/.bailiff/memory.events"
)

// closed are the options that do not depend on the spec. Process 1 is the runner
// itself (no-init); nothing of the image is evaluated by the program (no-eval).
var closed = []string{
	"--containall", "--no-init", "--no-eval", "--no-umask", "--no-home", "--cleanenv", "--no-privs",
	"--net", "--network", "none", "--hostname", hostname, "--pwd", "/",
	"--no-mount", "sys,home,cwd,hostfs,bind-paths",
}

const hostname = "sandbox"

// place is what the program is told to make.
type place struct {
	spec backends.Spec
	// image and runner are files of this machine, workspace a folder; it is empty where
	// the spec names none.
	image, runner, workspace string
	// events is a file in which the kernel counts what it has killed for want of memory;
	// empty where nothing bounds that.
	events string
}

// arguments are what the program is told, without what it shall run.
func (b *Backend) arguments(p place) []string {
	list := append([]string{}, closed...)
	if asRoot() {
		list = append(list, "--security", fmt.Sprintf("uid:%d", b.UID), "--security", fmt.Sprintf("gid:%d", b.GID))
	} else {
		list = append(list, "--userns")
	}
	list = append(list, b.writable(p)...)
	if p.workspace != "" {
		list = append(list, bind(p.workspace, workdirs.MountPath, false)...)
	}
	for _, m := range p.spec.Mounts {
		list = append(list, bind(m.Source, m.Target, m.ReadOnly)...)
	}
	// The user that makes a user namespace may change settings of the kernel for it.
	list = append(list, bind("/proc/sys", "/proc/sys", true)...)
	list = append(list, bind("/dev/full", "/dev/full", false)...)
	list = append(list, bind(b.path(emptyFolder), "/dev/mqueue", true)...)
	for name := range b.etc() {
		list = append(list, bind(b.path(etcFolder, name), "/etc/"+name, true)...)
	}
	if p.events != "" {
		list = append(list, bind(p.events, eventsPath, true)...)
	}
	return append(list, bind(p.runner, runnerPath, true)...)
}

// writable are the folders that may be written to: staged, where the sidecar can do
// that, else as the program makes them.
func (b *Backend) writable(p place) (list []string) {
	for _, folder := range workdirs.Writable {
		switch {
		case folder == workdirs.MountPath && p.workspace != "":
		case folder == workdirs.Root:
			list = append(list, b.layer(p.spec)...)
		case asRoot():
			list = append(list, bind(b.staged(folder), folder, false)...)
		case !made[folder]:
			list = append(list, "--scratch", folder)
		}
	}
	return list
}

// made are the folders that the program makes by itself where it contains.
var made = map[string]bool{"/tmp": true, "/var/tmp": true, "/dev/shm": true}

// layer takes what is written to a root that is not read-only.
func (b *Backend) layer(spec backends.Spec) []string {
	switch {
	case spec.ReadOnly:
		return nil
	case asRoot():
		return []string{"--overlay", b.staged(workdirs.Root)}
	}
	return []string{"--writable-tmpfs"}
}

// staged is where a folder in memory is while the program binds it.
func (b *Backend) staged(folder string) string {
	return b.path(stageFolder, "root"+strings.ReplaceAll(filepath.Clean(folder), "/", "-"))
}

// bind shows a file or folder inside. The program reads it as a line of CSV.
func bind(source, target string, readOnly bool) []string {
	fields := []string{"type=bind", "source=" + source, "destination=" + target}
	if readOnly {
		fields = append(fields, "ro")
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(fields) // which a Builder takes whatever it is
	w.Flush()
	return []string{"--mount", strings.TrimSuffix(line.String(), "\n")}
}

// etc are the files that are made for sandboxes, instead of those that the program
// would fill in with the sidecar's user, name servers and names.
func (b *Backend) etc() map[string]string {
	uid, gid := b.inside()
	return map[string]string{
		"passwd": fmt.Sprintf("root:x:0:0::/:/bin/false\nsandbox:x:%d:%d::/home:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n", uid,
			gid),
		"group":       fmt.Sprintf("root:x:0:\nsandbox:x:%d:\nnogroup:x:65534:\n", gid),
		"hosts":       "127.0.0.1 localhost " + hostname + "\n::1 localhost\n",
		"hostname":    hostname + "\n",
		"resolv.conf": "",
	}
}

// command is what the program is started with.
func command(arguments []string, image string) []string {
	words := append([]string{"--nocolor", "--silent", "exec"}, arguments...)
	return append(words, image, runnerPath, runner.Confine)
}
