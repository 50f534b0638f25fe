package hermes

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	example "github.com/bailiff-dev/bailiff/examples/hermes"
)

// pluginName is how Hermes knows the plug-in, by its folder and in plugins.enabled.
const pluginName = "bailiff"

func (h *Home) pluginFolder() string { return filepath.Join(h.Folder, "plugins", pluginName) }

// examinePlugin looks at the plug-in's folder and whether Hermes loads it; whole
// says that it is the shipped one.
func (h *Home) examinePlugin(d *Diagnosis) (whole bool) {
	faults := h.pluginFaults()
	if len(faults) > 0 {
		d.Checks.Fail("plug-in", h.pluginFolder()+": "+strings.Join(faults, ", ")+".",
			"Copy the folder whole, from this version of bailiff: rm -rf "+h.pluginFolder()+"; cp -r examples/hermes/bailiff "+
				h.pluginFolder())
	} else {
		d.Checks.Fine("plug-in", "%s is the one of this version.", h.pluginFolder())
	}
	h.examineEnabled(d)
	return len(faults) == 0
}

// pluginFaults are the files that are not as shipped. One of them stands in the way of
// compiled code, which Python would load though the source beside it says otherwise.
func (h *Home) pluginFaults() (faults []string) {
	known := map[string]bool{}
	shipped(func(name string, want []byte) {
		known[name] = true
		is, err := readBounded(filepath.Join(h.pluginFolder(), name))
		switch {
		case os.IsNotExist(err):
			faults = append(faults, name+" is missing")
		case err != nil:
			faults = append(faults, name+" cannot be read")
		case !bytes.Equal(is, want):
			faults = append(faults, name+" differs")
		}
	})
	return append(faults, h.strangers(known)...)
}

// shipped tells each file of the plug-in.
func shipped(tell func(name string, text []byte)) {
	err := fs.WalkDir(example.Plugin, pluginName, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := example.Plugin.ReadFile(path)
		if err == nil {
			tell(strings.TrimPrefix(path, pluginName+"/"), text)
		}
		return err
	})
	if err != nil {
		panic(err) // embedded: cannot fail
	}
}

// strangers are what else is in the plug-in's folder.
func (h *Home) strangers(known map[string]bool) (faults []string) {
	entries, err := os.ReadDir(h.pluginFolder())
	if err != nil && !os.IsNotExist(err) {
		return []string{"it cannot be read"}
	}
	for _, entry := range entries {
		if !known[entry.Name()] {
			faults = append(faults, entry.Name()+" is not of the plug-in")
		}
	}
	return faults
}

func (h *Home) examineEnabled(d *Diagnosis) {
	const name = "plug-in enabled"
	enabled, managed := h.names("plugins.enabled")
	disabled, _ := h.names("plugins.disabled")
	switch {
	case slices.Contains(disabled, pluginName):
		d.Checks.Fail(name, "plugins.disabled names it, which wins over plugins.enabled: Hermes runs commands by itself.",
			"hermes plugins enable bailiff")
	case !slices.Contains(enabled, pluginName):
		d.Checks.Fail(name, "plugins.enabled does not name it: Hermes runs commands by itself.", "hermes plugins enable bailiff")
	case !managed:
		d.Checks.Doubt(name, "plugins.enabled names it, where the agent's own user may take it out.",
			"Pin it: plugins: {enabled: [bailiff]} in "+filepath.Join(ManagedFolder(), "config.yaml")+", which belongs to root.")
	default:
		d.Checks.Fine(name, "plugins.enabled names it, pinned by an administrator.")
	}
}

// names are a list of a key, and whether it is pinned.
func (h *Home) names(key string) (names []string, managed bool) {
	said, _ := h.settings.of(key)
	names, _ = said.list()
	return names, h.settings.managed[key]
}
