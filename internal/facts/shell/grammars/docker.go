package grammars

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// isContainer says whether a subcommand runs a command in a container.
func isContainer(subcommand string) bool {
	return subcommand == "run" || subcommand == "exec" || subcommand == "create"
}

// dockerArguments leaves the options of a container's command alone.
func dockerArguments(words []word.Word, p *programs.Program) *call.Arguments {
	outer := call.ReadArguments(words, p, true)
	if len(outer.Rest) == 0 {
		return outer
	}
	if !isContainer(outer.Rest[0].Text) {
		return call.ParseArguments(words, p)
	}
	inner := call.ReadArguments(outer.Rest[1:], p, true)
	inner.Flags = append(outer.Flags, inner.Flags...)
	inner.Options = append(outer.Options, inner.Options...)
	inner.Operands = append(outer.Rest[:1:1], inner.Operands...)
	return inner
}

// container reads the command of "docker run IMAGE CMD" and "docker exec NAME CMD".
func (rd *Reader) container(name string, inv *call.Invocation, _ *call.Arguments) (call.Result, bool) {
	words := inv.Argv[1:]
	for i, w := range words {
		if isContainer(w.Text) {
			g := call.ParseArguments(words[i+1:], &programs.Program{Strict: true, Options: programs.Look(name).Described.Options})
			argv := word.After(g.Rest, 1)
			if entry, ok := g.Value("--entrypoint"); ok && entry.Text != "" {
				argv = append([]word.Word{entry}, argv...)
			}
			in := *inv
			in.Scope = inv.Scope.Elsewhere()
			in.Scope.Mounts = rd.mountsOf(g.Options, inv.Scope)
			return rd.image(name, &in, argv), true
		}
	}
	return call.Result{Out: word.Unknown(value.Taint{})}, true
}

// image runs a container's command; without one its image decides.
func (rd *Reader) image(name string, inv *call.Invocation, argv []word.Word) call.Result {
	if len(argv) == 0 || strings.HasPrefix(argv[0].Text, "-") {
		return call.Result{Out: word.Unknown(value.Taint{})}
	}
	return rd.Inner(name, inv, argv)
}

// mountsEffects are the folders of the host that a container may read and change.
func mountsEffects(e *effects.Collector, _ string) {
	for _, o := range e.Args.Options {
		folder, rest, ok := strings.Cut(o.Value.Text, ":")
		if !ok || o.Name != "-v" && o.Name != "--volume" || !strings.ContainsAny(folder, "/~$.") {
			continue
		}
		e.Read(word.Part(o.Value, folder))
		if !strings.HasSuffix(rest, ":ro") {
			e.Write(word.Part(o.Value, folder))
		}
	}
}

// buildersOf are the subcommands below which "build" stands, besides the program itself.
var buildersOf = value.SetOf("buildx image builder")

// buildFile notes the file that says what a build of an image runs.
func (rd *Reader) buildFile(inv *call.Invocation, args *call.Arguments) {
	words := inv.Argv[1:]
	at := slices.IndexFunc(words, func(w word.Word) bool { return w.Text == "build" })
	if first := word.First(args.Operands).Text; at < 0 || first != "build" && !buildersOf[first] {
		return
	}
	options := maps.Clone(programs.Look("docker").Described.Options)
	options["-f"], options["-t"] = programs.FileRead, programs.Plain
	build := call.ParseArguments(words[at+1:], &programs.Program{Options: options})
	if file, ok := build.Value("-f", "--file"); ok {
		rd.Find(file, inv.Scope)
		return
	}
	for _, folder := range build.Operands {
		for _, name := range []string{"Dockerfile", "Containerfile"} {
			rd.Find(word.InFolder(folder, name), inv.Scope)
		}
	}
}

// compose notes the files of "docker compose", which nerdctl has not.
func (rd *Reader) compose(name string, inv *call.Invocation, args *call.Arguments) {
	rd.buildFile(inv, args)
	if name != "nerdctl" && len(inv.Argv) > 2 && inv.Argv[1].Text == "compose" {
		rd.composes(inv.Argv[2:], inv.Scope)
	}
}

// dockerCompose notes the files of "docker-compose".
func (rd *Reader) dockerCompose(_ string, inv *call.Invocation, _ *call.Arguments) {
	rd.composes(inv.Argv[1:], inv.Scope)
}

// startsNothing are the subcommands of compose by which no container starts.
var startsNothing = value.SetOf("down stop kill pause ps logs ls top images port events stats version wait")

// composing are the options of compose that stand before its subcommand.
var composing = programs.Program{Options: programs.Options{"-f": programs.FileRead, "--file": programs.FileRead, "-p": programs.Plain,
	"--project-name": programs.Plain, "--project-directory": programs.Plain, "--profile": programs.Plain, "--env-file": programs.Plain,
	"--ansi": programs.Plain, "--parallel": programs.Plain, "--progress": programs.Plain}}

// areOptionsOf says that all options before the first operand are described. Another one may take that for its value.
func areOptionsOf(p *programs.Program, words []word.Word) bool {
	for i := 0; i < len(words) && strings.HasPrefix(words[i].Text, "-"); i++ {
		name, _, joined := strings.Cut(words[i].Text, "=")
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
func (rd *Reader) composes(words []word.Word, sc *state.Scope) {
	given := false
	if args := call.ParseArguments(words, &composing); startsNothing[word.First(args.Operands).Text] && areOptionsOf(&composing, words) {
		return
	}
	for i, w := range words {
		switch {
		case (w.Text == "-f" || w.Text == "--file") && i+1 < len(words):
			rd.RunFile(words[i+1], sc)
			given = true
		case strings.HasPrefix(w.Text, "--file="):
			rd.RunFile(word.Part(w, strings.TrimPrefix(w.Text, "--file=")), sc)
			given = true
		}
	}
	if !given {
		rd.RunAny(sc, "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
	}
}

// mountsOf are those that the options of "docker run" make.
func (rd *Reader) mountsOf(options []call.Option, sc *state.Scope) []state.Mount {
	var all []state.Mount
	for _, o := range options {
		var m state.Mount
		switch o.Name {
		case "-v", "--volume":
			source, rest, _ := strings.Cut(o.Value.Text, ":")
			m.Target, _, _ = strings.Cut(rest, ":")
			m.Source = source
		case "--mount":
			m = mountOption(o.Value.Text)
		}
		if strings.HasPrefix(m.Target, "/") && strings.ContainsAny(m.Source, "/~$.") && len(all) < word.MaxFields {
			all = append(all, state.Mount{Source: rd.Path(word.Part(o.Value, m.Source), sc), Target: value.CleanPath(m.Target)})
		}
	}
	return all
}

// mountOption reads "type=bind,source=/a,target=/b".
func mountOption(text string) (m state.Mount) {
	for _, field := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "source", "src":
			m.Source = value
		case "target", "destination", "dst":
			m.Target = value
		}
	}
	return m
}
