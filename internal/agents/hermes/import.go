// Package hermes is Hermes Agent: how its settings have it ask ([Agent]), whether its plug-in and the
// sidecar guard it ([Examine]), and what its home says in bailiff's words ([Import]).
//
// An import is never wider than Hermes was, nor wider than the shipped policies
// without saying so: what cannot be said exactly is said more strictly or is left,
// and the report names each setting with what became of it. No value of a variable
// is copied; bailiff.yaml names the file in which they are.
//
// What is read is config.yaml and .env as Hermes reads them, what an administrator
// pinned over what the user says. What is not here: all that Hermes takes from the
// environment it is started with.
package hermes

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
	"github.com/bailiff-dev/bailiff/policies"
)

// Destination is where an import goes.
type Destination struct {
	// Folder gets bailiff.yaml and the folder policies.
	Folder string
	// Agent is the address at which Hermes is to ask, Operator the user who runs the
	// sidecar.
	Agent    string
	Operator uint32
	// Replace lets what is there be overwritten.
	Replace bool
}

// Import writes what a home says in bailiff's words, and reports on it.
func Import(h *Home, to Destination) (Report, error) {
	p := newPlan(h, to)
	p.make()
	err := p.tables.fault
	if err == nil {
		err = p.write()
	}
	if err != nil {
		return Report{}, fmt.Errorf("importing %s: %w", h.Folder, err)
	}
	return p.report, nil
}

func newPlan(h *Home, to Destination) *plan {
	return &plan{
		home: h, to: to, tables: shippedTables(), platforms: h.Platforms(),
		config:   draft{sections: map[string]map[string]any{}},
		backends: map[string]bool{}, ran: map[string]bool{}, times: map[string]float64{}, seen: map[string]bool{},
		report: Report{Home: h.Folder, Files: []string{}, Carried: []Carried{}, Left: []Left{}, Next: []string{}},
	}
}

// make goes through all that is known, then through what is not.
func (p *plan) make() {
	p.listen()
	p.servePlatforms()
	p.chooseBackends()
	p.chooseImages()
	p.bound()
	p.mount()
	p.forward()
	p.askAndDeny()
	p.leave()
	p.leaveUnknown()
	p.leaveMisspelt()
	p.sayWhatRemains()
}

// listen puts the listener where the plug-in asks already.
func (p *plan) listen() {
	key := pluginSettings + "listen"
	said, ok := p.take(key)
	if v, set := p.home.settings.variables[pluginVariables+"LISTEN"]; set {
		key, said, ok = pluginVariables+"LISTEN", setting{v.value.Reveal(), v.from}, true
	}
	address, _ := said.text()
	path, isSocket := strings.CutPrefix(address, "unix://")
	switch {
	case !ok || address == p.to.Agent:
	case isSocket && filepath.IsAbs(path) && filepath.Clean(path) == path:
		p.to.Agent = address
		p.carried(key, said, "bailiff.yaml: agent.listeners", "")
	default:
		p.left(key, said, "The plug-in asks elsewhere than at "+p.to.Agent+
			", where bailiff.yaml listens: only a socket by its absolute path is carried over.",
			"Set one to the other; a listener on TCP needs a token_file of its own (docs/clients/hermes.md).")
	}
}

// isolating are the backends of a platform that the shipped tables do not know.
var isolating = []string{"docker", "bubblewrap", "apptainer", "modal", "daytona", "vercel", "kubernetes", "ssh"}

// servePlatforms lets Hermes speak for what it serves, and its terminal.
func (p *plan) servePlatforms() {
	p.config.platforms = append(slices.Clone(p.platforms), "cli")
	for _, platform := range p.platforms {
		note := ""
		if p.tables.get("platforms", platform) == nil {
			p.tables.set(map[string]any{"isolation": "required", "backends": yamledit.List(isolating)}, "platforms", platform)
			note = "The shipped tables do not know it; it is isolated like any other."
		}
		p.report.Carried = append(p.report.Carried, Carried{"platform " + platform, "config.yaml, .env", "bailiff.yaml: agent.listeners",
			note})
	}
	_, strange := p.home.served()
	for _, name := range strange {
		p.left("platform "+name, setting{from: "config.yaml"}, "Platforms have names of small letters, digits, _ and -.",
			"Rename it in Hermes, or set it in bailiff by hand.")
	}
}

// write puts all files into place, and leaves things as they are if one is there.
func (p *plan) write() error {
	files := map[string]string{"bailiff.yaml": p.configText(), "policies/data.yaml": p.tables.doc.String()}
	err := fs.WalkDir(policies.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == "data.yaml" {
			return err
		}
		text, err := policies.FS.ReadFile(path)
		files["policies/"+path] = string(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := p.clear(); err != nil {
		return err
	}
	for _, name := range sortedNames(files) {
		path := filepath.Join(p.to.Folder, filepath.FromSlash(name))
		if err := put(path, files[name]); err != nil {
			return err
		}
		p.report.Files = append(p.report.Files, path)
	}
	return nil
}

// clear makes sure that nothing of before is mixed into what is written.
func (p *plan) clear() error {
	for _, name := range []string{"bailiff.yaml", "policies"} {
		path := filepath.Join(p.to.Folder, name)
		_, err := os.Lstat(path)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return err
		case !p.to.Replace:
			return fmt.Errorf("%s is there already: choose another folder, or give --force to replace it", path)
		default:
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // policies are no secret
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // nor is what Hermes is let do
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
