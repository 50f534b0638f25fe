package apptainer_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What is known of the program is what it answered to these calls. The stand-in must
// answer the same; what is no option here, or was never tried, it refuses.

var record = flag.Bool("record", false, "write down what the real program answers")

const recordedFile = "testdata/recorded.json"

//go:embed testdata/recorded.json
var recorded []byte

// call is one call of the program. Of its words, $WORK is a folder that holds the file
// "file", $IMAGE a root as a folder, $SIF the same as a SIF file.
type call struct {
	name  string
	words []string
	// as is the user who calls; zero is root.
	as    int
	env   []string
	stdin string
}

// answer is what the program said, on both outputs, and its exit status.
type answer struct {
	Name string
	Said []string
	Exit int
}

const (
	known   = 54321 // a user that has a line in /etc/passwd
	unknown = 54322
)

// std is how the backend of a sidecar that is root calls, without binds.
var std = slices.Concat(apptainer.Closed, []string{"--security", "uid:10000", "--security", "gid:10000"})

// usr is the same where it is not.
var usr = append(slices.Clone(apptainer.Closed), "--userns")

// without is a list of options that lacks some, each with its value.
func without(list []string, options ...string) (rest []string) {
	for i := 0; i < len(list); i++ {
		values := 0
		for i+values+1 < len(list) && !strings.HasPrefix(list[i+values+1], "--") {
			values++
		}
		if !slices.Contains(options, list[i]) {
			rest = append(rest, list[i:i+values+1]...)
		}
		i += values
	}
	return rest
}

func executed(options []string, words ...string) []string {
	return slices.Concat([]string{"--nocolor", "--silent", "exec"}, options, words)
}

// Scripts that tell what is inside.
const (
	who   = `id -u; id -g; grep -E '^(Groups|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status | tr -s '\t ' ' '`
	first = `case $(tr '\0' ' ' </proc/1/cmdline) in /bin/sh*) echo the command;; *) echo another;; esac; readlink /proc/1/ns/pid ` +
		`>/dev/null && echo open`
	spaces = `for n in mnt pid net ipc uts user; do [ "$(readlink /proc/self/ns/$n)" = "$(echo "$1" | grep "^$n:")" ] && echo $n shared ` +
		`|| echo $n own; done`
	mounts = `while read -r a b c d where how rest; do echo "$where ${how%%,*}"; done </proc/self/mountinfo | grep -v ^/usr | sort -u`
	values = `echo "$PLAIN,$INSIDE,$OLD,$HOME,$PATH"; env | sed 's/=.*//' | grep -E ` +
		`'^(PLAIN|INSIDE|OLD|APPTAINERENV|SINGULARITYENV|SECRET)' | sort`
	place = `hostname; pwd; umask; cat /proc/sys/kernel/hostname; sed -n 's/^ *\([a-z0-9]*\):.*/\1/p' /proc/net/dev; ls /dev; ls /sys | ` +
		`wc -l; echo; cat /etc/resolv.conf >/dev/null && echo names`
	writes = `for f in / /etc/passwd /etc/hostname /dev /home /tmp /var/tmp /run /workspace /dev/shm /dev/mqueue ` +
		`/proc/sys/kernel/hostname; do [ -w $f ] && echo $f; done; true`
)

var variables = []string{"PLAIN=1", "APPTAINERENV_INSIDE=2", "SINGULARITYENV_OLD=3", "SECRET=4"}

