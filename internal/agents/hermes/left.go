package hermes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// leaveModes says why Hermes' ways of asking are not bailiff's. Where no person says
// anything there is nothing to compare.
func (p *plan) leaveModes() {
	const mode = "approvals.mode"
	if said, ok := p.take(mode); ok {
		word, _ := said.text()
		if is, isTruth := said.truth(); isTruth && !is {
			word = "off"
		}
		if word == "off" {
			p.left(mode, said, "Hermes asks nobody. bailiff asks whenever the policies say so, whatever is set in Hermes.",
				"Set it to manual, so that Hermes asks where bailiff does not guard.")
		} else {
			p.left(mode, said, "What is asked about is a matter of the policies; in a sandbox, little is.",
				"See docs/shipped-policies.md, table verdicts.")
		}
	}
	for _, key := range []string{"approvals.cron_mode", "approvals.single_query_mode", "approvals.unattended_mode"} {
		said, ok := p.take(key)
		word, _ := said.text()
		switch {
		case !ok:
		case word == "deny":
			p.carried(key, said, "the shipped policies", "Where nobody attends, what would be asked about is denied (approval.unattended).")
		default:
			p.left(key, said, "Where nobody attends, bailiff denies what would be asked about (approval.unattended).",
				"Allow by rule what must run unattended: docs/shipped-policies.md.")
		}
	}
}

// omission is a setting that bailiff has no words for. unless is a value with which
// it says nothing, as texts are compared in lower case.
type omission struct{ key, unless, why, do string }

// The first ones hold on docker where nothing else is said.
var omissions = []omission{
	{"terminal.docker_network", "false", "Hermes' containers reach the whole network; bailiff's sandboxes reach none.",
		"Open it for a platform in the table network (full); docs/shipped-policies.md."},
	{"terminal.container_persistent", "false",
		"Hermes keeps one container for all chats of a profile; bailiff has a sandbox for each session, whose files go with it.",
		"\"persistent: {docker: true}\" in the table platforms keeps each session's files; docs/sandboxes.md."},
	{"terminal.docker_persist_across_processes", "false", "As container_persistent.", ""},
	{"terminal.docker_shared_container_key", "", "Sandboxes are shared by nobody but a session's own requests.",
		"\"scope: user\" in the table sandboxes shares one between all sessions of a user."},
	{"terminal.docker_extra_args", "[]", "Options of the engine could undo any limit.",
		"What is needed of it may have a word of its own: docs/backends/docker.md."},
	{"terminal.docker_mount_cwd_to_workspace", "false", "A sandbox shows no folder of the host that the policies do not name.",
		"Name the folder in backends.docker.mounts_allowed and in the table platforms, mounts."},
	{"terminal.docker_run_as_host_user", "false", "Commands are an unprivileged user of the sandbox.",
		"backends.docker.user takes another uid:gid."},
	{"terminal.docker_shm_size", "", "Shared memory is part of memory_mb.", ""},
	{"terminal.docker_snap_compat", "false", "Workspaces are the engine's volumes.", ""},
	{"terminal.docker_orphan_reaper", "", "bailiff sweeps what is left over in any case.", ""},
	{"terminal.credential_files", "[]", "No file of Hermes' is shown to commands.",
		"Forward a variable instead, bound to its programs: docs/secrets.md."},
	{"terminal.cwd", ".", "Commands start in the session's own /workspace.", ""},
	{"terminal.sandbox_dir", "", "Workspaces lie in bailiff's state_dir.", ""},
	{"terminal.scratch_dir", "", "Sandboxes have a /tmp of their own.", ""},
	{"terminal.degraded_mode", "", "A backend that fails runs nothing, and the answer says so.", ""},
	{"terminal.home_mode", "auto", "A sandbox has a home of its own.", ""},
	{"terminal.sudo_password", "", "Nobody becomes root in a sandbox.", "Remove it from Hermes too."},
	{"terminal.modal_mode", "", "bailiff asks Modal itself, with a token.", "docs/backends/modal.md."},
	{"terminal.vercel_runtime", "", "Sandboxes are made of the image of backends.vercel.", "docs/backends/vercel.md."},
	{"terminal.ssh_persistent", "", "A session's files on the other machine go with it, unless the table platforms says persistent.",
		"docs/sandboxes.md."},
	{"terminal.auto_source_bashrc", "", "Commands read no file of the host as they start.", ""},
	{"terminal.shell_init_files", "[]", "Commands read no file of the host as they start.", ""},
	{"code_execution.mode", "", "Scripts run in the session's sandbox, with its own Python.", ""},
	{"code_execution.max_tool_calls", "50", "A script may make 50 calls.", ""},
	{"code_execution.kernel_idle_timeout", "", "An interpreter ends after ten minutes without a script.", ""},
	{"command_allowlist", "[]",
		"Those are descriptions of Hermes' patterns; an approval of bailiff is for one request and its circumstances.",
		"Approve anew where bailiff asks, or allow by rule: docs/shipped-policies.md."},
	{"approvals.denial_breaker_threshold", "", "bailiff limits requests and questions instead (limits).", ""},
	{"security.tirith_enabled", "false", "The policies judge instead, and do not fail open.", "It may stay on in Hermes."},
	{"security.approval.transport", "builtin", "It is for Hermes' own questions; bailiff's are answered by bailiff's people.", ""},
	{"hooks.pre_tool_call", "[]", "Hooks of Hermes' stay Hermes'.", "\"bailiff hermes doctor\" looks at them."},
}

