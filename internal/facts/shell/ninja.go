package shell

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	// ninjaValues finds what a file of ninja's gives to variables.
	ninjaValues = regexp.MustCompile(`(?m)^[ \t]*([\w.-]+)[ \t]*=[ \t]*(.*)$`)
	// ninjaFiles finds the names of the files that it includes.
	ninjaFiles = regexp.MustCompile(`(?m)^(?:include|subninja)[ \t]+(.+)$`)
	ninjaNames = regexp.MustCompile(`\$(?:\$|\{[\w.-]+\}|[\w-]+)`)
)

// ninja reads the commands of the rules that ninja finds: those of every target.
func (rd *reader) ninja(name string, inv *invocation, args *arguments) {
	there := *inv
	if folder, ok := args.value("-C"); ok {
		there.sc = rd.standing(folder, inv.sc)
	}
	file := known("build.ninja")
	if w, ok := args.value("-f"); ok {
		file = w
	}
	text, sources := rd.ninjaText(file, &there, nil)
	if len(sources) == 0 {
		return
	}
	settled := !slices.ContainsFunc(sources, func(s stream) bool { return !s.settled })
	whole := stream{present: true, text: text, known: true, file: sources[0].file, found: true, settled: settled}
	rd.reading(whole, func() {
		if slices.ContainsFunc(sources, func(s stream) bool { return !s.known && !s.settled }) {
			rd.hide()
		}
		for _, command := range rd.ninjaCommands(text) {
			rd.text(name, &there, known(command), there.sc.fork())
		}
	})
}

// ninjaText is the text of a file with those that it includes by literal names, and where they are from.
func (rd *reader) ninjaText(file word, inv *invocation, above []stream) (string, []stream) {
	rd.runsFile(file, inv.sc)
	s, ok := rd.runnable(rd.path(file, inv.sc), rd.fileAt(file, inv.sc))
	again := slices.ContainsFunc(above, func(b stream) bool { return b.file == s.file })
	if !ok || again || len(above) > maxIncluded || !rd.spend(1+len(s.text)/64) {
		return "", nil
	}
	text, all := strings.ReplaceAll(s.text, "$\n", " "), []stream{s}
	for _, found := range ninjaFiles.FindAllStringSubmatch(text, maxItems) {
		more, sources := rd.ninjaText(known(found[1]), inv, append(slices.Clip(above), s))
		text, all = text+"\n"+more, append(all, sources...)
	}
	return text, all
}

// ninjaCommands are the commands of a text, with every value that they may begin with, and the values that hold more of a
// shell's text and are not the only ones of their variables.
func (rd *reader) ninjaCommands(text string) (commands []string) {
	values := map[string][]string{}
	for _, found := range ninjaValues.FindAllStringSubmatch(text, -1) {
		if name := found[1]; len(values[name]) < maxItems && !slices.Contains(values[name], found[2]) {
			values[name] = append(values[name], found[2])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, command := range values[name] {
			switch {
			case name == "command":
				commands = append(commands, rd.ninjaLed(rd.ninjaExpanded(command, values, 0), values)...)
			case len(values[name]) > 1 && strings.ContainsAny(command, ";&|`<>("):
				commands = append(commands, ": "+ninjaSpelt(rd.ninjaExpanded(command, values, 0)))
			}
		}
	}
	return commands
}

// ninjaExpanded is a text with what stands for the variables that have one value. Those of a target's files stay, as do those
// with several values.
func (rd *reader) ninjaExpanded(text string, values map[string][]string, depth int) string {
	if depth > maxIncluded || len(text) > maxOperated {
		return text
	}
	return ninjaNames.ReplaceAllStringFunc(text, func(found string) string {
		switch name := strings.Trim(found, "${}"); {
		case name == "" || name == "in" || name == "out" || len(values[name]) > 1:
			return found
		case len(values[name]) == 0:
			return ""
		case !rd.spend(1 + len(values[name][0])/64):
			return found
		default:
			return rd.ninjaExpanded(values[name][0], values, depth+1)
		}
	})
}

// ninjaLed are the commands that one may be which begins with a variable of several values.
func (rd *reader) ninjaLed(command string, values map[string][]string) (commands []string) {
	at := ninjaNames.FindStringIndex(command)
	if at == nil || strings.TrimSpace(command[:at[0]]) != "" {
		return []string{ninjaSpelt(command)}
	}
	name := strings.Trim(command[:at[1]], "${} \t")
	if len(values[name]) == 0 {
		return []string{ninjaSpelt(command)}
	}
	for _, value := range values[name] {
		commands = append(commands, ninjaSpelt(rd.ninjaExpanded(value, values, 0)+command[at[1]:]))
	}
	return commands
}

// ninjaSpelt is a command as the shell gets it.
func ninjaSpelt(command string) string {
	return strings.NewReplacer("$$", "$", "$ ", " ", "$:", ":").Replace(command)
}
