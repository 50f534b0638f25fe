package ssh

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/ssh/inside"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// site is the place on the host that is ours.
type site struct {
	host *remote.Host
	cfg  Config
	// needed are the programs that there must be.
	needed []program

	mu     sync.Mutex
	ground *ground
	// home is the user's, as the host last told it.
	home string
}

// Close ends the connections, with the sandboxes that are served over them.
func (s *site) Close() error { return s.host.Close() }

// ground is what the host was found to be like.
type ground struct {
	arch, home, folder string
	// installed are the paths of programs by their names. A path tells the content, so
	// that every sidecar finds its own.
	installed map[string]string
}

// with does something on the host. If programs are missing there it installs them and
// does it once more. What fails may be due to a host that has changed, which is looked
// at anew the next time.
func (s *site) with(ctx context.Context, do func(ground) error) error {
	g, err := s.survey(ctx)
	if err != nil {
		return err
	}
	err = do(g)
	var f *failed
	if errors.As(err, &f) && f.status == isMissing {
		if g, err = s.install(ctx, g); err == nil {
			err = do(g)
		}
	}
	var said *inside.Fault
	if err != nil && !errors.As(err, &said) {
		s.remember(nil)
	}
	return err
}

func (s *site) remember(g *ground) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ground = g; g != nil {
		s.home = g.home
	}
}

func (s *site) lastHome() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.home
}

// survey finds out what the host is like, unless that is known.
func (s *site) survey(ctx context.Context) (ground, error) {
	s.mu.Lock()
	known := s.ground
	s.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	backends.Step(ctx, "connecting by ssh")
	said, err := s.run(ctx, `uname -s; uname -m; id -u; echo "$HOME"`, nil)
	if err != nil {
		return ground{}, fmt.Errorf("looking at the host: %w", err)
	}
	g, err := s.recognize(strings.Split(said, "\n"))
	if err != nil {
		return ground{}, err
	}
	for _, p := range s.needed {
		if _, err := s.content(p, &g); err != nil {
			return ground{}, err
		}
	}
	s.remember(&g)
	return g, nil
}

// architectures are those for which there is a runner, as hosts name them.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

func (s *site) recognize(lines []string) (ground, error) {
	if len(lines) < 4 || !path.IsAbs(lines[3]) {
		return ground{}, fmt.Errorf("looking at the host: it said %q, want its system, machine, user and home",
			bailiff.Foreign(strings.Join(lines, " ")))
	}
	g := ground{arch: architectures[lines[1]], home: path.Clean(lines[3]), folder: s.cfg.Folder, installed: map[string]string{}}
	if lines[0] != "Linux" || g.arch == "" {
		return ground{}, fmt.Errorf("the host is %s on %s, want Linux on x86_64 or aarch64", bailiff.Foreign(lines[0]),
			bailiff.Foreign(lines[1]))
	}
	switch {
	case g.folder != "":
	case lines[2] == "0":
		g.folder = "/var/lib/bailiff-ssh"
	default:
		g.folder = path.Join(g.home, ".local/share/bailiff")
	}
	return g, nil
}

// program is one of ours that is needed on the host, with the permissions that it has
// there.
type program struct{ name, mode string }

// content reads a program as the host is to have it, and notes where.
func (s *site) content(p program, g *ground) ([]byte, error) {
	file := filepath.Join(filepath.Dir(s.cfg.Runner), p.name+"-linux-"+g.arch)
	switch ours := runtime.GOOS == "linux" && runtime.GOARCH == g.arch; {
	case ours && p.name == runnerName:
		file = s.cfg.Runner
	case ours:
		file = filepath.Join(filepath.Dir(s.cfg.Runner), p.name)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("finding %s for the host, which is linux/%s: %w; install it there", p.name, g.arch, err)
	}
	sum := sha256.Sum256(content)
	g.installed[p.name] = g.folder + "/" + p.name + "-" + hex.EncodeToString(sum[:8])
	return content, nil
}

// install brings what the host lacks.
func (s *site) install(ctx context.Context, was ground) (ground, error) {
	g := was
	g.installed = map[string]string{}
	for _, p := range s.needed {
		content, err := s.content(p, &g)
		if err != nil {
			return g, err
		}
		backends.Step(ctx, "installing %s on the host", p.name)
		if _, err := s.run(ctx, installing(g.folder, g.installed[p.name], p.mode, content), content); err != nil {
			return g, fmt.Errorf("installing %s in %s on the host: %w", p.name, bailiff.Foreign(g.folder), err)
		}
	}
	s.remember(&g)
	return g, nil
}

