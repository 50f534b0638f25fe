package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// isContainer says whether a subcommand runs a command in a container.
func isContainer(subcommand string) bool {
	return subcommand == "run" || subcommand == "exec" || subcommand == "create"
}

// dockerArguments leaves the options of a container's command alone.
func dockerArguments(words []word, p *programs.Program) *arguments {
	outer := readArguments(words, p, true)
	if len(outer.rest) == 0 {
		return outer
	}
	if !isContainer(outer.rest[0].text) {
		return parseArguments(words, p)
	}
	inner := readArguments(outer.rest[1:], p, true)
	inner.flags = append(outer.flags, inner.flags...)
	inner.options = append(outer.options, inner.options...)
	inner.operands = append(outer.rest[:1:1], inner.operands...)
	return inner
}

// container reads the command of "docker run IMAGE CMD" and "docker exec NAME CMD".
func (rd *reader) container(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	for i, w := range words {
		if isContainer(w.text) {
			g := parseArguments(words[i+1:], &programs.Program{Strict: true, Options: programs.Look(name).Described.Options})
			argv := after(g.rest, 1)
			if entry, ok := g.value("--entrypoint"); ok && entry.text != "" {
				argv = append([]word{entry}, argv...)
			}
			in := *inv
			in.sc = &scope{argsKnown: true, steps: inv.sc.steps, mounts: rd.mountsOf(g.options, inv.sc)}
			return rd.image(name, &in, argv), true
		}
	}
	return result{out: unknown(value.Taint{})}, true
}

// image runs a container's command; without one its image decides.
func (rd *reader) image(name string, inv *invocation, argv []word) result {
	if len(argv) == 0 || strings.HasPrefix(argv[0].text, "-") {
		return result{out: unknown(value.Taint{})}
	}
	return rd.inner(name, inv, argv)
}

// mounts are the folders of the host that a container may read and change.
func mountsEffects(e *effect, _ string) {
	for _, o := range e.args.options {
		folder, rest, ok := strings.Cut(o.value.text, ":")
		if !ok || o.name != "-v" && o.name != "--volume" || !strings.ContainsAny(folder, "/~$.") {
			continue
		}
		e.read(part(o.value, folder))
		if !strings.HasSuffix(rest, ":ro") {
			e.write(part(o.value, folder))
		}
	}
}

// buildersOf are the subcommands below which "build" stands, besides the program itself.
var buildersOf = value.SetOf("buildx image builder")

// buildFile notes the file that says what a build of an image runs.
func (rd *reader) buildFile(inv *invocation, args *arguments) {
	words := inv.argv[1:]
	at := slices.IndexFunc(words, func(w word) bool { return w.text == "build" })
	if first := first(args.operands).text; at < 0 || first != "build" && !buildersOf[first] {
		return
	}
	options := maps.Clone(programs.Look("docker").Described.Options)
	options["-f"], options["-t"] = programs.FileRead, programs.Plain
	build := parseArguments(words[at+1:], &programs.Program{Options: options})
	if file, ok := build.value("-f", "--file"); ok {
		rd.seeksFile(file, inv.sc)
		return
	}
	for _, folder := range build.operands {
		for _, name := range []string{"Dockerfile", "Containerfile"} {
			rd.seeksFile(inFolder(folder, name), inv.sc)
		}
	}
}

// compose notes the files of "docker compose", which nerdctl has not.
func (rd *reader) compose(name string, inv *invocation, args *arguments) {
	rd.buildFile(inv, args)
	if name != "nerdctl" && len(inv.argv) > 2 && inv.argv[1].text == "compose" {
		rd.composes(inv.argv[2:], inv.sc)
	}
}

// dockerCompose notes the files of "docker-compose".
func (rd *reader) dockerCompose(_ string, inv *invocation, _ *arguments) {
	rd.composes(inv.argv[1:], inv.sc)
}

// startsNothing are the subcommands of compose by which no container starts.
var startsNothing = value.SetOf("down stop kill pause ps logs ls top images port events stats version wait")

// composing are the options of compose that stand before its subcommand.
var composing = programs.Program{Options: programs.Options{"-f": programs.FileRead, "--file": programs.FileRead, "-p": programs.Plain,
	"--project-name": programs.Plain, "--project-directory": programs.Plain, "--profile": programs.Plain, "--env-file": programs.Plain,
	"--ansi": programs.Plain, "--parallel": programs.Plain, "--progress": programs.Plain}}

// areOptionsOf says that all options before the first operand are described. Another one may take that for its value.
func areOptionsOf(p *programs.Program, words []word) bool {
	for i := 0; i < len(words) && strings.HasPrefix(words[i].text, "-"); i++ {
		name, _, joined := strings.Cut(words[i].text, "=")
		if _, described := p.Options[name]; !described {
			return false
		}
		if !joined {
			i++
		}
	}
	return true
}

// composes notes the files that say what containers run, where one starts.
func (rd *reader) composes(words []word, sc *scope) {
	given := false
	if args := parseArguments(words, &composing); startsNothing[first(args.operands).text] && areOptionsOf(&composing, words) {
		return
	}
	for i, w := range words {
		switch {
		case (w.text == "-f" || w.text == "--file") && i+1 < len(words):
			rd.runsFile(words[i+1], sc)
			given = true
		case strings.HasPrefix(w.text, "--file="):
			rd.runsFile(part(w, strings.TrimPrefix(w.text, "--file=")), sc)
			given = true
		}
	}
	if !given {
		rd.runsAny(sc, "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
	}
}

// mountsOf are those that the options of "docker run" make.
func (rd *reader) mountsOf(options []option, sc *scope) []mount {
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
			all = append(all, mount{source: rd.path(part(o.value, m.source), sc), target: value.Cleaned(m.target)})
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
