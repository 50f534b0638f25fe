package grammars

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

var (
	// ninjaValues finds what a file of ninja's gives to variables.
	ninjaValues = regexp.MustCompile(`(?m)^[ \t]*([\w.-]+)[ \t]*=[ \t]*(.*)$`)
	// ninjaFiles finds the names of the files that it includes.
	ninjaFiles = regexp.MustCompile(`(?m)^(?:include|subninja)[ \t]+(.+)$`)
	ninjaNames = regexp.MustCompile(`\$(?:\$|\{[\w.-]+\}|[\w-]+)`)
)

// ninja reads the commands of the rules that ninja finds: those of every target.
func (rd *Reader) ninja(name string, inv *call.Invocation, args *call.Arguments) {
	there := *inv
	if folder, ok := args.Value("-C"); ok {
		there.Scope = rd.ScopeIn(folder, inv.Scope)
	}
	file := word.Of("build.ninja")
	if w, ok := args.Value("-f"); ok {
		file = w
	}
	text, sources := rd.ninjaText(file, &there, nil)
	if len(sources) == 0 {
		return
	}
	settled := !slices.ContainsFunc(sources, func(s word.Stream) bool { return !s.Settled })
	whole := word.Stream{Present: true, Text: text, Known: true, File: sources[0].File, OnDisk: true, Settled: settled}
	rd.ReadIn(whole, func() {
		if slices.ContainsFunc(sources, func(s word.Stream) bool { return !s.Known && !s.Settled }) {
			rd.Hide()
		}
		for _, command := range rd.ninjaCommands(text) {
			rd.Text(name, &there, word.Of(command), there.Scope.Fork())
		}
	})
}

// ninjaText is the text of a file with those that it includes by literal names, and where they are from.
func (rd *Reader) ninjaText(file word.Word, inv *call.Invocation, above []word.Stream) (string, []word.Stream) {
	rd.RunFile(file, inv.Scope)
	s, ok := rd.Program(rd.Path(file, inv.Scope), rd.FileAt(file, inv.Scope))
	again := slices.ContainsFunc(above, func(b word.Stream) bool { return b.File == s.File })
	if !ok || again || len(above) > maxIncluded || !rd.Spend(1+len(s.Text)/64) {
		return "", nil
	}
	text, all := strings.ReplaceAll(s.Text, "$\n", " "), []word.Stream{s}
	for _, found := range ninjaFiles.FindAllStringSubmatch(text, word.MaxItems) {
		more, sources := rd.ninjaText(word.Of(found[1]), inv, append(slices.Clip(above), s))
		text, all = text+"\n"+more, append(all, sources...)
	}
	return text, all
}

// ninjaCommands are the commands of a text, with every value that they may begin with, and the values that hold more of a
// shell's text and are not the only ones of their variables.
func (rd *Reader) ninjaCommands(text string) (commands []string) {
	values := map[string][]string{}
	for _, found := range ninjaValues.FindAllStringSubmatch(text, -1) {
		if name := found[1]; len(values[name]) < word.MaxItems && !slices.Contains(values[name], found[2]) {
			values[name] = append(values[name], found[2])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, command := range values[name] {
			switch {
			case name == "command":
				commands = append(commands, rd.ninjaVariants(rd.ninjaExpansion(command, values, 0), values)...)
			case len(values[name]) > 1 && strings.ContainsAny(command, ";&|`<>("):
				commands = append(commands, ": "+ninjaCommand(rd.ninjaExpansion(command, values, 0)))
			}
		}
	}
	return commands
}

// ninjaExpansion is a text with what stands for the variables that have one value. Those of a target's files stay, as do those
// with several values.
func (rd *Reader) ninjaExpansion(text string, values map[string][]string, depth int) string {
	if depth > maxIncluded || len(text) > word.MaxRewrite {
		return text
	}
	return ninjaNames.ReplaceAllStringFunc(text, func(found string) string {
		switch name := strings.Trim(found, "${}"); {
		case name == "" || name == "in" || name == "out" || len(values[name]) > 1:
			return found
		case len(values[name]) == 0:
			return ""
		case !rd.Spend(1 + len(values[name][0])/64):
			return found
		default:
			return rd.ninjaExpansion(values[name][0], values, depth+1)
		}
	})
}

// ninjaVariants are the commands that one may be which begins with a variable of several values.
func (rd *Reader) ninjaVariants(command string, values map[string][]string) (commands []string) {
	at := ninjaNames.FindStringIndex(command)
	if at == nil || strings.TrimSpace(command[:at[0]]) != "" {
		return []string{ninjaCommand(command)}
	}
	name := strings.Trim(command[:at[1]], "${} \t")
	if len(values[name]) == 0 {
		return []string{ninjaCommand(command)}
	}
	for _, value := range values[name] {
		commands = append(commands, ninjaCommand(rd.ninjaExpansion(value, values, 0)+command[at[1]:]))
	}
	return commands
}

// ninjaCommand is a command as the shell gets it.
func ninjaCommand(command string) string {
	return strings.NewReplacer("$$", "$", "$ ", " ", "$:", ":").Replace(command)
}
