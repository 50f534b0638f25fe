package python

import (
	"strings"

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
	if w.sends(c.name) {
		w.sendsEnvironment(c)
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
func (w *walk) forksOn(s *statement) {
	if w.repeats == 0 {
		return
	}
	for _, e := range s.exprs {
		if e.form != callForm {
			continue
		}
		for _, v := range w.value(e.kids[0]) {
			if v.shape == isSymbol && v.text == "os.fork" {
				w.feature(value.FeatureForkBomb)
			}
		}
	}
}

// sends says whether calls of a name carry what they are given to another host.
func (w *walk) sends(name string) bool {
	if !reachesNetwork(name) {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch last {
	case "post", "put", "patch", "request", "send", "sendall", "sendto", "sendmail", "urlopen", "Request", "create_connection":
		return true
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
