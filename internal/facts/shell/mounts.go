package shell

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// mount is a folder of the host that a container sees under another name.
type mount struct{ source, target string }

// mountsOf are those that the options of "docker run" make.
func (fs *overlay) mountsOf(options []option, sc *scope) []mount {
	var all []mount
	for _, o := range options {
		var m mount
		switch o.name {
		case "-v", "--volume":
			source, rest, _ := strings.Cut(o.value.text, ":")
			m.target, _, _ = strings.Cut(rest, ":")
			m.source = source
		case "--mount":
			m = mountNamed(o.value.text)
		}
		if strings.HasPrefix(m.target, "/") && strings.ContainsAny(m.source, "/~$.") && len(all) < maxFields {
			all = append(all, mount{source: fs.path(part(o.value, m.source), sc), target: value.Cleaned(m.target)})
		}
	}
	return all
}

// mountNamed reads "type=bind,source=/a,target=/b".
func mountNamed(text string) (m mount) {
	for _, field := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "source", "src":
			m.source = value
		case "target", "destination", "dst":
			m.target = value
		}
	}
	return m
}

// outside is the host's name of a path in a container.
func (s *scope) outside(p string) string {
	for _, m := range s.mounts {
		below, ok := strings.CutPrefix(p, m.target)
		if m.target == "/" {
			below = p
		}
		if ok && (below == "" || below[0] == '/') {
			return value.Cleaned(m.source + "/" + below)
		}
	}
	return p
}
