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
	if !w.noting {
		return
	}
	switch c.Name {
	case "os.chmod", "os.lchmod", "os.fchmod", "os.mkdir", "os.makedirs", "os.mkfifo", "pathlib.Path.chmod", "os.umask":
		w.mode(c)
	case "os.kill", "os.killpg":
		w.kills(c.First())
	case "print", "pprint.pprint", "pprint.pp", "sys.stdout.write", "sys.stderr.write":
		w.shows(c)
	}
	if library.ReachesNetwork(c.Name) {
		w.sendsEnvironment(c)
	}
	w.sendsSecrets(c)
	w.deletesByMethod(c)
	if object.TellsMachine(c) {
		w.feature(value.FeatureSendsMachine)
	}
	if w.loops > 0 && object.TriesPasswords(c) {
		w.feature(value.FeatureTriesPasswords)
	}
	if w.loops > 0 && object.SweepsHosts(c) {
		w.feature(value.FeatureSweepsHosts)
	}
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

// sendsSecrets notes files, and secrets of the environment by their names, in what a call
// carries to another host. A header may hold what the host is to know.
func (w *walk) sendsSecrets(c *object.Call) {
	if !library.ReachesNetwork(c.Name) {
		return
	}
	if len(c.Args) > 0 && strings.HasPrefix(object.FirstText(c.Args[0]), "http") && object.NamesSecret(c.Args[0], 0) {
		w.feature(value.FeatureSendsEnvironment)
	}
	if strings.HasPrefix(c.Name, "webbrowser.open") && strings.HasPrefix(object.FirstText(c.First()), "http") && c.Tainted().Read {
		w.feature(value.FeatureSendsFiles)
	}
	for _, vs := range object.Payload(c) {
		w.supposePayload(c.Name, vs, 0)
		if object.NamesSecret(vs, 0) {
			w.feature(value.FeatureSendsEnvironment)
		}
		if object.Sends(c.Name) && vs.Tainted().Read {
			w.feature(value.FeatureSendsFiles)
		}
	}
	if strings.HasSuffix(c.Name, ".upload_file") {
		w.reads(c.First())
		w.feature(value.FeatureSendsFiles)
	}
}

func (w *walk) sendsEnvironment(c *object.Call) {
	for _, vs := range c.Args {
		w.noteEnvironment(vs)
	}
	for _, vs := range c.Named() {
		w.noteEnvironment(vs)
	}
}

func (w *walk) noteEnvironment(vs object.Objects) {
	if vs.Tainted().Environ || object.IsEnviron(vs) {
		w.feature(value.FeatureSendsEnvironment)
	}
}
