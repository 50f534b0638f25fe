package shell

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
)

// makefiles notes the files that make looks for, where no option names one.
func (rd *reader) makefiles(_ string, inv *invocation, args *arguments) {
	sc := inv.sc
	if dir, ok := args.value("-C", "--directory"); ok {
		sc = rd.standing(dir, sc)
	}
	var names []word
	for _, o := range args.options {
		if o.name == "-f" || o.name == "--file" || o.name == "--makefile" {
			names = append(names, o.value)
		}
	}
	if len(names) == 0 {
		rd.runsAny(sc, "GNUmakefile", "makefile", "Makefile")
		names = []word{known("GNUmakefile"), known("makefile"), known("Makefile")}
	}
	for _, w := range slices.Concat(rd.makefilesBefore(inv.sc), names) {
		s, ok := rd.holds(w, inv.in, inv.sc, sc)
		p := rd.path(w, sc)
		if !ok || slices.Contains(rd.making, p) || len(rd.making) > maxIncluded { // "make" in a recipe reads the same file
			continue
		}
		rd.making = append(rd.making, p)
		inside := *inv
		inside.sc = sc
		rd.reading(s, func() {
			for _, code := range rd.ofItsOwn(s) {
				rd.recipes(&inside, args, code)
			}
		})
		rd.making = rd.making[:len(rd.making)-1]
	}
}

// makefilesBefore are those that a variable has make read before the others.
func (rd *reader) makefilesBefore(sc *scope) (names []word) {
	v, set := rd.value("MAKEFILES", sc)
	if !set || !v.known {
		return nil
	}
	for _, name := range strings.Fields(v.text) {
		rd.runsFile(part(v, name), sc)
		names = append(names, part(v, name))
	}
	return names
}

// recipes reads the commands of a makefile that the text holds.
func (rd *reader) recipes(inv *invocation, args *arguments, makefile word) {
	if !makefile.known {
		return
	}
	text := rd.included(inv, strings.ReplaceAll(makefile.text, "\\\n", " "), 0)
	joined := makeVariables(text, false)
	rd.recipesWith(inv, args, makefile, text, joined)
	if last := makeVariables(text, true); !maps.Equal(joined, last) {
		rd.recipesWith(inv, args, makefile, text, last)
	}
}

// recipesWith reads the commands of a makefile with these values of its variables.
func (rd *reader) recipesWith(inv *invocation, args *arguments, makefile word, text string, vars map[string]string) {
	if !rd.spend(1 + len(text)/64) {
		return
	}
	var goals []string
	for _, w := range args.operands {
		if name, value, ok := strings.Cut(w.text, "="); ok {
			vars[name] = value
		} else {
			goals = append(goals, w.text)
		}
	}
	rules := rd.rulesOf(inv, makefile, text, vars)
	names := due(rules, goals)
	for _, r := range rules {
		if r.runs(names) || slices.ContainsFunc(goals, func(g string) bool { return strings.Contains(g, "$") }) {
			vars["@"], vars["^"] = strings.Join(r.targets, " "), strings.Join(r.sources, " ")
			vars["<"], _, _ = strings.Cut(vars["^"], " ")
			var all []string
			for _, command := range r.commands {
				rd.shellOf(inv, makefile, command, vars)
				all = append(all, rd.expandMake(strings.TrimLeft(command, "@-+ "), vars, 0))
			}
			if strings.Contains(text, ".ONESHELL:") {
				all = []string{strings.Join(all, "\n")}
			}
			for _, command := range all {
				rd.text("make", inv, part(makefile, byShell(rd.expandMake(vars["SHELL"], vars, 0), command)), inv.sc.fork())
			}
		}
	}
}

// byShell is a command as make has it run by a program that its SHELL names.
func byShell(shell, command string) string {
	words := strings.Fields(shell)
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool {
		return !strings.HasPrefix(w, ".") && programs.Of(path.Base(w)).Language == "shell"
	}) {
		return command
	}
	return shell + " -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
}

// maxIncluded is how deep makefiles may include others.
const maxIncluded = 4

// included is a makefile with the text of those that it includes by literal names, where they
// are known. They belong to what runs.
func (rd *reader) included(inv *invocation, text string, depth int) string {
	if depth >= maxIncluded || !strings.Contains(text, "include ") {
		return text
	}
	for _, found := range makeIncludes.FindAllStringSubmatch(text, maxItems) {
		for _, name := range strings.Fields(found[1]) {
			w := known(name)
			if strings.ContainsAny(name, "$%") || !rd.spend(1) {
				continue
			}
			if strings.ContainsAny(name, "*?[") {
				rd.gather([]string{name}, known("."), inv.sc, func(_ string, s stream) { text += "\n" + s.text })
				continue
			}
			if s, ok := rd.runnable(rd.path(w, inv.sc), rd.fileAt(w, inv.sc)); ok && !s.known {
				rd.reading(s, rd.hide)
			} else if ok && len(text)+len(s.text) <= maxValue {
				text += "\n" + rd.included(inv, strings.ReplaceAll(s.text, "\\\n", " "), depth+1)
			}
			rd.runsAny(inv.sc, name)
		}
	}
	return text
}

