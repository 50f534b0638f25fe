package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

const (
	mine      = "[user]\n\tname = Ana \\\"A\\\" B\n\temail = ana@x.test\n[alias]\n\tst = !touch ran\n[core]\n\tsshCommand = ./evil\n"
	minesFile = ".local/share/bailiff/gitconfig"
)

// author is whom a set-up of a project finds, and says of it.
func (p person) author(project string) (*Survey, author) {
	p.t.Helper()
	s := p.survey("claude-code", project)
	backendtest.Must(p.t, s.chooseBackend(p.t.Context()))
	s.author = s.findAuthor(p.t.Context())
	return s, s.author
}

// git runs git in a project.
func (p person) git(project string, words ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", words...)
	cmd.Dir, cmd.Env = filepath.Join(p.home, project), []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	said, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v %s", words, err, said)
	}
	return strings.TrimSpace(string(said))
}

func TestTheAuthorOfCommitsIsWhomTheUsersGitNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		global, local string
		want          author
	}{
		"nobody":                       {"", "", author{}},
		"the user":                     {mine, "", author{`Ana "A" B`, "ana@x.test"}},
		"a name alone":                 {"[user]\n\tname = Ana\n", "", author{}},
		"a line break in the name":     {"[user]\n\tname = \"A\\n[alias]\"\n\temail = a@x.test\n", "", author{}},
		"one of the repository's own":  {mine, "[user]\n\tname = Shop\n\temail = shop@x.test\n", author{}},
		"an address of the repository": {mine, "[user]\n\temail = shop@x.test\n", author{`Ana "A" B`, "ana@x.test"}},
		"one for some folders": {mine + "[includeIf \"gitdir:~/src/\"]\n\tpath = work\n", "",
			author{`Ana "A" B`, "ana@work.test"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.writes(".gitconfig", c.global)
			p.writes("work", "[user]\n\temail = ana@work.test\n")
			backendtest.Must(t, os.MkdirAll(filepath.Join(p.home, "src/shop"), 0o700))
			p.git("src/shop", "init", "-q")
			p.writes("src/shop/.git/config", p.reads("src/shop/.git/config")+c.local)
			if _, found := p.author("src/shop"); found != c.want {
				t.Errorf("it is %+v, want %+v", found, c.want)
			}
		})
	}
}

func TestSandboxesSeeTheAuthorAndNothingElseOfTheUsersGit(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.writes(".gitconfig", mine)
	setsUp := func(project string) (changed []string, said string) {
		backendtest.Must(t, os.MkdirAll(filepath.Join(p.home, project), 0o700))
		s, _ := p.author(project)
		changes, err := s.Changes(Answers{AcceptMissingLimits: true})
		backendtest.Must(t, err)
		backendtest.Must(t, settings.Write(changes))
		for _, c := range changes {
			changed = append(changed, filepath.Base(c.Path))
		}
		return changed, strings.Join(s.authorAdvice(), "")
	}
	before := p.settings()
	if changed, said := setsUp("src/shop"); len(changed) < 4 || changed[0] != "gitconfig" || said != "" {
		t.Errorf("a setup writes %v and says %q", changed, said)
	}
	list := p.git(".", "config", "-f", minesFile, "--list")
	if want := "user.name=Ana \"A\" B\nuser.email=ana@x.test"; list != want {
		t.Errorf("git reads %q, want %q", list, want)
	}
	if rows := p.reads(".config/bailiff/policies/data.yaml"); strings.Count(rows, authorInside) != 1 ||
		!strings.Contains(p.reads(".config/bailiff/bailiff.yaml"), minesFile) {
		t.Errorf("the tables are %s", rows)
	}
	if changed, said := setsUp("src/shop"); len(changed) > 0 || said != "" {
		t.Errorf("the second time it writes %v and says %q", changed, said)
	}
	p.writes(".gitconfig", strings.Replace(mine, "ana@x.test", "ana@new.test", 1))
	if changed, said := setsUp("src/other"); strings.Contains(strings.Join(changed, " "), "gitconfig") ||
		!strings.Contains(said, "src/other config user.email ana@new.test") {
		t.Errorf("with another address it writes %v and says %q", changed, said)
	}
	p.writes(".gitconfig", mine)
	p.removes("claude-code", "src/other")
	if said := p.removes("claude-code", "src/shop"); said != "" || p.settings() != before {
		t.Errorf("the removal says %q and leaves\n%s", said, p.settings())
	}
	setsUp("src/shop")
	p.writes(minesFile, "[user]\n\tname = Bot\n")
	if said := p.removes("claude-code", "src/shop"); !strings.Contains(said, minesFile+" was changed since") ||
		p.reads(minesFile) != "[user]\n\tname = Bot\n" {
		t.Errorf("of a file that was changed it says %q", said)
	}
}
