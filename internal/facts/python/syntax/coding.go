package syntax

import (
	"regexp"
	"strings"
)

// coding is the line by which a program says how its bytes are to be read. Where they are not read as they stand, the text is another one.
var coding = regexp.MustCompile(`^(?:[ \t\f]*(?:#.*)?\r?\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// ReadsAsItStands says that the text of a source is what Python makes of its bytes.
func ReadsAsItStands(source string) bool {
	m := coding.FindStringSubmatch(source)
	if m == nil {
		return true
	}
	switch strings.ToLower(strings.ReplaceAll(m[1], "_", "-")) {
	case "utf-8", "utf8", "utf-8-sig", "latin-1", "latin1", "iso-8859-1", "iso-8859-15", "ascii", "us-ascii", "utf-8-unix", "cp1252":
		return true
	}
	return false
}