// installing is a script that makes a program of its input, in a folder that no
// other user can change, and tries whether it can be run. It takes those away that were not
// used for long. A folder that was there before is left as it is or refused, never
// changed: it may be one like /tmp, which the whole machine needs as it is.
func installing(folder, file, mode string, content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf(`d=%s f=%s p=%s; umask 077; `, shellquote.Enclose(folder), shellquote.Enclose(file),
		shellquote.Enclose(file+"."+rand.Text())) +
		`mkdir -p -m 711 "$d" || exit 1; ` + above(folder) +
		`[ -n "$(find "$d" -prune -type d -user "$u")" ] || { echo it is not the own folder of this user >&2; exit 1; }; ` +
		`[ -z "$(find "$d" -prune '(' ` + writable +
		` ')')" ] || { echo others may write it: name a folder for bailiff alone >&2; exit 1; }; ` +
		`trap "rm -f \"\$p\"" EXIT; cat >"$p" || exit 1; ` +
		`[ "$(sha256sum <"$p" | cut -c 1-64)" = ` + hex.EncodeToString(sum[:]) +
		` ] || { echo what arrived is not what was sent >&2; exit 1; }; ` +
		`chmod 500 "$p" && "$p" </dev/null || { echo it cannot be run: is the folder on a file system that allows no programs, noexec? ` +
		`>&2; exit 1; }; ` +
		`chmod ` + mode + ` "$p" && mv -f "$p" "$f" || exit 1; ` +
		`find "$d/." ! -name . -prune -type f -name "bailiff-*" -mtime +90 -exec rm -f {} ";"`
}

// isMissing is how a script says that a program is not there.
const isMissing = 97

// start starts a program of ours, with an environment that holds nothing but where
// programs are, once its folder is known to be there. A user who could change one of our
// programs would be told every value of a variable, so all that are needed are looked
// at before each start.
func (s *site) start(ctx context.Context, g ground, folder, name string, arguments ...string) (*remote.Process, error) {
	var script strings.Builder
	var files []string
	for _, p := range s.needed {
		files = append(files, g.installed[p.name])
		fmt.Fprintf(&script, `[ -f %s ] || exit %d; `, shellquote.Quote(g.installed[p.name]), isMissing)
	}
	script.WriteString(above(g.folder) + only(theirs+" -o "+writable+" -o ! -type d",
		g.folder) + only(theirs+" -o "+writable+" -o ! -type f", files...))
	fmt.Fprintf(&script, `[ -d %s ] || { echo the host has no folder %[1]s >&2; exit 1; }; cd /; exec env -i %s`,
		shellquote.Quote(folder), shellquote.Join(append([]string{"PATH=" + searchPath, g.installed[name]}, arguments...)...))
	return s.host.Start(ctx, command(script.String()))
}

// What find says of a path that others can change; $u is who has logged in.
const (
	theirs   = `! -user "$u" ! -user 0`
	writable = `-perm -020 -o -perm -002`
)

// above is a part of a script that goes on if no other user can replace a folder or one
// on the way to it. In one that is sticky no user can replace what another one owns. A
// link is no folder: what it leads to would have to be looked at too.
func above(folder string) string {
	var all []string
	for at := folder; at != "/"; {
		at = path.Dir(at)
		all = append(all, at)
	}
	return `u=$(id -u) || exit 1; ` + only(theirs+" -o ! -type d -o ! -perm -1000 '(' "+writable+" ')'", all...)
}

// only is a part of a script that goes on if of no path what is wrong is so, and if
// that can be found out.
func only(wrong string, paths ...string) string {
	return fmt.Sprintf(`bad=$(find %s -prune '(' %s ')' -print) && [ -z "$bad" ] || `+
		`{ printf "others could replace what would be run: it, its folder and those above must be no links, belong to this user or root, `+
		`and be writable by nobody else, unlike %%s\n" "$bad" >&2; exit 1; }; `,
		shellquote.Join(paths...), wrong)
}

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// command has a script run by a shell that is known, whatever the user's is.
func command(script string) string { return shellquote.Join("exec", "/bin/sh", "-c", script) }

// longestAnswer bounds what a script of ours may say.
const longestAnswer = 64 << 10

// run runs a script to its end and returns what it says after a line that no other
// program can have printed: the login shell may greet.
func (s *site) run(ctx context.Context, script string, input []byte) (string, error) {
	begin := rand.Text()
	process, err := s.host.Start(ctx, command("echo "+begin+"; "+script))
	if err != nil {
		return "", err
	}
	defer process.Close()
	defer context.AfterFunc(ctx, func() { process.Close() })()
	go func() {
		_, _ = process.Write(input)
		_ = process.CloseWrite()
	}()
	said, err := io.ReadAll(io.LimitReader(process, longestAnswer))
	if err == nil {
		err = ended(ctx, process)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	_, answer, found := strings.Cut(string(said), begin+"\n")
	if f := new(failed); !found && (err == nil || errors.As(err, &f)) {
		f.cause = fmt.Errorf("its login shell ran no script, but said %q", bailiff.Foreign(string(said)))
		err = f
	}
	return answer, err
}

// ended waits for the end of a script, which is an error unless it ended well.
func ended(ctx context.Context, process *remote.Process) error {
	select {
	case <-process.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	status, said, err := process.Exit()
	if err == nil && status != 0 {
		err = &failed{errors.New("a script failed"), status, said}
	}
	return err
}