// defaults is how many omissions are about defaults.
const defaults = 2

// leave goes through what there are no words for.
func (p *plan) leave() {
	for _, o := range omissions {
		said, ok := p.take(o.key)
		if ok && !said.is(o.unless) {
			p.left(o.key, said, o.why, o.do)
		}
	}
	for _, o := range omissions[:defaults] {
		if _, said := p.home.settings.of(o.key); !said && p.ranOn("docker") {
			p.left(o.key, setting{}, o.why, o.do)
		}
	}
	for _, key := range p.home.settings.below("terminal.backends.") {
		if said, ok := p.take(key); ok {
			p.left(key, said, "That is a backend of a Hermes plug-in.", "Take such plug-ins out; bailiff runs commands itself.")
		}
	}
	p.leaveYolo()
}

// is compares a value with a word.
func (v setting) is(word string) bool {
	switch value := v.value.(type) {
	case []any:
		return len(value) == 0 && word == "[]"
	case bool:
		return fmt.Sprint(value) == word
	}
	text, _ := v.text()
	return strings.EqualFold(text, word)
}

func (p *plan) leaveYolo() {
	if v, ok := p.home.settings.variables["HERMES_YOLO_MODE"]; ok {
		if is, _ := (setting{value: v.value.Reveal()}).truth(); is {
			p.left("HERMES_YOLO_MODE", setting{from: v.from}, "bailiff asks whatever Hermes skips.",
				"Take it out of .env: what bailiff does not guard runs unasked.")
		}
	}
}

// guarded are the sections of which every setting is told about.
var guarded = []string{"terminal.", "approvals.", "code_execution.", "gateway.terminal_", "gateway.sandbox_"}

// harmless are those of them that decide nothing about commands.
var harmless = []string{"approvals.mcp_reload_confirm", "approvals.destructive_slash_confirm"}

func (p *plan) leaveUnknown() {
	for _, section := range guarded {
		for _, key := range p.home.settings.below(section) {
			if !p.seen[key] && !slices.Contains(harmless, key) {
				said, _ := p.home.settings.of(key)
				p.left(key, said, "This version of bailiff does not know it.",
					"Look up what it does in Hermes, and set what corresponds by hand.")
			}
		}
	}
}

// ofTop are the settings at the top of a config.yaml of which some decide about
// commands.
var ofTop = []string{"terminal", "approvals", "code_execution", "gateway", "platforms", "security", "hooks", "plugins", "quick_commands",
	"mcp_servers", "command_allowlist"}

// leaveMisspelt names what stands at the top and was likely meant to be one of them.
func (p *plan) leaveMisspelt() {
	told := map[string]bool{}
	for _, key := range p.home.settings.below("") {
		top, _, _ := strings.Cut(key, ".")
		meant := spelling.Nearest(top, ofTop, 2)
		if meant == "" || meant == top || told[top] {
			continue
		}
		told[top] = true
		said, _ := p.home.settings.of(key)
		p.left(top, said, "Hermes has no such setting; nearest is "+meant+".", "If that is meant, correct it in Hermes and import again.")
	}
}

// sayWhatRemains lists what no import can do.
func (p *plan) sayWhatRemains() {
	if len(p.platforms) == 0 {
		p.next("Hermes serves no messaging platform by what is set there; if it does, name it in agent.listeners and in the table " +
			"platforms.")
	}
	if p.home.Owner == p.to.Operator {
		p.next("Hermes and bailiff would be one user, so that the agent could answer for itself and no answer counts: run Hermes as a " +
			"user of its own, and put its uid into agent.listeners.")
	}
	p.next("Name in bailiff.yaml, under people, who may answer questions; until then whatever must be asked about is refused. See " +
		"docs/approvals.md.")
	switch {
	case len(p.config.variables) == 0:
	case settings.Exists(p.home.dotenv()):
		p.next("bailiff's user must be able to read " + p.home.dotenv() + ", from which variables are taken.")
	default:
		p.next("There is no " + p.home.dotenv() +
			" from which variables could be taken: write them into a file, and name that in env.sources.")
	}
	p.next("Copy the plug-in's folder (docs/clients/hermes.md), and say in Hermes' config.yaml, better in a managed one, plugins: " +
		yamledit.Flow(p.pluginSaid()) +
		" and terminal: {backend: bailiff}, so that Hermes runs nothing by itself.")
	p.next("Start the sidecar with this configuration, and prove the gate: bailiff hermes doctor.")
}

// pluginSaid is what Hermes' configuration is to say of the plug-in.
func (p *plan) pluginSaid() map[string]any {
	own := map[string]any{"listen": p.to.Agent}
	if len(p.config.variables) > 0 {
		own["env"] = yamledit.List(p.config.variables)
	}
	if seconds := p.times["code_execution.timeout"]; seconds > 0 {
		own["script_seconds"] = seconds
	}
	if seconds := p.times["approvals.timeout"]; seconds > 0 {
		own["wait_seconds"] = seconds
	}
	return map[string]any{"enabled": yamledit.List([]string{pluginName}),
		"entries": map[string]any{pluginName: map[string]any{"settings": own}}}
}
