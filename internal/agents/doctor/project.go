package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
)

// examineProject sees whether a folder inside is the one of this machine.
func (t door) examineProject(ctx context.Context, all *diagnosis.Checks, m bailiff.Mount) {
	name, remove := t.check("project"), "Take it away by bailiff setup AGENT --project "+shellquote.Quote(m.Source)+" --remove"
	about, err := os.Stat(m.Source)
	if err != nil {
		all.Fail(name, "No sandbox can be made that shows it: "+err.Error()+".", remove)
		return
	}
	if !about.IsDir() {
		return // it is what programs need, as settings of git
	}
	req := t.request("stat -c %i . && if test -w .; then echo true; else echo false; fi")
	req.Args.Workdir = m.Target
	answer, err := t.run(ctx, req)
	switch want := fmt.Sprintf("%d\n%t\n", inode(about), !m.ReadOnly); {
	case err != nil:
		all.Fail(name, sentence(err), remove)
	case answer.Status != bailiff.Completed || answer.Output != want:
		all.Fail(name, fmt.Sprintf("The sandbox does not show %s as the policies say. %s", m.Source, answer.Message),
			"Start the sidecar anew, and let the sandbox's user write the folder.")
	case m.ReadOnly:
		all.Fine(name, "The sandbox shows %s, read-only.", m.Source)
	default:
		all.Fine(name, "The sandbox shows %s, writable.", m.Source)
		t.examineAuthor(ctx, all, m)
		t.examinePrograms(ctx, all, m)
		t.examineBare(ctx, all, m)
	}
}

// examineBare sees whether git of this user reads the settings of bare repositories that it comes upon, which commands may make.
func (t door) examineBare(ctx context.Context, all *diagnosis.Checks, m bailiff.Mount) {
	cmd := subprocess.Command(ctx, "git", "config", "--global", "--get", "safe.bareRepository")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if said, err := subprocess.Output(ctx, cmd); errors.Is(err, exec.ErrNotFound) || err == nil && strings.TrimSpace(said) == "explicit" {
		return
	}
	all.Doubt(t.check("bare repositories"),
		"Your git starts programs by the settings of a bare repository that a command makes in "+m.Source+", once you call it there.",
		"git config --global safe.bareRepository explicit")
}

// inode is by which number a folder is known on its file system.
func inode(about os.FileInfo) uint64 {
	if said, ok := about.Sys().(*syscall.Stat_t); ok {
		return said.Ino
	}
	return 0
}

// author ends with status 1 where git would refuse a commit, and with another one where it has none to make.
const author = "git rev-parse --git-dir >/dev/null 2>&1 || exit 3; git config user.email"

// examineAuthor sees whether an agent may commit: git reads the author from the home folder, too,
// which no sandbox shows.
func (t door) examineAuthor(ctx context.Context, all *diagnosis.Checks, m bailiff.Mount) {
	req := t.request(author)
	req.Args.Workdir = m.Target
	if answer, err := t.run(ctx, req); err != nil || answer.Status != bailiff.Completed || answer.ExitCode != 1 {
		return
	}
	git := "git -C " + shellquote.Quote(m.Source) + " config "
	all.Doubt(t.check("author"),
		"Commits of the agent in "+m.Source+" fail: git finds no author in the sandbox, which does not show your home.",
		fmt.Sprintf(`%[1]suser.name "$(git config --global user.name)"; %[1]suser.email "$(git config --global user.email)"`, git))
}

// needed are the programs that a project with such a file is built and tested with.
var needed = map[string][]string{
	"Cargo.toml": {"cargo"}, "Gemfile": {"ruby"}, "Makefile": {"make"}, "build.gradle": {"java"}, "composer.json": {"php"},
	"go.mod": {"go"}, "package.json": {"node", "npm"}, "pom.xml": {"mvn"}, "pyproject.toml": {"python3"},
}

// examinePrograms sees whether commands find what builds and tests the project.
func (t door) examinePrograms(ctx context.Context, all *diagnosis.Checks, m bailiff.Mount) {
	var lacking []string
	for _, name := range programsOf(m.Source) {
		req := t.request("command -v " + name)
		if answer, err := t.run(ctx, req); err == nil && answer.Status == bailiff.Completed && answer.ExitCode != 0 {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		all.Doubt(t.check("programs"),
			"Commands do not find these programs, which "+m.Source+" needs: "+strings.Join(lacking, ", ")+".",
			"Have them installed in the image, or where none is used, in /usr/bin, /usr/local/bin or /usr/local/go/bin: a link to a "+
				"program below /usr will do.")
	}
}

func programsOf(folder string) (names []string) {
	for file, programs := range needed {
		if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
			names = append(names, programs...)
		}
	}
	slices.Sort(names)
	return names
}