func calls(hostSpaces string) []call {
	sh := func(options []string, script string, words ...string) []string {
		return executed(options, append([]string{"$IMAGE", "/bin/sh", "-c", script, "sh"}, words...)...)
	}
	return []call{
		{name: "version", words: []string{"--version"}},
		{name: "help of exec", words: []string{"exec", "--help"}},
		{name: "help of pull", words: []string{"pull", "--help"}},
		{name: "help of sif list", words: []string{"sif", "list", "--help"}},
		{name: "an option that is none", words: executed(std, "--no-such", "$IMAGE", "true")},
		{name: "a number that is none", words: executed(std, "--pids-limit", "many", "$IMAGE", "true")},
		{name: "an option without its value", words: executed(std, "--mount")},
		{name: "no image", words: executed(std)},
		{name: "no command", words: executed(std, "$IMAGE")},
		{name: "an image that is not there", words: executed(std, "$WORK/nowhere", "true")},
		{name: "an image that is none", words: executed(std, "$WORK/file", "true")},
		{name: "a user without a line in passwd", words: executed(usr, "$IMAGE", "true"), as: unknown},
		{name: "a bind of what is not there", words: executed(std, "--mount", "type=bind,source=$WORK/nowhere,destination=/x", "$IMAGE",
			"true")},
		{name: "a mount that is no bind", words: executed(std, "--mount", "type=tmpfs,destination=/x", "$IMAGE", "true")},
		{name: "a mount without an end", words: executed(std, "--mount", "type=bind,source=$WORK", "$IMAGE", "true")},
		{name: "a kind of mount that is none", words: executed(append(slices.Clone(std), "--no-mount", "no-such"), "$IMAGE", "true")},
		{name: "a network that is none", words: executed(append(slices.Clone(std), "--network", "no-such"), "$IMAGE", "true")},
		{name: "security that is none", words: executed(append(slices.Clone(std), "--security", "no-such"), "$IMAGE", "true")},
		{name: "a program that is not there", words: executed(std, "$IMAGE", "/no/such")},
		{name: "an exit status", words: sh(std, "exit 3")},
		{name: "killing process 1", words: sh(std, "kill -9 $$; echo on")},
		{name: "input and output", words: sh(std, "cat; echo err >&2"), stdin: "in\n"},
		{name: "who is inside", words: sh(std, who)},
		{name: "who is inside where no user is named", words: sh(without(std, "--security"), who)},
		{name: "who is inside with privileges", words: sh(without(std, "--no-privs"), who)},
		{name: "who is inside for another user", words: sh(usr, who), as: known},
		{name: "process 1", words: sh(std, first)},
		{name: "process 1 with an init", words: sh(without(std, "--no-init"), first)},
		{name: "spaces", words: sh(std, spaces, hostSpaces)},
		{name: "spaces with nothing closed", words: sh(nil, spaces, hostSpaces), as: known},
		{name: "spaces with the network left open", words: sh(without(std, "--net", "--network"), spaces, hostSpaces)},
		{name: "spaces for another user", words: sh(usr, spaces, hostSpaces), as: known},
		{name: "the place", words: sh(std, place)},
		{name: "the place for another user", words: sh(usr, place), as: known},
		{name: "the place with the kernel's files", words: sh(append(without(std, "--no-mount"), "--no-mount", "home,cwd"),
			`[ -e /sys/kernel ] && echo there`)},
		{name: "variables", words: sh(std, values), env: variables},
		{name: "variables for another user", words: sh(usr, values), env: variables, as: known},
		{name: "variables with nothing closed", words: sh(nil, values), env: variables, as: known},
		{name: "a bind by a variable", words: sh(std, `cat /leaked`), env: []string{"APPTAINER_BIND=$WORK/file:/leaked"}},
		{name: "a bind by an older variable", words: sh(std, `cat /leaked`), env: []string{"SINGULARITY_BIND=$WORK/file:/leaked"}},
		{name: "mounts", words: sh(std, mounts)},
		{name: "mounts for another user", words: sh(usr, mounts), as: known},
		{name: "what is open for writing", words: sh(std, writes)},
		{name: "what is open for writing for another user", words: sh(usr, writes), as: known},
		{name: "files of the host with nothing closed", words: sh(nil, `cat "$1"; ls -d /root /home`, "$WORK/file"), as: known},
		{name: "files of the host", words: sh(std, `cat "$1" || ls -A /tmp /var/tmp`, "$WORK/file")},
		{name: "a bind", words: sh(append(slices.Clone(std), "--mount", `type=bind,"source=$WORK/a ""b"",c:d",destination=/new/place`),
			`cat /new/place/file; echo x >/new/place/file && echo written`)},
		{name: "a bind for reading", words: sh(append(slices.Clone(std), "--mount", "type=bind,source=$WORK,destination=/x,ro"),
			`cat /x/file; echo x >/x/file || echo closed`)},
		{name: "binds over what the program makes",
			words: sh(append(slices.Clone(std), "--mount", "type=bind,source=$WORK/file,destination=/etc/passwd,ro",
				"--mount", "type=bind,source=$WORK,destination=/dev/mqueue,ro", "--mount",
				"type=bind,source=/proc/sys,destination=/proc/sys,ro", "--mount", "type=bind,source=/dev/full,destination=/dev/full"),
				`cat /etc/passwd; ls /dev/mqueue/inner; (echo x >/dev/full) 2>/dev/null || echo full; `+mounts)},
		{name: "binds within one another",
			words: sh(append(slices.Clone(std), "--mount", "type=bind,source=$WORK,destination=/w", "--mount",
				"type=bind,source=$WORK/inner,destination=/w/inner/deep"), `ls /w/inner/deep`)},
		{name: "a layer of one's own", words: sh(append(slices.Clone(std), "--overlay", "$WORK/layer"), `touch /made || echo closed`)},
		{name: "a layer whose root is the user's", words: sh(append(slices.Clone(std), "--overlay", "$WORK/theirs"),
			`touch /made && ls -d /made`)},
		{name: "a layer in memory for another user", words: sh(append(slices.Clone(usr), "--writable-tmpfs"), `touch /made && ls -d /made`),
			as: known},
		{name: "scratch folders", words: sh(append(slices.Clone(usr), "--scratch", "/home", "--scratch", "/new"),
			writes+`; ls -ld /new | cut -d' ' -f1`), as: known},
		{name: "an image without a system",
			words: executed(append(slices.Clone(std), "--mount", "type=bind,source=$STATIC,destination=/.bailiff/runner,ro"), "$WORK/empty",
				"/.bailiff/runner", "what")},
		{name: "a pull from where nobody listens", words: []string{"--nocolor", "pull", "--disable-cache", "$WORK/new.sif",
			"docker://127.0.0.1:1/nothing"}},
		{name: "a pull onto a file", words: []string{"--nocolor", "pull", "--disable-cache", "$WORK/file", "docker://127.0.0.1:1/nothing"}},
		{name: "a pull of what is no image", words: []string{"--nocolor", "pull", "--disable-cache", "$WORK/new.sif", "no-such://nothing"}},
		{name: "a pull of nothing", words: []string{"--nocolor", "pull"}},
		{name: "a pull with credentials that are none", words: []string{"--nocolor", "pull", "--disable-cache", "--authfile", "$WORK/file",
			"$WORK/new.sif", "docker://127.0.0.1:1/nothing"}},
		{name: "what a SIF file holds", words: []string{"sif", "list", "$SIF"}},
		{name: "what a file holds that is none", words: []string{"sif", "list", "$WORK/file"}},
		{name: "what a file holds that is not there", words: []string{"sif", "list", "$WORK/nowhere"}},
	}
}

