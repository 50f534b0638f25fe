package hermes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// examineBypasses lists what goes past the plug-in, or could take it away.
func (h *Home) examineBypasses(d *Diagnosis) {
	before := len(d.Checks)
	h.examineSwitches(d)
	h.examineAsking(d)
	h.examineOthersInside(d)
	h.examineCommandsOfHermes(d)
	h.examineManaged(d)
	if len(d.Checks) == before {
		d.Checks.Fine("bypasses", "None is set in Hermes' files.")
	}
}

// switches of the environment that keep Hermes from loading plug-ins at all.
var switches = []string{"HERMES_SAFE_MODE", "HERMES_IGNORE_USER_CONFIG"}

func (h *Home) examineSwitches(d *Diagnosis) {
	for _, name := range switches {
		if h.on(name) {
			d.Checks.Fail("bypass "+name, "With it in .env Hermes loads no plug-in of its user's: commands run unguarded.",
				"Take it out of .env.")
		}
	}
	if h.on("HERMES_YOLO_MODE") {
		d.Checks.Doubt("bypass HERMES_YOLO_MODE", "Hermes asks nobody about what bailiff does not guard.", "Take it out of .env.")
	}
}

// on tells whether a switch is set in .env.
func (h *Home) on(name string) bool {
	is, _ := setting{value: h.settings.variables[name].value.Reveal()}.truth()
	return is
}

func (h *Home) examineAsking(d *Diagnosis) {
	if said, ok := h.settings.of("approvals.mode"); ok {
		if is, known := said.truth(); said.is("off") || known && !is {
			d.Checks.Doubt("bypass approvals.mode", "It is off: Hermes asks nobody about what bailiff does not guard.",
				"Set it to manual, and pin it.")
		}
	}
	h.examineBackend(d)
}

// examineBackend looks where Hermes would run a command by itself, as it does where
// it loads no plug-in. A backend that it does not know runs nothing.
func (h *Home) examineBackend(d *Diagnosis) {
	const do = "Set it to bailiff, which leaves Hermes no place of its own to run anything; and pin it."
	said, _ := h.settings.of("terminal.backend")
	switch backend, _ := said.text(); backend {
	case pluginName:
	case "", "local":
		d.Checks.Doubt("bypass terminal.backend", "It is local: where Hermes loads no plug-in, it runs commands on this machine.", do)
	default:
		d.Checks.Doubt("bypass terminal.backend", "It is "+backend+": where Hermes loads no plug-in, it runs commands there unjudged.", do)
	}
}

// examineOthersInside lists code that runs in Hermes' own process.
func (h *Home) examineOthersInside(d *Diagnosis) {
	enabled, _ := h.names("plugins.enabled")
	for _, name := range enabled {
		switch may, _ := h.settings.said["plugins.entries."+name+".allow_tool_override"].truth(); {
		case name == pluginName:
		case may:
			d.Checks.Doubt("bypass plug-in "+name, "It may take the place of Hermes' tools, and so of what bailiff guards.",
				"Take allow_tool_override from it, or the plug-in out.")
		default:
			d.Checks.Doubt("bypass plug-in "+name, "It is code in Hermes' own process, which could take bailiff's plug-in away.",
				"Keep only plug-ins that you trust like bailiff itself.")
		}
	}
}

// examineCommandsOfHermes lists what Hermes starts on this machine without any
// tool call.
func (h *Home) examineCommandsOfHermes(d *Diagnosis) {
	for _, name := range h.ofSection("quick_commands", "command") {
		d.Checks.Doubt("bypass quick command "+name, "Whoever may write to Hermes runs it on this machine, past every plug-in.",
			"Take it out, or make it an alias.")
	}
	for _, name := range h.ofSection("mcp_servers", "command") {
		d.Checks.Doubt("bypass MCP server "+name, "Hermes starts it on this machine, and it does there what its tools offer.",
			"Keep only servers without a shell and without files, or run it in a container.")
	}
	h.examineHooks(d)
	h.examineJobs(d)
}

// ofSection are the entries of a section that have a field, sorted.
func (h *Home) ofSection(section, field string) []string {
	names := map[string]bool{}
	for _, key := range h.settings.below(section + ".") {
		name, isOfField := strings.CutSuffix(strings.TrimPrefix(key, section+"."), "."+field)
		if isOfField {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// examineHooks lists the programs that Hermes starts around tool calls.
func (h *Home) examineHooks(d *Diagnosis) {
	for _, key := range h.settings.below("hooks.") {
		hooks, _ := h.settings.said[key].value.([]any)
		for _, hook := range hooks {
			entry, _ := hook.(map[string]any)
			command, _ := entry["command"].(string)
			closed, _ := setting{value: entry["fail_closed"]}.truth()
			ours := strings.Contains(command, "bailiff-hook")
			switch {
			case ours && !closed:
				d.Checks.Doubt("bypass "+key,
					"bailiff-hook stands there without fail_closed: true, so that a call runs if it cannot be started.",
					"Add fail_closed: true.")
			case command != "" && !ours:
				d.Checks.Doubt("bypass "+key, "Hermes starts a program of its own there, on this machine.",
					"Look at what it does with what a model wrote.")
			}
		}
	}
}

// examineJobs lists scheduled jobs that start a script of the home.
func (h *Home) examineJobs(d *Diagnosis) {
	path := filepath.Join(h.Folder, "cron", "jobs.json")
	text, err := readBounded(path)
	if os.IsNotExist(err) {
		return
	}
	var file struct {
		Jobs []struct{ ID, Name, Script string }
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		d.Checks.Doubt("bypass scheduled jobs", path+" cannot be read, and jobs may start scripts on this machine.", "")
		return
	}
	for _, job := range file.Jobs {
		if job.Script != "" {
			d.Checks.Doubt("bypass scheduled job "+job.Name, "Its script runs on this machine before the agent does.",
				"Take the script out, and have the agent run it.")
		}
	}
}

// examineManaged looks whether pinned settings are safe from the agent's user.
func (h *Home) examineManaged(d *Diagnosis) {
	if h.managed == "" {
		d.Checks.Doubt("bypass settings", "No setting is pinned: what may write "+filepath.Join(h.Folder, "config.yaml")+
			" can take the plug-in out.",
			"Pin plugins.enabled, terminal.backend and approvals.mode in "+filepath.Join(ManagedFolder(), "config.yaml")+
				", which belongs to root.")
		return
	}
	for _, path := range []string{h.managed, filepath.Join(h.managed, "config.yaml")} {
		if who := h.whoMayWrite(path); who != "" {
			d.Checks.Doubt("bypass settings", fmt.Sprintf("%s can be written by %s.", path, who), "chown root "+path+"; chmod go-w "+path)
		}
	}
}

// whoMayWrite names who else than root may write a path that is pinned.
func (h *Home) whoMayWrite(path string) string {
	about, err := os.Stat(path)
	if err != nil {
		return ""
	}
	is, ok := about.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return ""
	case is.Uid == h.Owner && h.Owner != 0:
		return "the user that Hermes runs as"
	case about.Mode().Perm()&0o022 != 0:
		return "others than its owner"
	}
	return ""
}
