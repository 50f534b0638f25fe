package object

import (
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
)

// Sends says whether calls of a name carry what they are given to another host.
func Sends(name string) bool {
	if !library.ReachesNetwork(name) {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch last {
	case "post", "put", "patch", "request", "send", "sendall", "sendto", "sendmail", "urlopen", "Request", "create_connection", "stream",
		"upload_file", "upload_fileobj", "put_object", "storbinary", "storlines":
		return true
	}
	return false
}

// Payload is what a call carries besides its address.
func Payload(c *Call) []Objects {
	var all []Objects
	for _, name := range []string{"data", "json", "content", "files", "params", "body", "fields"} {
		if vs, ok := c.Keywords[name]; ok {
			all = append(all, vs)
		}
	}
	if !Sends(c.Name) {
		return all
	}
	skip := 1
	switch c.Name[strings.LastIndexByte(c.Name, '.')+1:] {
	case "request", "stream":
		skip = 2
	case "send", "sendall", "sendto":
		skip = 0
	}
	return append(all, c.Args[min(skip, len(c.Args)):]...)
}

// FirstText is the text that the first of some values is.
func FirstText(vs Objects) string {
	if len(vs) > 0 && vs[0].Shape == IsString {
		return vs[0].Text
	}
	return ""
}

// TellsMachine says whether a call carries to another host what describes this machine or its user: in what it sends, or in its URL.
func TellsMachine(c *Call) bool {
	if !library.ReachesNetwork(c.Name) {
		return false
	}
	for _, vs := range Payload(c) {
		if vs.Tainted().Machine {
			return true
		}
	}
	for _, v := range c.First() {
		if v.Shape == IsString && (v.Machine && tellsInURL(v.Text) || (v.Machine || v.Read) && looksUp(c.Name) && inDomain(v.Text)) {
			return true
		}
	}
	return false
}

// looksUp says whether a call asks for the address of a name: the server of the name's domain sees it.
func looksUp(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "resolve", "query", "gethostbyname", "gethostbyname_ex", "getaddrinfo", "lookup":
		return true
	}
	return false
}

// inDomain says whether a name has a hole below a domain that is known.
func inDomain(name string) bool {
	_, domain, named := strings.Cut(name, HoleEnd)
	return named && strings.HasPrefix(domain, ".") && !strings.ContainsAny(name, " /")
}

// tellsInURL says whether a URL has a hole where another host sees it: a machine that asks itself is its own host.
func tellsInURL(url string) bool {
	_, rest, found := strings.Cut(url, "://")
	if !found {
		return false
	}
	host, behind := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, behind = rest[:end], rest[end:]
	}
	return strings.Contains(behind, HoleStart) || inDomain(host)
}

var passwordWord = regexp.MustCompile(`(?i)passw|passphrase|^pass$|^pwd$`)

// TriesPasswords says that of all that a call is given only the password comes out of a file. In a loop, such calls try one password
// after another at the same place.
func TriesPasswords(c *Call) bool {
	tries := false
	for _, vs := range c.Args {
		if vs.Tainted().Read || len(vs) > 1 {
			return false
		}
	}
	for name, vs := range c.Named() {
		read := vs.Tainted().Read
		switch {
		case passwordWord.MatchString(name):
			tries = tries || read
		case read || len(vs) > 1:
			return false
		}
	}
	return tries
}

var partOfAddress = regexp.MustCompile(`^(\d{1,3}\.){1,3}` + HoleStart)

// SweepsHosts says that a call connects to an address of which only the first numbers are told. In a loop, such calls look through a
// network.
func SweepsHosts(c *Call) bool {
	switch c.Name[strings.LastIndexByte(c.Name, '.')+1:] {
	case "connect", "connect_ex", "create_connection":
	default:
		return false
	}
	for _, v := range c.First() {
		host := Objects{v}
		if v.Shape == IsList && len(v.Items) > 0 {
			host = v.Items[0]
		}
		if partOfAddress.MatchString(FirstText(host)) {
			return library.ReachesNetwork(c.Name)
		}
	}
	return false
}

// MeantForShell is the text that words would be to a shell, where one of them is an operator that only a shell reads: who writes
// ["curl", URL, "|", "sh"] has a pipe in mind.
func MeantForShell(words []string) (string, bool) {
	text, meant := make([]string, len(words)), false
	for i, word := range words {
		switch word {
		case "|", "&&", "||":
			text[i], meant = word, meant || i > 0
		default:
			text[i] = ShellWord(word)
		}
	}
	return strings.Join(text, " "), meant
}
