package apptainer_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// The stand-in is this test program under the name of the real one. It knows the
// options that the recorded help lists and what was recorded of them; another option,
// or a use that nobody recorded, ends it. What it makes of those it knows is a place of
// the same kind, with the faults of the real one: whoever leaves an option out gets the
// machine's files, variables, names or network as there.

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "apptainer":
		standIn(os.Args[1:])
	case placeName, initName:
		makePlace()
	default:
		os.Exit(m.Run())
	}
}

// newStandIn puts the stand-in into a folder, whose name is its program's.
func newStandIn(t testing.TB) (program string) {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "bailiff-standin")
	backendtest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	program = filepath.Join(folder, "apptainer")
	copied(t, os.Args[0], program)
	backendtest.Must(t, errors.Join(os.Mkdir(filepath.Join(folder, "session"), 0o755), os.Chmod(folder, 0o755)))
	return program
}

// quit ends the stand-in as the real program ends.
func quit(status int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(status)
}

func fatal(format string, args ...any) { quit(255, "FATAL:   "+format, args...) }

// unrecorded is for what the real program may do, though nobody has seen it.
func unrecorded(format string, args ...any) {
	quit(99, "STAND-IN: nobody recorded "+format, args...)
}

func standIn(words []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		switch words[0] {
		case "--nocolor", "--silent": // it says nothing that these would change
		case "--version":
			replay("version")
		default:
			unrecorded("%s before a command", words[0])
		}
		words = words[1:]
	}
	switch {
	case len(words) > 0 && words[0] == "exec":
		execute(read("exec", words[1:]))
	case len(words) > 0 && words[0] == "pull":
		pull(read("pull", words[1:]))
	case len(words) > 1 && words[0] == "sif" && words[1] == "list":
		listSIF(read("sif list", words[2:]))
	}
	unrecorded("%q", words)
}

// replay says what was recorded of a call.
func replay(name string) {
	a := recordedAnswer(name)
	fmt.Println(strings.Join(a.Said, "\n"))
	os.Exit(a.Exit)
}

func recordedAnswer(name string) answer {
	var list []answer
	if err := json.Unmarshal(recorded, &list); err != nil {
		panic(err)
	}
	for _, a := range list {
		if a.Name == name {
			return a
		}
	}
	panic("nobody recorded " + name)
}

// given are the options of a command and its other words.
type given struct {
	options map[string][]string
	words   []string
}

func (g given) has(option string) bool { return g.options[option] != nil }

// last is the value that counts of an option that counts once.
func (g given) last(option string) string {
	if all := g.options[option]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// all are the values of an option that takes many, apart by commas.
func (g given) all(option string) (list []string) {
	for _, value := range g.options[option] {
		list = append(list, strings.Split(value, ",")...)
	}
	return list
}

var option = regexp.MustCompile(`^ +(?:-\w, )?(--[a-z-]+)(?: (string|strings|stringArray|stringToString|int))? `)

// options are those that the recorded help lists, with the kinds of their values, and
// the list itself.
func options(command string) (kinds map[string]string, list string) {
	text := strings.Join(recordedAnswer("help of "+command).Said, "\n")
	_, list, _ = strings.Cut(text, "\nOptions:\n")
	list, _, _ = strings.Cut(list, "\n\n\n")
	kinds = map[string]string{}
	for line := range strings.Lines(list) {
		if parts := option.FindStringSubmatch(line); parts != nil {
			kinds[parts[1]] = parts[2]
		}
	}
	kinds["--pwd"] = "string" // which is not listed any more; --cwd is the same
	return kinds, list
}

// read takes the words of a command apart as the real program does.
func read(command string, words []string) given {
	kinds, list := options(command)
	wrong := func(format string, args ...any) {
		quit(1, "Error for command %q: %s\n\nOptions for %s command:\n\n%s\n\nRun 'apptainer --help' for more detailed usage information.",
			command, fmt.Sprintf(format, args...), command, list)
	}
	g := given{options: map[string][]string{}}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name := words[0]
		kind, known := kinds[name]
		words = words[1:]
		switch {
		case name == "--help":
			replay("help of " + command)
		case !known && strings.HasPrefix(name, "--"):
			wrong("unknown flag: %s", name)
		case !known:
			unrecorded("%s", name)
		case kind == "":
			g.options[name] = append(g.options[name], "true")
			continue
		case len(words) == 0:
			wrong("flag needs an argument: %s", name)
		}
		if _, err := strconv.ParseInt(words[0], 10, 64); kind == "int" && err != nil {
			wrong("invalid argument %q for %q flag: %v", words[0], name, err)
		}
		g.options[name] = append(g.options[name], words[0])
		words = words[1:]
	}
	g.words = words
	return g
}

