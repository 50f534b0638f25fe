package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// harm notes what the values given to a call make of it, where its name alone is
// ordinary.
func (w *walk) harm(c *call) {
	switch c.name {
	case "os.chmod", "os.lchmod", "os.fchmod", "os.mkdir", "os.makedirs", "os.mkfifo", "pathlib.Path.chmod", "os.umask":
		w.mode(c)
	case "os.kill", "os.killpg":
		w.kills(c.first())
	}
	if w.sends(c.name) || reachesNetwork(c.name) {
		w.sendsEnvironment(c)
	}
	w.sendsSecrets(c)
	w.deletesByMethod(c)
	if fileServers[c.name] {
		w.servesFiles(c)
	}
}

// mode notes a mode that lets everybody write, or a program run as its owner.
func (w *walk) mode(c *call) {
	place := 1
	if c.name == "pathlib.Path.chmod" || c.name == "os.umask" {
		place = 0
	}
	modes, _ := c.arg(place, "mode")
	for _, m := range modes {
		if m.shape != isInt {
			continue
		}
		if open := m.number&2 != 0; open != (c.name == "os.umask") {
			w.feature(value.FeatureWidensPermissions)
		}
		if c.name != "os.umask" && m.number&0o6000 != 0 {
			w.feature(value.FeatureSetsSetuid)
		}
	}
}

// kills notes a signal to the first process, or to all of them.
func (w *walk) kills(targets objects) {
	for _, t := range targets {
		if t.shape == isInt && (t.number == 1 || t.number == -1) {
			w.feature(value.FeatureKillsEverything)
		}
	}
}

// forksOn notes a program that forks in an endless loop and does not care which of
// its copies it is; a server asks for the number.
func (w *walk) forksOn(s *syntax.Statement) {
	if w.repeats == 0 {
		return
	}
	for _, e := range s.Exprs {
		if e.Form != syntax.CallForm {
			continue
		}
		for _, v := range w.value(e.Kids[0]) {
			if v.shape == isSymbol && v.text == "os.fork" {
				w.feature(value.FeatureForkBomb)
			}
		}
	}
}

var fileServers = value.SetOf("http.server.test http.server.HTTPServer http.server.ThreadingHTTPServer socketserver.TCPServer " +
	"socketserver.ThreadingTCPServer")

// servesFiles notes a server of files for other hosts, as what it is in a shell's text.
func (w *walk) servesFiles(c *call) {
	handler, _ := c.arg(1, "RequestHandlerClass")
	if c.name == "http.server.test" {
		handler, _ = c.arg(0, "HandlerClass")
	}
	files := slices.ContainsFunc(handler, func(v object) bool {
		name := v.text
		if v.shape == isCallable {
			name = v.function.base
		}
		return name == "http.server.SimpleHTTPRequestHandler" || name == "http.server.CGIHTTPRequestHandler" ||
			v.shape == isInstance && name == "functools.partial"
	})
	bind := ""
	for _, v := range c.first() {
		if host, ok := itemsAt(objects{v}, 0, "host").only(); ok && host != "" {
			bind = " --bind " + shellWord(host)
		}
	}
	if files {
		w.piece("python3 -m http.server"+bind, w.at)
	}
}

// sends says whether calls of a name carry what they are given to another host.
func (w *walk) sends(name string) bool {
	if !reachesNetwork(name) {
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

// sendsSecrets notes files, and secrets of the environment by their names, in what a call
// carries to another host. A header may hold what the host is to know.
func (w *walk) sendsSecrets(c *call) {
	if !reachesNetwork(c.name) {
		return
	}
	if len(c.args) > 0 && strings.HasPrefix(firstText(c.args[0]), "http") && namesSecret(c.args[0], 0) {
		w.feature(value.FeatureSendsEnvironment)
	}
	for _, vs := range w.payload(c) {
		if namesSecret(vs, 0) {
			w.feature(value.FeatureSendsEnvironment)
		}
		if w.sends(c.name) && vs.tainted().Read {
			w.feature(value.FeatureSendsFiles)
		}
	}
	if strings.HasSuffix(c.name, ".upload_file") {
		w.reads(c.first())
		w.feature(value.FeatureSendsFiles)
	}
}

func firstText(vs objects) string {
	if len(vs) > 0 && vs[0].shape == isString {
		return vs[0].text
	}
	return ""
}

// payload is what a call carries besides its address.
func (w *walk) payload(c *call) []objects {
	var all []objects
	for _, name := range []string{"data", "json", "content", "files", "params", "body", "fields"} {
		if vs, ok := c.keywords[name]; ok {
			all = append(all, vs)
		}
	}
	if !w.sends(c.name) {
		return all
	}
	skip := 1
	switch c.name[strings.LastIndexByte(c.name, '.')+1:] {
	case "request", "stream":
		skip = 2
	case "send", "sendall", "sendto":
		skip = 0
	}
	return append(all, c.args[min(skip, len(c.args)):]...)
}

var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential`)

// namesSecret says whether values hold a variable of the environment that is named as a secret.
func namesSecret(vs objects, depth int) bool {
	for _, v := range vs {
		if _, name, found := strings.Cut(v.text, variableHole); found && v.shape == isString {
			name, _, _ = strings.Cut(name, holeEnd)
			if secretName.MatchString(name) {
				return true
			}
		}
		for _, item := range v.items {
			if depth < syntax.MaxDepth && namesSecret(item, depth+1) {
				return true
			}
		}
	}
	return false
}

func (w *walk) sendsEnvironment(c *call) {
	for _, vs := range c.args {
		w.noteEnvironment(vs)
	}
	for _, vs := range c.keywords {
		w.noteEnvironment(vs)
	}
}

func (w *walk) noteEnvironment(vs objects) {
	if vs.tainted().Environ || isEnviron(vs) {
		w.feature(value.FeatureSendsEnvironment)
	}
}
