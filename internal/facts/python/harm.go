package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// harm notes what the values given to a call make of it, where its name alone is
// ordinary.
func (w *walk) harm(c *object.Call) {
	switch c.Name {
	case "os.chmod", "os.lchmod", "os.fchmod", "os.mkdir", "os.makedirs", "os.mkfifo", "pathlib.Path.chmod", "os.umask":
		w.mode(c)
	case "os.kill", "os.killpg":
		w.kills(c.First())
	case "print", "pprint.pprint", "pprint.pp", "sys.stdout.write", "sys.stderr.write":
		w.shows(c)
	}
	if w.sends(c.Name) || library.ReachesNetwork(c.Name) {
		w.sendsEnvironment(c)
	}
	w.sendsSecrets(c)
	w.deletesByMethod(c)
	if library.FileServers[c.Name] {
		w.servesFiles(c)
	}
}

// shows notes that the environment, or a secret of it by its name, is printed for all to read.
func (w *walk) shows(c *object.Call) {
	_, elsewhere := c.Keywords["file"]
	for _, vs := range c.Args {
		if !elsewhere && (vs.Tainted().Environ || object.NamesSecret(vs, 0)) {
			w.feature(value.FeatureShowsEnvironment)
		}
	}
}

// mode notes a mode that lets everybody write, or a program run as its owner.
func (w *walk) mode(c *object.Call) {
	place := 1
	if c.Name == "pathlib.Path.chmod" || c.Name == "os.umask" {
		place = 0
	}
	modes, _ := c.Arg(place, "mode")
	for _, m := range modes {
		if m.Shape != object.IsInt {
			continue
		}
		if open := m.Number&2 != 0; open != (c.Name == "os.umask") {
			w.feature(value.FeatureWidensPermissions)
		}
		if c.Name != "os.umask" && m.Number&0o6000 != 0 {
			w.feature(value.FeatureSetsSetuid)
		}
	}
}

// kills notes a signal to the first process, or to all of them.
func (w *walk) kills(targets object.Objects) {
	for _, t := range targets {
		if t.Shape == object.IsInt && (t.Number == 1 || t.Number == -1) {
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
			if v.Shape == object.IsSymbol && v.Text == "os.fork" {
				w.feature(value.FeatureForkBomb)
			}
		}
	}
}

// servesFiles notes a server of files for other hosts, as what it is in a shell's text.
func (w *walk) servesFiles(c *object.Call) {
	handler, _ := c.Arg(1, "RequestHandlerClass")
	if c.Name == "http.server.test" {
		handler, _ = c.Arg(0, "HandlerClass")
	}
	files := slices.ContainsFunc(handler, func(v object.Object) bool {
		name := v.Text
		if v.Shape == object.IsCallable {
			name = v.Function.Base
		}
		return name == "http.server.SimpleHTTPRequestHandler" || name == "http.server.CGIHTTPRequestHandler" ||
			v.Shape == object.IsInstance && name == "functools.partial"
	})
	bind := ""
	for _, v := range c.First() {
		if host, ok := object.ItemsAt(object.Objects{v}, 0, "host").Only(); ok && host != "" {
			bind = " --bind " + object.ShellWord(host)
		}
	}
	if files {
		w.piece("python3 -m http.server"+bind, w.at)
	}
}

// sends says whether calls of a name carry what they are given to another host.
func (w *walk) sends(name string) bool {
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

// sendsSecrets notes files, and secrets of the environment by their names, in what a call
// carries to another host. A header may hold what the host is to know.
func (w *walk) sendsSecrets(c *object.Call) {
	if !library.ReachesNetwork(c.Name) {
		return
	}
	if len(c.Args) > 0 && strings.HasPrefix(firstText(c.Args[0]), "http") && object.NamesSecret(c.Args[0], 0) {
		w.feature(value.FeatureSendsEnvironment)
	}
	for _, vs := range w.payload(c) {
		w.supposePayload(c.Name, vs, 0)
		if object.NamesSecret(vs, 0) {
			w.feature(value.FeatureSendsEnvironment)
		}
		if w.sends(c.Name) && vs.Tainted().Read {
			w.feature(value.FeatureSendsFiles)
		}
	}
	if strings.HasSuffix(c.Name, ".upload_file") {
		w.reads(c.First())
		w.feature(value.FeatureSendsFiles)
	}
}

func firstText(vs object.Objects) string {
	if len(vs) > 0 && vs[0].Shape == object.IsString {
		return vs[0].Text
	}
	return ""
}

// payload is what a call carries besides its address.
func (w *walk) payload(c *object.Call) []object.Objects {
	var all []object.Objects
	for _, name := range []string{"data", "json", "content", "files", "params", "body", "fields"} {
		if vs, ok := c.Keywords[name]; ok {
			all = append(all, vs)
		}
	}
	if !w.sends(c.Name) {
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

func (w *walk) sendsEnvironment(c *object.Call) {
	for _, vs := range c.Args {
		w.noteEnvironment(vs)
	}
	for _, vs := range c.Keywords {
		w.noteEnvironment(vs)
	}
}

func (w *walk) noteEnvironment(vs object.Objects) {
	if vs.Tainted().Environ || object.IsEnviron(vs) {
		w.feature(value.FeatureSendsEnvironment)
	}
}
