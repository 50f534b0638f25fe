package protected

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// git writes to its own settings, when a branch is made or pushed, which branch of which remote
// it follows (gitconfig's branch.NAME.remote and branch.NAME.merge), and a new repository is told
// who commits (user.name, user.email). That starts no program.
var (
	branchSection = regexp.MustCompile(`^\[branch "[A-Za-z0-9_./-]+"\]$`)
	branchLine    = regexp.MustCompile(`^(remote = [A-Za-z0-9_-]+|remote = \.|merge = refs/heads/[A-Za-z0-9_./-]+)$`)
	userLine      = regexp.MustCompile(`^(name|email) = [\pL0-9 .,@_+-]+$`)
	remoteSection = regexp.MustCompile(`^\[remote "([A-Za-z0-9_-]+)"\]$`)
)

// isHarmless says whether a change of git's settings is only of who commits, and of which
// remote's branches the branches follow, of remotes that were there before.
func isHarmless(name string, was, now state) bool {
	if path.Base(name) != "config" || was.mode != now.mode {
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
