package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bailiff-dev/bailiff/backends"
	backendsettings "github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// A commit needs an author, whom git reads in the home of its user, which no sandbox shows. The file of settings there names programs
// that git starts, too, so sandboxes of bubblewrap see another one, with the author and nothing else.

// authorInside is where git reads the settings of a machine. Those of the sandbox's home and of the repository go before them.
const authorInside = "/etc/gitconfig"

// author is who makes commits in sandboxes; the zero value stands for no known author.
type author struct{ name, email string }

// authorFile is what sandboxes show there.
func (s *Survey) authorFile() string {
	return backends.RealPath(filepath.Join(s.in.Home, ".local", "share", "bailiff", "gitconfig"))
}

// findAuthor is the one whom the user's own settings of git name for the project, unless the repository names one itself.
func (s *Survey) findAuthor(ctx context.Context) author {
	if s.Backend != "bubblewrap" || s.hasOwnRoot() {
		return author{}
	}
	if own := s.authorBy(ctx, "--local"); own.isWhole() {
		return author{}
	}
	if users := s.authorBy(ctx, "--global"); users.isWhole() {
		return users
	}
	return author{}
}

// hasOwnRoot says whether sandboxes are made of a folder in which there is no place for the file.
func (s *Survey) hasOwnRoot() bool {
	section, err := s.section()
	return err != nil || slices.ContainsFunc(section.Settings(), func(one backendsettings.Setting) bool {
		into, isText := one.Into.(*string)
		return one.Key == "root" && isText && *into != ""
	})
}

func (s *Survey) authorBy(ctx context.Context, scope string) author {
	return author{s.gitSetting(ctx, scope, "user.name"), s.gitSetting(ctx, scope, "user.email")}
}

// isWhole says whether git can make a commit by it, and a file of settings can hold it.
func (a author) isWhole() bool {
	return a.name != "" && a.email != "" && !strings.ContainsFunc(a.name+a.email, unicode.IsControl)
}

// gitPatience bounds how long git may take: without an author the doctor says what is left to do.
const gitPatience = 5 * time.Second

// gitPrograms are where git is looked for: not in a folder of the project, of which a PATH may have some.
var gitPrograms = []string{"/usr/local/bin/git", "/usr/bin/git"}

// gitSetting is the value of a key for the project; empty if there is none.
func (s *Survey) gitSetting(ctx context.Context, scope, key string) string {
	at := slices.IndexFunc(gitPrograms, settings.Exists)
	if at < 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, gitPrograms[at], "-C", s.Project, "config", scope, "--includes", "--get", key)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"HOME=" + s.in.Home, "PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
		if value := s.in.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	said, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(said), "\n")
}

// file is the author as a file of settings of git.
func (a author) file() string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	return fmt.Sprintf("# Who makes commits in sandboxes, written by \"bailiff setup\".\n[user]\n\tname = \"%s\"\n\temail = \"%s\"\n",
		quote.Replace(a.name), quote.Replace(a.email))
}

// authorChange writes the file, unless it is there: it may have been changed, and other projects' commits are made by it.
func (s *Survey) authorChange() (settings.Change, error) {
	c, err := settings.Read(s.authorFile(), "your name and e-mail address as your git has them, for commits in sandboxes", 0o644)
	if err == nil && !settings.Exists(c.Path) && s.showsAuthor() {
		c.After = s.author.file()
	}
	return c, err
}

// showsAuthor says whether sandboxes see the file, or will: not where a row shows another one in its place.
func (s *Survey) showsAuthor() bool {
	shown := s.shownAt(authorInside)
	return s.author.isWhole() && (shown == "" || shown == s.authorFile())
}

// appendAuthor has sandboxes see the file, if they do not yet.
func (s *Survey) appendAuthor(doc *yamledit.Document, path []string) error {
	if !s.showsAuthor() || s.shows(authorInside) {
		return nil
	}
	return doc.Append(map[string]any{"source": s.authorFile(), "target": authorInside, "read_only": true}, path...)
}

// takeBackAuthor removes the file with the last project; of one that a person changed since is said that it stays.
func (s *Survey) takeBackAuthor(r settings.Records) (settings.Change, error) {
	c, err := settings.Read(s.authorFile(), "no sandbox shows it any more", 0o644)
	if err != nil {
		return c, err
	}
	c, stays := r.TakeBackFile(c)
	s.Stays = append(s.Stays, stays...)
	return c, nil
}

// authorAdvice says how a project is given another author than the file names.
func (s *Survey) authorAdvice() (lines []string) {
	text, err := os.ReadFile(s.authorFile())
	if err != nil || !s.showsAuthor() || string(text) == s.author.file() {
		return nil
	}
	git := "git -C " + shellquote.Quote(s.Project) + " config "
	return []string{fmt.Sprintf("Commits in sandboxes are made by whom %s names. Your git has another author in this project, whom these "+
		"lines give to it: %suser.name %s; %suser.email %s", s.authorFile(), git, shellquote.Quote(s.author.name), git,
		shellquote.Quote(s.author.email))}
}