// field is where calls are made.
type field struct{ program, work, image, sif, static string }

func (f field) names() map[string]string {
	return map[string]string{"$WORK": f.work, "$IMAGE": f.image, "$SIF": f.sif, "$STATIC": f.static}
}

var varying = regexp.MustCompile(`\d+-\d{4,}`)

// make makes a call, and words the answer so that it is the same everywhere.
func (f field) make(t *testing.T, c call) answer {
	t.Helper()
	words, env := f.filled(c.words), f.filled(c.env)
	cmd := exec.Command(f.program, words...)
	cmd.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "APPTAINER_CONFIGDIR=" + f.work + "/config"},
		env...)
	cmd.Dir, cmd.Stdin = "/", strings.NewReader(c.stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.as != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(c.as), Gid: uint32(c.as)}
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text := said.String()
	for name, path := range f.names() {
		text = strings.ReplaceAll(text, path, name)
	}
	return answer{c.name, strings.Split(strings.TrimSuffix(varying.ReplaceAllString(text, "FROM-TO"), "\n"), "\n"),
		cmd.ProcessState.ExitCode()}
}

// filled are texts with the paths that they speak of.
func (f field) filled(texts []string) []string {
	list := slices.Clone(texts)
	for i := range list {
		for name, path := range f.names() {
			list[i] = strings.ReplaceAll(list[i], name, path)
		}
	}
	return list
}

// newField makes what the words of calls speak of. Everybody may read it.
func newField(t *testing.T, program string) field {
	t.Helper()
	work, err := os.MkdirTemp("/tmp", "bailiff-apptainer")
	backendtest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(work) })
	for _, folder := range []string{"", "inner", "layer", "theirs/upper", "theirs/work", "empty", `a "b",c:d`, "config"} {
		backendtest.Must(t, os.MkdirAll(filepath.Join(work, folder), 0o755))
	}
	for _, folder := range []string{work, filepath.Join(work, "config")} {
		backendtest.Must(t, os.Chmod(folder, 0o777))
	}
	backendtest.Must(t, os.Chown(filepath.Join(work, "theirs", "upper"), 10000, 10000))
	for _, file := range []string{"file", "inner/file", `a "b",c:d/file`} {
		backendtest.Must(t, os.WriteFile(filepath.Join(work, file), []byte("of the host\n"), 0o666))
	}
	return field{program: program, work: work}
}

// hostSpaces are the namespaces that this process is in.
func hostSpaces(t *testing.T) string {
	var list []string
	for _, name := range []string{"mnt", "pid", "net", "ipc", "uts", "user"} {
		link, err := os.Readlink("/proc/self/ns/" + name)
		backendtest.Must(t, err)
		list = append(list, link)
	}
	return strings.Join(list, "\n")
}

func answers(t *testing.T) map[string]answer {
	t.Helper()
	var list []answer
	backendtest.Must(t, json.Unmarshal(recorded, &list))
	all := map[string]answer{}
	for _, a := range list {
		all[a.Name] = a
	}
	return all
}

func (f field) compare(t *testing.T) {
	t.Helper()
	want := answers(t)
	for _, c := range calls(hostSpaces(t)) {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			got := f.make(t, c)
			if w := want[c.name]; w.Exit != got.Exit || !slices.Equal(w.Said, got.Said) {
				t.Errorf("it ended with %d and said\n%s\nrecorded is %d and\n%s", got.Exit, strings.Join(got.Said, "\n"), w.Exit,
					strings.Join(w.Said, "\n"))
			}
		})
	}
}

func TestTheRealProgramAnswersAsRecorded(t *testing.T) {
	f := real(t)
	if !*record {
		f.compare(t)
		return
	}
	var list []answer
	for _, c := range calls(hostSpaces(t)) {
		list = append(list, f.make(t, c))
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	backendtest.Must(t, errors.Join(encoder.Encode(list), os.WriteFile(recordedFile, text.Bytes(), 0o644)))
	fmt.Println("written down:", recordedFile)
}
