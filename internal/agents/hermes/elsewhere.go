package hermes

import (
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// called are bailiff's backends by the names that Hermes has for them. Where commands
// run in Hermes without isolation they run in a sandbox in the same place.
var called = map[string]string{
	"docker": "docker", "bubblewrap": "bubblewrap", "singularity": "apptainer", "ssh": "ssh", "modal": "modal", "daytona": "daytona",
	"vercel": "vercel", "vercel_sandbox": "vercel",
}

// place is what a backend elsewhere needs besides: the variables that hold who is asking and other values, by the keys of its
// section of bailiff.yaml, and what remains to be done.
type place struct {
	variables map[string]string
	values    map[string]any
	next      string
}

var places = map[string]place{
	"modal": {map[string]string{"token_id": "MODAL_TOKEN_ID", "token_secret": "MODAL_TOKEN_SECRET"}, map[string]any{"runtime": "vm"},
		"On Modal sandboxes are virtual machines (runtime: vm), since gvisor bounds no processes; docs/backends/modal.md."},
	"daytona": {map[string]string{"api_key": "DAYTONA_API_KEY"}, nil,
		"Daytona's machines are made of a snapshot, or of an image by its digest: name one in backends.daytona.image, or in the " +
			"table platforms, images."},
	"vercel": {map[string]string{"token": "VERCEL_TOKEN"}, map[string]any{"team": "team_to-be-named", "project": "prj_to-be-named"},
		"Put the ids of your team and project, which Hermes has as VERCEL_TEAM_ID and VERCEL_PROJECT_ID, into backends.vercel; " +
			"until then it is not ready."},
}

// elsewhere says in a section of bailiff.yaml what its backend needs besides; false
// if Hermes does not say enough for one.
func (p *plan) elsewhere(backend string) bool {
	there, isCloud := places[backend]
	for _, key := range sortedNames(there.variables) {
		variable := there.variables[key]
		p.config.section(backend)[key] = map[string]any{"env": variable}
		p.next("bailiff's own environment must hold " + variable + ", or backends." + backend + "." + key +
			" name a file that does; no command gets it.")
	}
	if isCloud {
		maps.Copy(p.config.section(backend), there.values)
		p.next(there.next)
	}
	return backend != "ssh" || p.reach()
}

// reach says where and how another machine is reached by ssh.
func (p *plan) reach() bool {
	host, hosted := p.take("terminal.ssh_host")
	user, named := p.take("terminal.ssh_user")
	port, ported := p.take("terminal.ssh_port")
	at := spelt(user) + "@" + spelt(host)
	if ported {
		at += ":" + spelt(port)
	}
	if _, _, err := remote.Parse(at); err != nil || !hosted || !named {
		p.left("terminal.ssh_host", host, "With terminal.ssh_user and terminal.ssh_port it is no host that could be reached.",
			"Set backends.ssh.host by hand: docs/backends/ssh.md.")
		return false
	}
	section := p.config.section("ssh")
	section["host"], section["sandbox"] = at, "bubblewrap"
	p.carried("terminal.ssh_host", host, "bailiff.yaml: backends.ssh.host", "With terminal.ssh_user and terminal.ssh_port.")
	p.unlock(section)
	p.next("Commands run in a sandbox on that machine, which needs bubblewrap there; bailiff's user must have its key in known_hosts. " +
		"See docs/backends/ssh.md.")
	return true
}

// usualKey is tried where no key is named.
const usualKey = "~/.ssh/id_ed25519"

func (p *plan) unlock(section map[string]any) {
	section["keys"] = yamledit.List([]string{usualKey})
	said, ok := p.take("terminal.ssh_key")
	path, _ := said.text()
	switch {
	case !ok || path == "":
	case !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/"):
		p.wrong("terminal.ssh_key", said, "the path of a file")
	default:
		section["keys"] = yamledit.List([]string{path})
		p.carried("terminal.ssh_key", said, "bailiff.yaml: backends.ssh.keys",
			"~ is the home of bailiff's own user there, who must be able to read the file.")
	}
}

// spelt is a text or a number as it is written; empty if it is neither.
func spelt(said setting) string {
	if n, ok := said.number(); ok && n == float64(int(n)) {
		return strconv.Itoa(int(n))
	}
	text, _ := said.text()
	return text
}

// pinned is an image that can mean one only.
var pinned = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)

// imageFor is an image as a backend takes it; empty if it takes none like this.
func imageFor(backend, name string) string {
	switch {
	case backend == "apptainer" && !filepath.IsAbs(name):
		return "docker://" + name
	case backend == "daytona" && !pinned.MatchString(name):
		return ""
	}
	return name
}
