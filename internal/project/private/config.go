package private

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

// allowed are the settings of the user that hold inside as well: they start no program and hold no
// secret. Every other setting stays outside.
var allowed = regexp.MustCompile(`^(core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf|quotepath|abbrev|` +
	`sparsecheckout|sparsecheckoutcone|hookspath)|user\.(name|email)|branch\..+\.(remote|merge|rebase)|` +
	`remote\..+\.(url|fetch|pushurl|tagopt)|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(ff|conflictstyle)|` +
	`rebase\.autosquash|` +
	`init\.defaultbranch|filter\.lfs\.(clean|smudge|process|required)|lfs\.(url|locksverify|repositoryformatversion))$`)

// setting is one of the user's that holds inside.
type setting struct{ key, value string }

// settingsOf are those settings of a repository that hold inside, by what its user's git says. Files that the
// repository's own settings include do not count: an agent may have made it.
func settingsOf(ctx context.Context, p repository.Place) (all []setting, err error) {
	sources := [][]string{{"--system", "--includes"}, {"--global", "--includes"},
		{"--file", filepath.Join(p.Common, "config"), "--no-includes"},
		{"--file", filepath.Join(p.Git, "config.worktree"), "--no-includes"}}
	for _, source := range sources {
		cmd := subprocess.Command(ctx, "git", slices.Concat([]string{"--git-dir=" + p.Git, "config"}, source, []string{"--list", "-z"})...)
		for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
			if value, ok := os.LookupEnv(name); ok {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		text, err := subprocess.Output(ctx, cmd)
		if err != nil && source[0] == "--file" && !strings.HasSuffix(source[1], ".worktree") {
			return nil, fmt.Errorf("reading the settings of %s: %w", p.Git, err)
		}
		for entry := range strings.SplitSeq(text, "\x00") {
			key, value, _ := strings.Cut(entry, "\n")
			if s, ok := admit(key, value); ok {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// admit says whether a setting holds inside, and how.
func admit(key, value string) (setting, bool) {
	switch {
	case !allowed.MatchString(strings.ToLower(key)) || strings.ContainsAny(value, "\x00\n\r"):
		return setting{}, false
	case strings.EqualFold(key, "core.hooksPath") && !filepath.IsLocal(value):
		return setting{}, false
	case strings.HasSuffix(key, "url"):
		value = withoutPassword(value)
	}
	return setting{key, value}, true
}

// withoutPassword takes who and by which word out of an address of the web.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme != "https" && u.Scheme != "http" {
		return address
	}
	u.User = nil
	return u.String()
}

// configText is a file of settings.
func configText(all []setting) string {
	var text strings.Builder
	for _, s := range all {
		first, last := strings.Index(s.key, "."), strings.LastIndex(s.key, ".")
		if first < 0 {
			continue
		}
		fmt.Fprintf(&text, "[%s", s.key[:first])
		if first < last {
			fmt.Fprintf(&text, " %s", quoted(s.key[first+1:last]))
		}
		fmt.Fprintf(&text, "]\n\t%s = %s\n", s.key[last+1:], quoted(s.value))
	}
	return text.String()
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// repositoryConfig says of which form a repository is.
func repositoryConfig(hash int) string {
	if hash != 20 {
		return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
}

// ownConfig is what a private directory's config says before anything inside changes it.
func ownConfig(hash int) string {
	return repositoryConfig(hash) + "[commit]\n\tgpgsign = false\n[tag]\n\tgpgsign = false\n[gc]\n\tauto = 0\n[include]\n" +
		"\tpath = " + userConfig + "\n"
}

// settingsFiles are the files by which the user's settings may change.
func settingsFiles(p repository.Place) []string {
	files := []string{filepath.Join(p.Common, "config"), filepath.Join(p.Git, "config.worktree"), "/etc/gitconfig"}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
	}
	if folder := os.Getenv("XDG_CONFIG_HOME"); folder != "" {
		files = append(files, filepath.Join(folder, "git", "config"))
	}
	return slices.Compact(files)
}

// copied are the settings that a copy of a repository keeps that commands made.
var copied = regexp.MustCompile(`^(core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf|quotepath|abbrev)|` +
	`user\.(name|email)|branch\..+\.(remote|merge|rebase)|remote\..+\.(url|fetch))$`)

// HashOf is how many bytes a hash has in a repository with these settings, as git config --list -z tells them.
func HashOf(said string) int {
	for entry := range strings.SplitSeq(said, "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); strings.EqualFold(key, "extensions.objectFormat") && value == "sha256" {
			return 32
		}
	}
	return 20
}

// MakeCopy begins a git directory in an empty folder, with those of the settings that start nothing.
func MakeCopy(root *os.Root, said string) error {
	for _, folder := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags", "info"} {
		if err := root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	var all []setting
	for entry := range strings.SplitSeq(said, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if s, ok := admit(key, value); ok && copied.MatchString(strings.ToLower(key)) && !strings.Contains(value, "::") {
			all = append(all, s)
		}
	}
	text := repositoryConfig(HashOf(said)) + "[core]\n\tlogallrefupdates = true\n" + configText(all)
	return errors.Join(Write(root, "HEAD", []byte("ref: refs/heads/main\n"), 0o600), Write(root, "config", []byte(text), 0o600))
}
