package protected

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// git writes to its own settings, when a branch is made or pushed, which branch of which remote
// it follows (gitconfig's branch.NAME.remote and branch.NAME.merge; an editor notes another one,
// branch.NAME.vscode-merge-base), and a new repository is told who commits (user.name, user.email).
// That starts no program.
var (
	branchSection = regexp.MustCompile(`^\[branch "[A-Za-z0-9_./-]+"\]$`)
	branchLine    = regexp.MustCompile(`^(remote = [A-Za-z0-9_-]+|remote = \.|merge = refs/heads/[A-Za-z0-9_./-]+|` +
		`vscode-merge-base = [A-Za-z0-9_./-]+)$`)
	userLine      = regexp.MustCompile(`^(name|email) = [\pL0-9 .,@_+-]+$`)
	remoteSection = regexp.MustCompile(`^\[remote "([A-Za-z0-9_-]+)"\]$`)
)

// isHarmless says whether a change of git's settings is only of who commits, and of which
// remote's branches the branches follow, of remotes that were there before.
func isHarmless(name string, was, now state) bool {
	if path.Base(name) != "config" || was.kind != file || now.kind != file || was.mode != now.mode {
		return false
	}
	before, lines, ok := splitConfig(was.content)
	after, changed, okNow := splitConfig(now.content)
	if !ok || !okNow || !slices.Equal(before, after) {
		return false
	}
	remotes := append(remotesOf(before), ".")
	for _, line := range changed {
		remote, names := strings.CutPrefix(line, "remote = ")
		if names && !slices.Contains(remotes, remote) && !slices.Contains(lines, line) {
			return false
		}
	}
	return true
}

// splitConfig takes the lines that say which branch is followed or who commits apart from all
// others; ok is false if lines go on in the next one.
func splitConfig(text []byte) (others, harmless []string, ok bool) {
	if bytes.ContainsAny(text, "\\\r\x00") {
		return nil, nil, false
	}
	section, isHarmless := "", (*regexp.Regexp)(nil)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case branchSection.MatchString(line):
			section, isHarmless = line, branchLine
		case line == "[user]":
			section, isHarmless = line, userLine
		case strings.HasPrefix(line, "["):
			section, isHarmless = "", nil
			others = append(others, line)
		case isHarmless != nil && isHarmless.MatchString(line):
			harmless = append(harmless, line)
		case line != "":
			others = append(others, section+line)
		}
	}
	return others, harmless, true
}

func remotesOf(lines []string) (names []string) {
	for _, line := range lines {
		if found := remoteSection.FindStringSubmatch(line); found != nil {
			names = append(names, found[1])
		}
	}
	return names
}

// plainSettings are the settings of a repository that start no program, by section: those that git
// writes to one that it makes, and those that only say how git behaves.
var plainSettings = []section{
	sectionOf(`core`,
		`(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks) = [a-z0-9]+`,
		`(autocrlf|eol|safecrlf|quotepath|abbrev|longpaths|fscache|sparse[cC]heckout|sparse[cC]heckout[cC]one) = [a-z0-9]+`,
		`worktree = (\.\./)+[A-Za-z0-9_./-]+`),
	sectionOf(`extensions`, `(object[fF]ormat|ref[sS]torage|worktree[cC]onfig|partial[cC]lone) = [a-z0-9]+`),
	sectionOf(`remote "[A-Za-z0-9_./-]+"`,
		`url = (https?|ssh|git)://[A-Za-z0-9][^\s";#]*`,
		`url = [A-Za-z0-9_.]+@[A-Za-z0-9.]+:[A-Za-z0-9_./~-]+`,
		`url = ((file://)?/|\.\.?/)[^\s";#:]*`,
		`fetch = \+?refs/[^\s";#]+`,
		`promisor = true`, `partial[cC]lone[fF]ilter = [a-z0-9:=]+`, `tag[oO]pt = --(no-)?tags`, `mirror = [a-z]+`,
		`gh-resolved = [a-z]+`),
	sectionOf(`branch "[A-Za-z0-9_./-]+"`,
		`remote = [A-Za-z0-9_.-]+`, `merge = refs/heads/[A-Za-z0-9_./-]+`, `rebase = (true|false)`,
		`vscode-merge-base = [A-Za-z0-9_./-]+`),
	sectionOf(`user`, `(name|email) = [\pL0-9 .,@_+-]+`),
	sectionOf(`submodule`, `active = [A-Za-z0-9_./-]+`),
	sectionOf(`submodule "[A-Za-z0-9_./-]+"`,
		`active = (true|false)`, `url = (https?|ssh|git)://[A-Za-z0-9][^\s";#]*`, `url = /[^\s";#:]*`),
	sectionOf(`lfs`, `repositoryformatversion = [0-9]+`),
	sectionOf(`lfs "[^\s"]+"`, `(access = [a-z]+|locksverify = (true|false))`),
	sectionOf(`(commit|tag)`, `gpg[sS]ign = (true|false)`),
	sectionOf(`(advice|color|gc|init|pull|push|merge|rebase|fetch|status|log)`,
		`(auto|auto[dD]etach|default|default[bB]ranch|rebase|ff|auto[sS]quash|auto[sS]tash) = [A-Za-z0-9-]+`,
		`(conflict[sS]tyle|prune|ui|detached[hH]ead) = [A-Za-z0-9-]+`),
}

// section is one of git's settings, and which lines in it start nothing.
type section struct{ head, line *regexp.Regexp }

func sectionOf(head string, lines ...string) section {
	return section{regexp.MustCompile(`^\[` + head + `\]$`), regexp.MustCompile(`^(` + strings.Join(lines, "|") + `)$`)}
}

// isPlain says whether git's settings have no line that could start a program, nor one that is not
// known.
func isPlain(text []byte) bool {
	if bytes.ContainsAny(text, "\\\r\x00") {
		return false
	}
	var allowed *regexp.Regexp
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "["):
			if allowed = plainSection(line); allowed == nil {
				return false
			}
		case allowed == nil || !allowed.MatchString(line):
			return false
		}
	}
	return true
}

// worksInside says whether the files of a repository that keeps its settings in a folder are in the
// folder above all: the setting core.worktree says where they are.
func worksInside(folder string, text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if to, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree = "); ok && strings.HasPrefix(path.Join(folder, to)+"/", "../") {
			return false
		}
	}
	return true
}

func plainSection(line string) *regexp.Regexp {
	for _, s := range plainSettings {
		if s.head.MatchString(line) {
			return s.line
		}
	}
	return nil
}

// sameRemotes says whether two settings name the same addresses.
func sameRemotes(was, now state) bool {
	return slices.Equal(addresses(was.content), addresses(now.content))
}

func addresses(text []byte) (all []string) {
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if strings.HasPrefix(line, "url") {
			all = append(all, section+line)
		}
	}
	return all
}
