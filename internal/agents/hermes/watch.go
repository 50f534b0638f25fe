package hermes

import (
	"context"
	"os"
	"slices"

	"github.com/bailiff-dev/bailiff/api"
)

// usualListen is where the plug-in asks if no setting says otherwise.
const usualListen = "unix:///run/bailiff/agent.sock"

// pluginSettings and pluginVariables are what is set for the plug-in begins with, in
// config.yaml, where it has an entry, and in the environment, which is stronger.
const (
	pluginEntry     = "plugins.entries." + pluginName + "."
	pluginSettings  = pluginEntry + "settings."
	pluginVariables = "BAILIFF_"
)

// address is where the plug-in asks.
func (h *Home) address() string {
	said, _ := h.settings.of(pluginSettings + "listen")
	address, _ := said.text()
	if v, ok := h.settings.variables[pluginVariables+"LISTEN"]; ok {
		address = v.value.Reveal()
	}
	if set, ok := os.LookupEnv(pluginVariables + "LISTEN"); ok {
		address = set
	}
	if address == "" {
		return usualListen
	}
	return address
}

// examineSidecar looks whether it serves where the plug-in asks, for whom Hermes
// serves.
func (h *Home) examineSidecar(ctx context.Context, d *Diagnosis, sidecar Sidecar) {
	status, err := sidecar.Status(ctx)
	if err != nil {
		d.Checks.Fail("sidecar", "It does not answer its operator: "+err.Error()+".", "")
		return
	}
	d.Checks.Fine("sidecar", "It serves, version %s.", status.Version)
	at := slices.IndexFunc(status.Listeners, func(l api.ListenerStatus) bool { return l.Listen == h.address() })
	if at < 0 {
		d.Checks.Fail("listener", "The plug-in asks at "+h.address()+", where this sidecar has no listener.",
			"Set plugins.entries.bailiff.settings.listen to the listener of bailiff.yaml, or the listener to that.")
	} else {
		h.examinePlatforms(d, status.Listeners[at], status.Platforms)
	}
	examineHealth(d, status)
}

func (h *Home) examinePlatforms(d *Diagnosis, l api.ListenerStatus, states []api.PlatformStatus) {
	for _, platform := range append(h.Platforms(), "cli") {
		at := slices.IndexFunc(states, func(s api.PlatformStatus) bool { return s.Platform == platform })
		switch {
		case !l.SpeaksFor(platform):
			d.Checks.Fail("platform "+platform, "Listener "+l.Name+" may not speak for it, so every call from there is blocked.",
				"Add it to the listener's platforms in bailiff.yaml.")
		case at < 0:
			d.Checks.Fail("platform "+platform, "The policies do not know it, so every call from there is blocked.",
				"Add it to the table platforms.")
		case states[at].Message != "":
			d.Checks.Fail("platform "+platform, "Nothing runs for it: "+states[at].Message, "See bailiff status.")
		case platform != "cli" && !states[at].Isolated:
			d.Checks.Doubt("platform "+platform, "It runs on backend "+states[at].Backend+", which isolates nothing.",
				"Name an isolated backend first in the table platforms.")
		default:
			d.Checks.Fine("platform "+platform, "It runs on %s.", states[at].Place())
		}
	}
}

// examineHealth tells what the sidecar itself finds wrong.
func examineHealth(d *Diagnosis, status api.Status) {
	for _, b := range status.Backends {
		if !b.Ready {
			d.Checks.Fail("backend "+b.Name, "It is not ready: "+b.Message, "See docs/troubleshooting.md.")
		}
	}
	for _, fault := range status.Policies.Faults {
		d.Checks.Doubt("policies", "Those in the files are not in force: "+fault, "bailiff check")
	}
	for _, warning := range status.Warnings {
		d.Checks.Doubt("sidecar", warning, "")
	}
}
