package implied

import (
	"fmt"
	"regexp"
	"strings"
)

// setting is a line of a file of git's settings: "[section "sub"] name = value".
type setting struct{ section, sub, name, value string }

type config []setting

var (
	header = regexp.MustCompile(`^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*`)
	assign = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$`)
)

// parse reads settings as git-config(1) describes them; whole is false where the text is another.
func parse(text string) (all config, whole bool) {
	var at setting
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines[i], "\ufeff"))
		if h := header.FindStringSubmatch(line); h != nil {
			at = setting{section: strings.ToLower(h[1]), sub: unescaped(h[2])}
			line = line[len(h[0]):]
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		for continues(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + lines[i]
		}
		m := assign.FindStringSubmatch(line)
		if m == nil || at.section == "" {
			return nil, false
		}
		value, ok := plain(m[2])
		if !ok {
			return nil, false
		}
		at.name, at.value = strings.ToLower(m[1]), value
		all = append(all, at)
	}
	return all, true
}

// continues says that a line goes on behind its end.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// plain is a value without quotes, escapes and a comment.
func plain(text string) (value string, ok bool) {
	var b strings.Builder
	quoted, end := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i == len(text) || !strings.ContainsRune(`\"nbt`, rune(text[i])) {
				return "", false
			}
			b.WriteByte(escapes[text[i]])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:end], true
		default:
			b.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t') {
				continue
			}
		}
		end = b.Len()
	}
	return b.String()[:end], !quoted
}

var escapes = map[byte]byte{'\\': '\\', '"': '"', 'n': '\n', 'b': '\b', 't': '\t'}

func unescaped(sub string) string { return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(sub) }

// digest is of all that may start a program or lead git to another place.
func (all config) digest() string {
	var b strings.Builder
	for _, one := range all {
		if !one.isPlace() {
			_, _ = fmt.Fprintf(&b, "%q\n", []string{one.section, one.sub, one.name, one.value})
		}
	}
	return sum(b.String())
}

// name of a branch or of a remote; neither an address nor a path.
var branchName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// isPlace says that a setting only tells which branch of which remote belongs to a branch: git itself changes these at
// every "push -u" and "branch -d".
func (one setting) isPlace() bool {
	if one.section != "branch" {
		return false
	}
	switch one.name {
	case "remote", "pushremote":
		return branchName.MatchString(one.value) || one.value == "."
	case "merge", "rebase", "description":
		return true
	}
	return false
}

// includes says that a setting names more settings.
func (one setting) includes() bool {
	return (one.section == "include" || one.section == "includeif") && one.name == "path"
}

// addresses are sections whose values name what lies on other machines.
var addresses = map[string]bool{"remote": true, "url": true, "branch": true, "submodule": true}

// files are those that a setting names: as a path, or as the program of a command.
func (one setting) files(top string) []string {
	text := strings.TrimPrefix(one.value, "!")
	if addresses[one.section] && text == one.value {
		return nil
	}
	program, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	program = strings.Trim(program, `"'`)
	switch {
	case program == "" || strings.Contains(program, "://"):
		return nil
	case strings.HasSuffix(one.name, "path") || strings.HasSuffix(one.name, "file"):
		return []string{seen(top, text)}
	case strings.Contains(program, "/"):
		return []string{seen(top, program)}
	}
	return nil
}
