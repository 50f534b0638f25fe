package settings

import (
	"fmt"
	"strings"
)

// WithTOML is a text with a key set in one of its tables, where it is set nowhere. A key that
// has another value stays, and so does what is not written as one key a line.
func WithTOML(text, table, key, value string) (string, error) {
	lines, in, at := strings.SplitAfter(text, "\n"), "", -1
	if table == "" {
		at = 0
	}
	for i, line := range lines {
		if found := tomlTable.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			if in = strings.TrimSpace(found[1]); in == table {
				at = i + 1
			}
			continue
		}
		name, said, isKey := strings.Cut(line, "=")
		if !isKey || in != table || strings.TrimSpace(name) != key {
			continue
		}
		said, _, _ = strings.Cut(said, "#")
		if strings.TrimSpace(said) != value {
			return "", fmt.Errorf("line %d says %s = %s, and it must be %s", i+1, key, strings.TrimSpace(said), value)
		}
		return text, nil
	}
	written := key + " = " + value + "\n"
	switch {
	case at >= 0:
		return strings.Join(lines[:at], "") + written + strings.Join(lines[at:], ""), nil
	case strings.Contains(text, table):
		return "", fmt.Errorf("%s is there in another form: set %s = %s in it", table, key, value)
	case text != "" && !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	return text + "\n[" + table + "]\n" + written, nil
}