func usage(command, problem, form string) {
	quit(1, "Error for command %q: %s\n\nUsage:\n  apptainer [global options...] %s\n\nRun 'apptainer --help' for more detailed usage "+
		"information.", command, problem, form)
}

// supported are the options of which it was recorded what they do.
var supported = []string{"--containall", "--no-init", "--no-eval", "--no-umask", "--no-home", "--cleanenv", "--no-privs", "--net",
	"--network",
	"--hostname", "--pwd", "--no-mount", "--security", "--userns", "--mount", "--scratch", "--overlay", "--writable-tmpfs", "--pids-limit"}

func execute(g given) {
	if len(g.words) < 2 {
		usage("exec", fmt.Sprintf("requires at least 2 arg(s), only received %d", len(g.words)),
			"exec [exec options...] <container> <command>")
	}
	for name := range g.options {
		if !slices.Contains(supported, name) {
			unrecorded("what %s does", name)
		}
	}
	me := caller()
	if !me.known {
		quit(255, "\x1b[31mFATAL:  \x1b[0m Couldn't determine user account information: user: unknown userid %d", os.Getuid())
	}
	p := plan(g, me)
	os.Exit(p.run())
}

// account is who calls.
type account struct {
	home  string
	known bool
}

func caller() account {
	switch os.Getuid() {
	case 0:
		return account{"/root", true}
	case known:
		return account{"/nonexistent", true}
	}
	return account{}
}

// scene is what a place shall be, for the process that makes it.
type scene struct {
	Session, Image string
	UID, GID       int
	Root           bool // whether the caller is
	Contained      bool
	Init           bool
	System         bool // whether the kernel's own files are shown
	Overlay        string
	InMemory       bool // a layer in memory
	Scratch        []string
	Binds          []bound
	Hostname, Pwd  string
	Env, Argv      []string
	Flags          uintptr
}

type bound struct {
	Source, Target string
	ReadOnly       bool
}

// plan reads what was asked for.
func plan(g given, me account) scene {
	s := scene{Session: filepath.Join(filepath.Dir(os.Args[0]), "session"), Image: image(g.words[0]), UID: os.Getuid(), GID: os.Getgid(),
		Root:      os.Getuid() == 0,
		Contained: g.has("--containall"), Init: !g.has("--no-init"), Hostname: g.last("--hostname"), Pwd: g.last("--pwd"),
		Overlay: g.last("--overlay"), InMemory: g.has("--writable-tmpfs"), Scratch: g.all("--scratch"), Argv: g.words[1:]}
	s.System = !slices.Contains(g.all("--no-mount"), "sys")
	s.Binds = append(bindsByVariable(), binds(g.options["--mount"])...)
	s.Env = inherited(g, me)
	s.confine(g)
	s.separate(g)
	if s.Contained && (!g.has("--no-home") || s.Pwd == "" || !slices.Contains(g.all("--no-mount"), "bind-paths") && s.Root && !s.System) {
		unrecorded("a contained place with a home, no folder to be in, or the machine's own binds")
	}
	return s
}

