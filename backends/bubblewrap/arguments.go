package bubblewrap

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// runnerPath is where the runner is inside.
const runnerPath = "/.bailiff/runner"

// eventsPath is where the runner finds how often the sandbox has run out of memory:
// its control group is not seen from inside.
const eventsPath = "/.bailiff/memory.events"

// insideUser is the number of the user inside, whichever user runs the sidecar.
const (
	insideUser   = "10000"
	insideNumber = 10000
)

// namespaces are the options that do not depend on the spec.
var namespaces = []string{
	"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup",
	"--disable-userns", "--uid", insideUser, "--gid", insideUser, "--hostname", "sandbox", "--cap-drop", "ALL",
	"--cap-add", "CAP_SYS_RESOURCE", "--cap-add", "CAP_SETPCAP", // of the namespace, for the runner until it has set its bounds
	"--die-with-parent", "--new-session", "--as-pid-1", "--clearenv",
}

// ofNamespace has the bounds of a namespace of users, which are for a capability in it to change.
const ofNamespace = "/proc/sys/user"

// etc lists what programs need of the host's /etc.
var etc = []string{
	"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf",
	"pki/tls", "pki/ca-trust", "protocols", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo",
}

// madeUp are files that are made for the sandbox.
var madeUp = map[string]string{
	"/etc/passwd": "root:x:0:0::/:/bin/false\nsandbox:x:" + insideUser + ":" + insideUser +
		"::/home:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
	"/etc/group": "root:x:0:\nsandbox:x:" + insideUser + ":\nnogroup:x:65534:\n",
	"/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
}

// arguments are what bwrap is told of a spec, in the order in which it does it.
func (b *Backend) arguments(spec backends.Spec, workspace, events string, files *descriptors) ([]string, error) {
	list := slices.Clone(namespaces)
	if spec.DiskMB > 0 && !spec.ReadOnly {
		list = append(list, inMemory(spec, workdirs.Root)...)
	}
	visible, err := b.programs()
	if err != nil {
		return nil, err
	}
	list = append(list, "--dir", "/etc", "--dir", "/var")
	list = append(list, visible...)
	own, err := b.ownBundle(spec, files)
	if err != nil {
		return nil, err
	}
	list = append(list, own...)
	// The user that makes the namespaces may change settings of the kernel for them.
	list = append(list, "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--bind", ofNamespace, ofNamespace, "--dev", "/dev")
	for _, folder := range workdirs.Writable {
		if folder != workdirs.Root && (folder != workdirs.MountPath || spec.Workspace == "") {
			list = append(list, inMemory(spec, folder)...)
		}
	}
	list = append(list, given(spec, workspace)...)
	if events != "" {
		list = append(list, "--ro-bind", events, eventsPath)
	}
	made, err := b.made(spec, files)
	if err != nil {
		return nil, err
	}
	list = append(list, made...)
	list = append(list, "--remount-ro", "/dev", "--chdir", "/")
	if spec.ReadOnly {
		list = append(list, "--remount-ro", "/")
	}
	return list, nil
}

// programs shows what can be run: of the host's files a list, of a root that was
// made for sandboxes everything but what the sandbox has of its own.
func (b *Backend) programs() ([]string, error) {
	if b.cfg.Root != "" {
		return b.ownRoot()
	}
	list := []string{"--ro-bind", "/usr", "/usr"}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		shown, err := shownAs(name, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		list = append(list, shown...)
	}
	for _, name := range etc {
		list = append(list, "--ro-bind-try", "/etc/"+name, "/etc/"+name)
	}
	ofJava, err := filepath.Glob("/etc/java-*-openjdk") // to which links of Debian's Java lead
	for _, folder := range ofJava {
		list = append(list, "--ro-bind-try", folder, folder)
	}
	return list, err
}

func (b *Backend) ownRoot() ([]string, error) {
	entries, err := os.ReadDir(b.cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("%w: reading backends.%s.root: %w", backends.ErrUnavailable, b.Backend, err)
	}
	var list []string
	for _, entry := range entries {
		if slices.Contains([]string{"proc", "dev", "sys", "tmp", "run", "home", "root", "boot", "mnt", "media", "srv", "var", "workspace",
			".bailiff"}, entry.Name()) {
			continue
		}
		shown, err := shownAs(filepath.Join(b.cfg.Root, entry.Name()), "/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("reading backends.%s.root: %w", b.Backend, err)
		}
		list = append(list, shown...)
	}
	return list, nil
}

// shownAs shows a folder read-only, or a link as the same link.
func shownAs(path, target string) ([]string, error) {
	stat, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if stat.Mode()&os.ModeSymlink == 0 {
		return []string{"--ro-bind", path, target}, nil
	}
	to, err := os.Readlink(path)
	return []string{"--symlink", to, target}, err
}

func inMemory(spec backends.Spec, folder string) []string {
	perms := "0700"
	if folder == workdirs.Root {
		perms = "0755"
	}
	list := []string{"--perms", perms}
	if size := workdirs.ShareMB(spec.DiskMB, folder); size > 0 {
		list = append(list, "--size", strconv.Itoa(size<<20))
	}
	return append(list, "--tmpfs", folder)
}

// given shows what the spec names of the host's files.
func given(spec backends.Spec, workspace string) (list []string) {
	if workspace != "" {
		list = append(list, "--bind", workspace, workdirs.MountPath)
	}
	for _, m := range slices.Concat(spec.Mounts, spec.Own) {
		option := "--bind"
		if m.ReadOnly {
			option = "--ro-bind"
		}
		list = append(list, option, m.Source, m.Target)
	}
	return list
}

// made hands over the files that are made for the sandbox, the runner among them.
func (b *Backend) made(spec backends.Spec, files *descriptors) ([]string, error) {
	program, err := os.Open(b.cfg.Runner)
	if err != nil {
		return nil, fmt.Errorf("%w: opening the runner: %w", backends.ErrUnavailable, err)
	}
	list := []string{"--perms", "0111", "--ro-bind-data", files.add(program), runnerPath}
	own := maps.Clone(madeUp)
	if spec.Network == backends.Egress {
		own["/etc/resolv.conf"] = "nameserver " + wire.Resolver + "\n"
	}
	for path, text := range own {
		if b.cfg.Root != "" && !exists(filepath.Join(b.cfg.Root, path)) {
			continue // a root that is read-only has no place for it
		}
		number, err := files.content(text)
		if err != nil {
			return nil, fmt.Errorf("making %s for the sandbox: %w", path, err)
		}
		list = append(list, "--perms", "0444", "--ro-bind-data", number, path)
	}
	return list, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
