package hermes

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/text/spelling"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
)

// chooseBackends says which backends there are. What Hermes runs on the host, or
// where it is not known what is meant, runs in a sandbox of this machine.
func (p *plan) chooseBackends() {
	terminal, of := p.backend("terminal.backend")
	if terminal == "" {
		terminal = "bubblewrap"
		p.carried("terminal.backend", of, "bailiff.yaml: backends.bubblewrap",
			"Hermes' default runs commands on the host; they run in a sandbox with the host's own programs now.")
	}
	p.backends[terminal] = true
	gateway, _ := p.backend("gateway.terminal_backend")
	if gateway == "" || gateway == terminal {
		return
	}
	p.backends[gateway] = true
	for _, platform := range p.platforms {
		p.tables.set(yamledit.List([]string{gateway}), "platforms", platform, "backends")
	}
}

// onHost are what Hermes calls a place that is none of its sandboxes, with what bailiff makes of it.
var onHost = map[string]string{
	"local":    "Hermes runs commands on the host; they run in a sandbox with the host's own programs now.",
	pluginName: "Hermes runs nothing by itself already.",
}

// backend is bailiff's for Hermes' at a key; empty if none is said.
func (p *plan) backend(key string) (string, setting) {
	said, ok := p.take(key)
	name, isText := said.text()
	p.ran[name] = ok
	switch {
	case !ok || name == "":
		return "", said
	case !isText:
		p.wrong(key, said, "the name of a backend")
	case called[name] != "" && p.elsewhere(called[name]):
		p.carried(key, said, "bailiff.yaml: backends."+called[name], "")
		return called[name], said
	case called[name] != "":
		p.left(key, said, "Hermes does not say enough for it.",
			"Commands run on docker, on this machine, until backends."+called[name]+" is set by hand.")
	case onHost[name] != "":
		p.carried(key, said, "bailiff.yaml: backends.bubblewrap", onHost[name])
		return "bubblewrap", said
	default:
		known := append(sortedNames(called), sortedNames(onHost)...)
		p.left(key, said, "It is "+strconv.Quote(name)+": "+spelling.Unknown("backend", name, known)+".",
			"Correct it in Hermes and import again; until then commands run on docker, on this machine.")
	}
	return "docker", said
}