// confine chooses who runs inside. What is asked for wrongly is ignored.
func (s *scene) confine(g given) {
	if s.Root && g.has("--userns") || !s.Root && g.has("--security") {
		unrecorded("a user namespace for root, or another user for somebody else")
	}
	for _, wish := range g.options["--security"] {
		name, value, _ := strings.Cut(wish, ":")
		if number, err := strconv.Atoi(value); err == nil && name == "uid" {
			s.UID = number
		} else if err == nil && name == "gid" {
			s.GID = number
		}
	}
	if s.UID == 0 && !g.has("--no-privs") {
		unrecorded("a root with privileges")
	}
}

// separate chooses the namespaces.
func (s *scene) separate(g given) {
	s.Flags = syscall.CLONE_NEWNS
	if !s.Root {
		s.Flags |= syscall.CLONE_NEWUSER
	}
	if s.Contained {
		s.Flags |= syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	}
	if s.Hostname != "" {
		s.Flags |= syscall.CLONE_NEWUTS
	}
	switch network := g.last("--network"); {
	case g.has("--net") && network == "none":
		s.Flags |= syscall.CLONE_NEWNET
	case g.has("--net") && network != "":
		fatal("container creation failed: network setup failed: no net configuration with name %q in /etc/apptainer/network", network)
	case g.has("--net"):
		unrecorded("a network that is none of its own")
	}
}

func image(path string) string {
	about, err := os.Lstat(path)
	switch {
	case err != nil:
		fatal("While checking container encryption: could not open image %s: failed to retrieve path for %s: lstat %s: no such file or "+
			"directory", path, path, path)
	case !about.IsDir():
		fatal("While checking container encryption: could not open image %s: image format not recognized", path)
	}
	return path
}

func binds(mounts []string) (list []bound) {
	for _, text := range mounts {
		fields, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			unrecorded("a mount that is no CSV: %s", text)
		}
		var b bound
		kind := ""
		for _, field := range fields {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "type":
				kind = value
			case "source":
				b.Source = value
			case "destination":
				b.Target = value
			case "ro":
				b.ReadOnly = true
			default:
				unrecorded("%s of a mount", name)
			}
		}
		switch {
		case kind != "bind":
			fatal("While setting bind mount configuration: while parsing mount %q: unsupported mount type %q, only 'bind' is supported",
				text, kind)
		case b.Source == "" || b.Target == "":
			fatal("While setting bind mount configuration: while parsing mount %q: mounts must specify a source and a destination", text)
		}
		list = append(list, b)
	}
	return list
}

// bindsByVariable are those that the caller's variables ask for.
func bindsByVariable() (list []bound) {
	for _, name := range []string{"APPTAINER_BIND", "SINGULARITY_BIND"} {
		if source, target, asked := strings.Cut(os.Getenv(name), ":"); asked {
			list = append(list, bound{Source: source, Target: target})
		}
	}
	return list
}

// inherited are those inside: what is meant for the inside always, what is the
// caller's unless that is to be kept out.
func inherited(g given, me account) []string {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		inner, meant := strings.CutPrefix(name, "APPTAINERENV_")
		if !meant {
			inner, meant = strings.CutPrefix(name, "SINGULARITYENV_")
		}
		switch {
		case meant:
			env[inner] = value
		case !g.has("--cleanenv") && !g.has("--containall"):
			env[name] = value
		}
	}
	env["PATH"], env["HOME"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", me.home
	env["APPTAINER_CONTAINER"] = g.words[0]
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// run makes the place in a process of its own and waits for its end, as the real
// program does.
func (s scene) run() int {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{placeName}
	if s.Init && s.Contained {
		cmd.Args = []string{initName}
	}
	cmd.Env = []string{sceneVariable + "=" + string(text)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: s.Flags}
	if !s.Root {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: s.UID, HostID: s.UID, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: s.GID, HostID: s.GID, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = everyCapability()
	}
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		fatal("the stand-in could not make namespaces")
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
