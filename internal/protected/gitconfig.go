package protected

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// git writes to its own settings, when a branch is made or pushed, which branch of which remote
// it follows (gitconfig's branch.NAME.remote and branch.NAME.merge). That starts no program.
var (
	branchSection = regexp.MustCompile(`^\[branch "[A-Za-z0-9_./-]+"\]$`)
	branchLine    = regexp.MustCompile(`^(remote = [A-Za-z0-9_-]+|remote = \.|merge = refs/heads/[A-Za-z0-9_./-]+)$`)
	remoteSection = regexp.MustCompile(`^\[remote "([A-Za-z0-9_-]+)"\]$`)
)

// isHarmless says whether a change of git's settings is only of which remote's branches the
// branches follow, of remotes that were there before.
func isHarmless(name string, was, now state) bool {
	if path.Base(name) != "config" || was.mode != now.mode {
		return false
	}
	before, branches, ok := splitConfig(was.content)
	after, changed, okNow := splitConfig(now.content)
	if !ok || !okNow || !slices.Equal(before, after) {
		return false
	}
	remotes := append(remotesOf(before), ".")
	for _, line := range changed {
		remote, names := strings.CutPrefix(line, "remote = ")
		if names && !slices.Contains(remotes, remote) && !slices.Contains(branches, line) {
			return false
		}
	}
	return true
}

// splitConfig takes the lines that say which branch is followed apart from all others; ok is
// false if lines go on in the next one.
func splitConfig(text []byte) (others, branches []string, ok bool) {
	if bytes.ContainsAny(text, "\\\r\x00") {
		return nil, nil, false
	}
	section, inBranch := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case branchSection.MatchString(line):
			section, inBranch = line, true
		case strings.HasPrefix(line, "["):
			section, inBranch = "", false
			others = append(others, line)
		case inBranch && branchLine.MatchString(line):
			branches = append(branches, line)
		case line != "":
			others = append(others, section+line)
		}
	}
	return others, branches, true
}

func remotesOf(lines []string) (names []string) {
	for _, line := range lines {
		if found := remoteSection.FindStringSubmatch(line); found != nil {
			names = append(names, found[1])
		}
	}
	return names
}
