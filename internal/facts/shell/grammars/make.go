package grammars

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/programs"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// makefiles notes the files that make looks for, where no option names one.
func (rd *Reader) makefiles(_ string, inv *call.Invocation, args *call.Arguments) {
	sc := inv.Scope
	if dir, ok := args.Value("-C", "--directory"); ok {
		sc = rd.ScopeIn(dir, sc)
	}
	var names []word.Word
	for _, o := range args.Options {
		if o.Name == "-f" || o.Name == "--file" || o.Name == "--makefile" {
			names = append(names, o.Value)
		}
	}
	if len(names) == 0 {
		rd.RunAny(sc, "GNUmakefile", "makefile", "Makefile")
		names = []word.Word{word.Of("GNUmakefile"), word.Of("makefile"), word.Of("Makefile")}
	}
	for _, w := range slices.Concat(rd.makefilesBefore(inv.Scope), names) {
		s, ok := rd.Content(w, inv.In, inv.Scope, sc)
		p := rd.Path(w, sc)
		if !ok || slices.Contains(rd.Projects, p) || len(rd.Projects) > maxIncluded { // "make" in a recipe reads the same file
			continue
		}
		rd.Projects = append(rd.Projects, p)
		inside := *inv
		inside.Scope = sc
		rd.ReadIn(s, func() {
			for _, code := range rd.Programs(s) {
				rd.recipes(&inside, args, code)
			}
		})
		rd.Projects = rd.Projects[:len(rd.Projects)-1]
	}
}

// makefilesBefore are those that a variable has make read before the others.
func (rd *Reader) makefilesBefore(sc *state.Scope) (names []word.Word) {
	v, set := rd.Value("MAKEFILES", sc)
	if !set || !v.Known {
		return nil
	}
	for _, name := range strings.Fields(v.Text) {
		rd.RunFile(word.Part(v, name), sc)
		names = append(names, word.Part(v, name))
	}
	return names
}

// recipes reads the commands of a makefile that the text holds.
func (rd *Reader) recipes(inv *call.Invocation, args *call.Arguments, makefile word.Word) {
	if !makefile.Known {
		return
	}
	text := rd.withIncludes(inv, strings.ReplaceAll(makefile.Text, "\\\n", " "), 0)
	joined := makeVariables(text, false)
	rd.recipesWith(inv, args, makefile, text, joined)
	if last := makeVariables(text, true); !maps.Equal(joined, last) {
		rd.recipesWith(inv, args, makefile, text, last)
	}
}

// recipesWith reads the commands of a makefile with these values of its variables.
func (rd *Reader) recipesWith(inv *call.Invocation, args *call.Arguments, makefile word.Word, text string, vars map[string]string) {
	if !rd.Spend(1 + len(text)/64) {
		return
	}
	var goals []string
	for _, w := range args.Operands {
		if name, value, ok := strings.Cut(w.Text, "="); ok {
			vars[name] = value
		} else {
			goals = append(goals, w.Text)
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
				rd.Text("make", inv, word.Part(makefile, byShell(rd.expandMake(vars["SHELL"], vars, 0), command)), inv.Scope.Fork())
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

// withIncludes is a makefile with the text of those that it includes by literal names, where they
// are known. They belong to what runs.
func (rd *Reader) withIncludes(inv *call.Invocation, text string, depth int) string {
	if depth >= maxIncluded || !strings.Contains(text, "include ") {
		return text
	}
	for _, found := range makeIncludes.FindAllStringSubmatch(text, word.MaxItems) {
		for _, name := range strings.Fields(found[1]) {
			w := word.Of(name)
			if strings.ContainsAny(name, "$%") || !rd.Spend(1) {
				continue
			}
			if strings.ContainsAny(name, "*?[") {
				rd.Gather([]string{name}, word.Of("."), inv.Scope, func(_ string, s word.Stream) { text += "\n" + s.Text })
				continue
			}
			if s, ok := rd.Program(rd.Path(w, inv.Scope), rd.FileAt(w, inv.Scope)); ok && !s.Known {
				rd.ReadIn(s, rd.Hide)
			} else if ok && len(text)+len(s.Text) <= word.MaxValue {
				text += "\n" + rd.withIncludes(inv, strings.ReplaceAll(s.Text, "\\\n", " "), depth+1)
			}
			rd.RunAny(inv.Scope, name)
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
func (rd *Reader) rulesOf(inv *call.Invocation, makefile word.Word, text string, vars map[string]string) []rule {
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
		if strings.TrimSpace(command) != "" && len(rules) > 0 && rd.Spend(1) {
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
		if len(value) <= word.MaxRewrite {
			vars[found[1]] = value
		}
	}
	return vars
}

// shellOf reads the commands that a line of a makefile has run while it is expanded.
func (rd *Reader) shellOf(inv *call.Invocation, makefile word.Word, line string, vars map[string]string) {
	for _, start := range []string{"$(shell ", "${shell "} {
		for rest := line; ; {
			_, after, ok := strings.Cut(rest, start)
			if !ok || !rd.Spend(1) {
				break
			}
			rd.Text("make", inv, word.Part(makefile, rd.expandMake(enclosedIn(after), vars, 0)), inv.Scope.Fork())
			rest = after
		}
	}
	if name, command, ok := strings.Cut(line, "!="); ok && makeName.MatchString(strings.TrimSpace(name)) {
		rd.Text("make", inv, word.Part(makefile, rd.expandMake(command, vars, 0)), inv.Scope.Fork())
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
func (rd *Reader) expandMake(text string, vars map[string]string, depth int) string {
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
		if !ok || depth > 4 || b.Len() > word.MaxValue/4 || !rd.Spend(1+len(value)/64) {
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