// rule is a rule of a makefile: its targets, the sources that they need, and the commands that
// make them.
type rule struct {
	targets, sources, commands []string
}

// rulesOf are the rules of a makefile.
func (rd *reader) rulesOf(inv *invocation, makefile word, text string, vars map[string]string) []rule {
	var rules []rule
	for _, line := range strings.Split(text, "\n") {
		command, ok := strings.CutPrefix(line, "\t")
		if !ok {
			head, after, _ := strings.Cut(line, ";")
			rd.shellOf(inv, makefile, head, vars)
			to, from, ok := strings.Cut(head, ":")
			if !ok || makeAssigns.MatchString(line) {
				continue
			}
			command = after
			rules = append(rules, rule{targets: strings.Fields(rd.expandMake(to, vars, 0)),
				sources: strings.Fields(strings.TrimLeft(rd.expandMake(from, vars, 0), ":"))})
		}
		if strings.TrimSpace(command) != "" && len(rules) > 0 && rd.spend(1) {
			rules[len(rules)-1].commands = append(rules[len(rules)-1].commands, command)
		}
	}
	return rules
}

// due are the names that the goals of a call need. Without goals they are those that the first
// rule needs.
func due(rules []rule, goals []string) map[string]bool {
	for i := 0; len(goals) == 0 && i < len(rules); i++ {
		if len(rules[i].targets) > 0 && !strings.HasPrefix(rules[i].targets[0], ".") {
			goals = rules[i].targets[:1]
		}
	}
	names := map[string]bool{}
	for pending := slices.Clone(goals); len(pending) > 0; pending = pending[1:] {
		if names[pending[0]] {
			continue
		}
		names[pending[0]] = true
		for _, r := range rules {
			if slices.Contains(r.targets, pending[0]) {
				pending = append(pending, r.sources...)
			}
		}
	}
	return names
}

// runs says whether a rule may be one of those that make the names that are due.
func (r rule) runs(names map[string]bool) bool {
	return slices.ContainsFunc(r.targets, func(to string) bool {
		return names[to] || strings.ContainsAny(to, "%$*?[") || strings.HasPrefix(to, ".") && strings.Count(to, ".") > 1
	})
}

// makeVariables are those that a makefile assigns, and those that make knows itself. Of several values of one it has all, or
// the last.
func makeVariables(text string, last bool) map[string]string {
	vars := map[string]string{"CC": "cc", "CXX": "c++", "CPP": "cc -E", "AR": "ar", "AS": "as", "LD": "ld", "RM": "rm -f", "MAKE": "make",
		"SHELL": "/bin/sh", "CURDIR": "."}
	for _, name := range []string{"CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "ARFLAGS", "MAKEFLAGS"} {
		vars[name] = ""
	}
	for _, line := range strings.Split(text, "\n") {
		found := makeAssigns.FindStringSubmatch(line)
		if found == nil || strings.HasPrefix(line, "\t") {
			continue
		}
		if found[1] == "SHELL" {
			vars["SHELL"] = found[2]
			continue
		}
		value := strings.TrimSpace(vars[found[1]] + " " + found[2])
		if last && !strings.Contains(strings.TrimSuffix(found[0], found[2]), "+=") {
			value = found[2]
		}
		if len(value) <= maxOperated {
			vars[found[1]] = value
		}
	}
	return vars
}

// shellOf reads the commands that a line of a makefile has run while it is expanded.
func (rd *reader) shellOf(inv *invocation, makefile word, line string, vars map[string]string) {
	for _, start := range []string{"$(shell ", "${shell "} {
		for rest := line; ; {
			_, after, ok := strings.Cut(rest, start)
			if !ok || !rd.spend(1) {
				break
			}
			rd.text("make", inv, part(makefile, rd.expandMake(enclosedIn(after), vars, 0)), inv.sc.fork())
			rest = after
		}
	}
	if name, command, ok := strings.Cut(line, "!="); ok && makeName.MatchString(strings.TrimSpace(name)) {
		rd.text("make", inv, part(makefile, rd.expandMake(command, vars, 0)), inv.sc.fork())
	}
}

var (
	makeAssigns = regexp.MustCompile(`^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:[:?+]|::)?=\s*(.*)$`)
	// makeIncludes finds the names of the makefiles that a line includes.
	makeIncludes = regexp.MustCompile(`(?m)^ *[-s]?include +([^#\n]+)`)
	makeName     = regexp.MustCompile(`^[\w.-]+$`)
)

// expandMake is a text as make expands it. A reference that is not followed becomes a variable that
// the shell does not know.
func (rd *reader) expandMake(text string, vars map[string]string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		name := text[i : i+1]
		if name == "$" {
			b.WriteByte('$')
			continue
		}
		if name == "(" || name == "{" {
			inner := enclosedIn(text[i+1:])
			i += len(inner) + 1
			name = inner
		}
		value, ok := vars[name]
		if !ok || depth > 4 || b.Len() > maxValue/4 || !rd.spend(1+len(value)/64) {
			b.WriteString("$_")
			continue
		}
		b.WriteString(rd.expandMake(value, vars, depth+1))
	}
	return b.String()
}

// enclosedIn is the text before the bracket that closes a reference.
func enclosedIn(s string) string {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	return s
}