// image is an image's name as engines take it.
var image = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9_.:/@-]{0,254}$`)

// usualImage is what Hermes runs unless told otherwise.
const usualImage = "nikolaik/python-nodejs:python3.11-nodejs20"

func (p *plan) chooseImages() {
	for _, hermes := range containers {
		key := "terminal." + hermes + "_image"
		name, said := p.imageOf(hermes, key)
		backend := called[hermes]
		is := imageFor(backend, name)
		switch {
		case !p.ranOn(hermes) && name != "":
			p.left(key, said, "Hermes runs nothing on "+hermes+".", "")
		case !p.ranOn(hermes):
		case name == "" && imageFor(backend, usualImage) != "":
			p.config.section(backend)["image"] = imageFor(backend, usualImage)
		case name == "":
		case is == "":
			p.left(key, said, "Daytona makes machines of snapshots, or of an image by its digest.", "Name one in backends.daytona.image.")
		default:
			p.config.section(backend)["image"] = is
			p.carried(key, said, "bailiff.yaml: backends."+backend+".image", "")
		}
	}
	p.chooseGatewaysImage()
}

// ranOn tells whether Hermes runs commands on one of these.
func (p *plan) ranOn(backends ...string) bool {
	return slices.ContainsFunc(backends, func(name string) bool { return p.ran[name] })
}

func (p *plan) imageOf(backend, key string) (string, setting) {
	said, ok := p.take(key)
	name, _ := said.text()
	name = strings.TrimPrefix(name, "docker://")
	isFile := backend == "singularity" && filepath.IsAbs(name) && filepath.Clean(name) == name
	if ok && name != "" && !isFile && !image.MatchString(name) {
		p.wrong(key, said, "an image that a Docker engine could have")
		return "", said
	}
	return name, said
}

func (p *plan) chooseGatewaysImage() {
	const key = "gateway.sandbox_image"
	name, said := p.imageOf("docker", key)
	images := map[string]any{}
	for _, backend := range []string{"docker", "apptainer", "modal", "daytona"} {
		if is := imageFor(backend, name); p.backends[backend] && is != "" {
			images[backend] = is
		}
	}
	switch {
	case name == "":
	case len(images) == 0:
		p.left(key, said, "No request runs where an image could be this.", "")
	default:
		for _, platform := range p.platforms {
			p.tables.set(images, "platforms", platform, "images")
		}
		p.carried(key, said, "policies/data.yaml: platforms, images", "")
	}
}

// bound carries limits over.
func (p *plan) bound() {
	p.boundContainers()
	p.boundIdleness()
	p.time("terminal.timeout", "unasked_timeout_seconds", "terminal")
	p.time("code_execution.timeout", "unasked_timeout_seconds", "execute_code")
	p.time("terminal.max_foreground_timeout", "tools", "terminal", "timeout_seconds")
}

// boundContainers carries over what Hermes bounds in containers only.
func (p *plan) boundContainers() {
	if !p.ranOn(containers...) {
		for _, key := range []string{"terminal.container_cpu", "terminal.container_memory", "terminal.container_disk"} {
			if said, ok := p.take(key); ok {
				p.left(key, said, "Hermes runs nothing in containers; the shipped limits hold.", "")
			}
		}
		return
	}
	p.limit("terminal.container_cpu", "cpus", 0.01, 4096)
	p.limit("terminal.container_memory", "memory_mb", 1, math.MaxInt32)
	if p.limit("terminal.container_disk", "disk_mb", 1, math.MaxInt32) {
		p.config.unbounded = true
		p.next("Most engines cannot bound what a sandbox writes, and Hermes drops that limit in silence. So bailiff.yaml accepts that " +
			"it is missing " +
			"(accept_missing_limits); take that out to have it kept or refused.")
	}
}

// containers are the backends for which Hermes has images.
var containers = []string{"singularity", "modal", "daytona", "docker"}

// boundIdleness carries over when an idle sandbox goes. Where Hermes keeps files
// beyond that, a short time would take them from people who left for lunch.
func (p *plan) boundIdleness() {
	const key = "terminal.lifetime_seconds"
	gateways := p.limit("gateway.sandbox_lifetime", "idle_seconds", 1, math.MaxInt32)
	persistent, _ := p.home.settings.of("terminal.container_persistent")
	kept, known := persistent.truth()
	said, ok := p.take(key)
	switch {
	case !ok:
	case gateways:
		p.left(key, said, "gateway.sandbox_lifetime holds for all.", "")
	case kept || !known:
		p.left(key, said, "Hermes keeps the files of an idle sandbox, bailiff does not; so it goes after the shipped time.",
			"Set idle_seconds in the table sandboxes.")
	default:
		p.limit(key, "idle_seconds", 1, math.MaxInt32)
	}
}

// limit carries a limit of sandboxes over.
func (p *plan) limit(key, kind string, least, most float64) bool {
	var rows [][]string
	for _, backend := range isolating {
		if p.backends[backend] || backend == "docker" || backend == "bubblewrap" {
			rows = append(rows, []string{"sandboxes", backend, "limits", kind})
		}
	}
	_, carried := p.number(key, "policies/data.yaml: sandboxes, limits."+kind, least, most, rows...)
	return carried
}

// time carries a time limit of requests over.
func (p *plan) time(key string, path ...string) {
	at := append([]string{"limits"}, path...)
	p.times[key], _ = p.number(key, "policies/data.yaml: "+strings.Join(at, "."), 1, math.MaxInt32, at)
}

// number carries a number over to each of the places in the tables. What is bounded by whole numbers is one.
func (p *plan) number(key, to string, least, most float64, places ...[]string) (n float64, carried bool) {
	said, ok := p.take(key)
	if !ok {
		return 0, false
	}
	n, isNumber := said.number()
	if least >= 1 {
		n = math.Trunc(n)
	}
	if !isNumber || n < least || n > most {
		p.wrong(key, said, fmt.Sprintf("a number from %v to %.0f", least, most))
		return 0, false
	}
	note := ""
	for _, place := range places {
		note = cmp.Or(p.wider(n, place...), note)
		p.tables.set(n, place...)
	}
	p.carried(key, said, to, note)
	return n, true
}

// wider says so where a limit is more than the shipped one.
func (p *plan) wider(n float64, path ...string) string {
	shipped := p.tables.get(path...)
	if shipped == nil {
		return ""
	}
	if is, ok := (setting{value: valueOf(shipped)}).number(); ok && n > is {
		return "That is more than the shipped " + shipped.GetToken().Value + "."
	}
	return ""
}

// mount carries folders over that a sandbox may show.
func (p *plan) mount() {
	const key = "terminal.docker_volumes"
	said, ok := p.take(key)
	volumes, isList := said.list()
	switch {
	case !ok || isList && len(volumes) == 0:
		return
	case !isList:
		p.wrong(key, said, "a list of volumes")
		return
	case !p.ranOn("docker"):
		p.left(key, said, "Hermes runs nothing on docker.", "")
		return
	}
	var mounts []any
	for _, volume := range volumes {
		mount, why := p.mountOf(volume)
		if why != "" {
			p.left(key, said, volume+": "+why, "If it must be there: docs/shipped-policies.md, table platforms, mounts.")
			continue
		}
		mounts = append(mounts, mount)
		p.config.mountable = append(p.config.mountable, mount["source"].(string))
	}
	if len(mounts) == 0 {
		return
	}
	for _, platform := range p.config.platforms {
		p.tables.set(map[string]any{"docker": mounts}, "platforms", platform, "mounts")
	}
	p.carried(key, said, "bailiff.yaml: backends.docker.mounts_allowed; policies/data.yaml: platforms, mounts",
		"Sandboxes show these folders; commands are an unprivileged user there, not root, and write only what it may.")
}

// tooMuch are folders that no sandbox is to show as a whole, systems those of which
// it is to show nothing.
var (
	tooMuch = []string{"/root", "/home", "/var/lib", "/usr", "/opt", "/srv", "/mnt", "/tmp"}
	systems = []string{"/etc", "/run", "/var/run", "/proc", "/sys", "/dev", "/boot", "/var/spool", "/var/lib/containerd",
		"/var/lib/kubelet"}
)

// mountOf reads "source:target[:ro]"; why says why it is not carried over.
func (p *plan) mountOf(volume string) (mount map[string]any, why string) {
	parts := strings.Split(volume, ":")
	options := []string{}
	if len(parts) == 3 {
		options = strings.Split(parts[2], ",")
	}
	switch source := parts[0]; {
	case len(parts) < 2 || len(parts) > 3:
		return nil, "it is not SOURCE:TARGET or SOURCE:TARGET:ro."
	case !filepath.IsAbs(source) || filepath.Clean(source) != source:
		return nil, "its source is no folder by its absolute path; named volumes are the engine's, and shared by whoever names them."
	case !filepath.IsAbs(parts[1]) || filepath.Clean(parts[1]) != parts[1]:
		return nil, "its target is no absolute path."
	case p.forbidden(source) || p.forbidden(target(source)):
		return nil, "its source is a socket, or holds secrets or the system: who can reach it owns the machine or the keys."
	}
	return map[string]any{"source": parts[0], "target": parts[1], "read_only": slices.Contains(options, "ro")}, ""
}

// target is where a path leads on this machine.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// forbidden tells whether a path leads to where keys and settings lie, or to what
// holds such a place.
func (p *plan) forbidden(path string) bool {
	closed := append([]string{p.home.Folder, p.to.Folder}, systems...)
	for i, folder := range closed {
		if abs, err := filepath.Abs(folder); err == nil {
			closed[i] = abs
		}
	}
	return slices.ContainsFunc(append(closed, tooMuch...), func(folder string) bool { return within(path, folder) }) ||
		slices.ContainsFunc(closed, func(folder string) bool { return within(folder, path) }) ||
		filepath.Dir(path) == "/home" || strings.HasSuffix(path, ".sock") || slices.ContainsFunc(strings.Split(path, "/"), telling)
}

// within tells whether a path is a folder or lies below it.
func within(folder, path string) bool {
	return strings.HasPrefix(path+"/", strings.TrimSuffix(folder, "/")+"/")
}

// telling is a name by which a folder tells that it holds keys or settings.
func telling(name string) bool {
	return strings.HasPrefix(name, ".") || name == "bailiff" || name == "docker"
}
