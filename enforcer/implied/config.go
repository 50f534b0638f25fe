package implied

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts"
)

// setting is one of git's settings: "[section "sub"] name = value".
type setting struct{ section, sub, name, value string }

type config []setting

// parse reads settings as git does, sign by sign; whole is false where the text is none that git reads.
func parse(text string) (all config, whole bool) {
	p := &parser{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	for p.rest != "" {
		switch c := p.rest[0]; {
		case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			p.rest = p.rest[1:]
		case c == '#' || c == ';':
			_, p.rest, _ = strings.Cut(p.rest, "\n")
		case c == '[':
			if !p.header() {
				return nil, false
			}
		default:
			if p.at.section == "" || !p.line() {
				return nil, false
			}
			all = append(all, p.at)
		}
	}
	return all, true
}

// parser is what is left of a text, and where that is.
type parser struct {
	rest string
	at   setting
}

var (
	header = regexp.MustCompile(`^\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?[ \t]*\]`)
	name   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)[ \t]*`)
	escape = regexp.MustCompile(`\\(.)`)
)

func (p *parser) header() bool {
	h := header.FindStringSubmatch(p.rest)
	if h == nil {
		return false
	}
	p.at = setting{section: strings.ToLower(h[1]), sub: escape.ReplaceAllString(h[2], "$1")}
	p.rest = p.rest[len(h[0]):]
	return true
}

// line reads a name with its value.
func (p *parser) line() bool {
	n := name.FindStringSubmatch(p.rest)
	if n == nil {
		return false
	}
	p.at.name, p.at.value, p.rest = strings.ToLower(n[1]), "", p.rest[len(n[0]):]
	switch {
	case p.rest == "" || p.rest[0] == '\n':
		return true
	case p.rest[0] != '=':
		return false
	}
	p.rest = p.rest[1:]
	return p.value()
}

var escapes = map[byte]byte{'\\': '\\', '"': '"', 'n': '\n', 'b': '\b', 't': '\t'}

// value reads to the end of the line, or of those that it goes on in. A comment goes on in none.
func (p *parser) value() bool {
	var b strings.Builder
	quoted, kept := false, 0 // up to where blanks count
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\n':
			p.at.value, p.rest = strings.TrimLeft(b.String()[:kept], " \t"), p.rest[i+1:]
			return !quoted
		case c == '\\':
			if i++; i == len(p.rest) {
				return false
			}
			if p.rest[i] == '\n' {
				continue
			}
			plain, ok := escapes[p.rest[i]]
			if !ok {
				return false
			}
			b.WriteByte(plain)
			kept = b.Len()
		case c == '"':
			quoted = !quoted
			kept = max(kept, b.Len())
		case !quoted && (c == '#' || c == ';'):
			p.at.value = strings.TrimLeft(b.String()[:kept], " \t")
			_, p.rest, _ = strings.Cut(p.rest[i:], "\n")
			return true
		default:
			b.WriteByte(c)
			if quoted || c != ' ' && c != '\t' {
				kept = b.Len()
			}
		}
	}
	p.at.value, p.rest = strings.TrimLeft(b.String()[:kept], " \t"), ""
	return !quoted
}

// digest is of all that may start a program or lead git to another place.
func (all config) digest() string {
	var b strings.Builder
	remotes := all.remotes()
	for _, one := range all {
		if !one.isIdle(remotes) {
			_, _ = fmt.Fprintf(&b, "%q\n", []string{one.section, one.sub, one.name, one.value})
		}
	}
	return sum(b.String())
}

// remotes are the names of those that have an address.
func (all config) remotes() (names []string) {
	for _, one := range all {
		if one.section == "remote" && !slices.Contains(names, one.sub) {
			names = append(names, one.sub)
		}
	}
	return names
}

// idle are settings that start nothing and lead nowhere, and which git, editors and hosts' own programs write as people
// work, by section.
var idle = map[string]string{
	"branch": "merge rebase description vscode-merge-base gh-merge-base base",
	"user":   "name email signingkey",
	"remote": "gh-resolved",
	"color":  "*",
	"advice": "*",
}

// isIdle says that a setting is one of those. Which remote belongs to a branch, as "push -u" writes it, leads nowhere else
// where there is one remote alone.
func (one setting) isIdle(remotes []string) bool {
	names := strings.Fields(idle[one.section])
	if slices.Contains(names, one.name) || slices.Contains(names, "*") {
		return true
	}
	return one.section == "branch" && (one.name == "remote" || one.name == "pushremote") && len(remotes) == 1 && one.value == remotes[0]
}

// includes says that a setting names more settings.
func (one setting) includes() bool {
	return (one.section == "include" || one.section == "includeif") && one.name == "path"
}

// words are settings, by section, whose values are no commands: addresses, names and folders.
var words = map[string]string{
	"remote": "url pushurl fetch push mirror prune prunetags tagopt skipfetchall skipdefaultupdate promisor partialclonefilter",
	"url":    "insteadof pushinsteadof", "branch": "remote pushremote mergeoptions", "submodule": "url path active branch ignore",
	"safe": "directory", "core": "worktree", "maintenance": "repo", "gc": "*", "extensions": "*", "init": "defaultbranch",
}

// address is where a remote is; empty if the setting names none.
func (one setting) address() string {
	if one.section == "remote" && (one.name == "url" || one.name == "pushurl") {
		return one.value
	}
	return ""
}

// isElsewhere says that an address is on another machine, or is read by a helper that git has.
func isElsewhere(address string) bool {
	before, _, host := strings.Cut(address, ":")
	return strings.Contains(address, "://") && !strings.HasPrefix(address, "file://") || host && !strings.Contains(before, "/")
}

// files are those that a setting names: as a path, or by what its command runs, seen from where git runs commands.
func (one setting) files() []string {
	names := strings.Fields(words[one.section])
	if one.value == "" || slices.Contains(names, one.name) || slices.Contains(names, "*") || one.isIdle(nil) {
		return nil
	}
	if strings.HasSuffix(one.name, "path") || strings.HasSuffix(one.name, "file") {
		return []string{one.value}
	}
	text := strings.TrimPrefix(one.value, "!")
	if one.section == "alias" && text == one.value {
		return nil // words of git's own
	}
	command := facts.Shell(text, facts.Place{})
	return slices.Concat(command.Files, command.Opens)
}

// isTold says that a path of a setting is one that can be looked at.
func isTold(p string) bool {
	return !strings.HasPrefix(p, "%(") && (!strings.HasPrefix(p, "~") || p == "~" || strings.HasPrefix(p, "~/"))
}
