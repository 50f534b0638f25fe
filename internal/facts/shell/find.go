package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// find runs the commands of -exec and its like on what it finds.
func (rd *reader) find(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	rd.globs.Star = true // found() writes "**"
	for i := 0; i < len(words); i++ {
		switch words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) && words[end].text != ";" && (words[end].text != "+" || words[end-1].text != "{}") {
				end++
			}
			rd.foreach(name, inv, words[i+1:end], "{}", found(words))
			i = end
		}
	}
	return result{out: named(value.Taint{}, found(words))}, true
}

// found are patterns for what find finds: right in its folders, and anywhere below them.
func found(words []word) []word {
	folders := findFolders(words)
	names, whole := soughtNames(words[len(folders):])
	if len(folders) == 0 {
		folders = []word{known(".")}
	}
	var out []word
	for _, f := range folders {
		for _, p := range whole {
			out = append(out, soughtPath(f, p))
		}
		for _, name := range names {
			out = append(out, joined(f, name))
			if !flat(words) {
				out = append(out, joined(f, "**/"+name))
			}
		}
	}
	return out
}

// soughtPath is what a test of whole paths lets pass below a folder: its stars stand for
// slashes too, which is written "***".
func soughtPath(folder word, pattern string) word {
	text := strings.ReplaceAll(pattern, "*", "***")
	if !strings.HasPrefix(text, "*") {
		return word{text: text, known: true, glob: true}
	}
	return joined(folder, text)
}

// flat says that a search stays in its folders.
func flat(words []word) bool {
	for i, w := range words {
		if w.text == "-maxdepth" && i+1 < len(words) {
			return words[i+1].text == "1" || words[i+1].text == "0"
		}
	}
	return false
}

// soughtNames are the names, and the whole paths, that the tests of a search let pass,
// by its alternatives. An alternative that tests neither lets every name pass.
func soughtNames(tests []word) (names, whole []string) {
	all := alternatives(tests)
	acts := slices.ContainsFunc(all, func(one alternative) bool { return one.acted })
	for _, one := range all {
		switch tells := len(one.names)+len(one.whole) > 0; {
		case !tells:
			names = append(names, "*")
		case !one.pruned || one.acted || !acts: // else its names are left out
			names, whole = append(names, one.names...), append(whole, one.whole...)
		}
	}
	return slices.Compact(names), whole
}

// alternative is what a search does between two "-o": the names and whole paths that it tests
// for, and whether it prunes or acts.
type alternative struct {
	names, whole  []string
	pruned, acted bool
}

func alternatives(tests []word) []alternative {
	all := make([]alternative, 1)
	for i := 0; i < len(tests); i++ {
		if tests[i].text == "-o" || tests[i].text == "-or" || tests[i].text == "," {
			all = append(all, alternative{})
		}
		if i == 0 || tests[i-1].text != "!" && tests[i-1].text != "-not" {
			i = all[len(all)-1].test(tests, i)
		}
	}
	return all
}

// test notes a test or an action, and returns the place of its last word.
func (one *alternative) test(tests []word, i int) int {
	pattern := first(tests[i+1:]).text
	switch tests[i].text {
	case "-name":
		one.names = append(one.names, pattern)
	case "-iname":
		one.names = append(one.names, folded(pattern))
	case "-path", "-wholename", "-ipath", "-iwholename":
		one.whole = append(one.whole, pattern)
	case "-prune":
		one.pruned = true
	case "-print", "-print0", "-printf", "-ls", "-delete":
		one.acted = true
	case "-exec", "-execdir", "-ok", "-okdir":
		one.acted = true
		for i < len(tests) && tests[i].text != ";" && (tests[i].text != "+" || tests[i-1].text != "{}") {
			i++
		}
	}
	return i
}

// folded is a pattern that means its letters' capitals too.
func folded(pattern string) string {
	var b strings.Builder
	for _, c := range pattern {
		low, high := strings.ToLower(string(c)), strings.ToUpper(string(c))
		if low == high || strings.ContainsRune(pattern, '[') {
			b.WriteRune(c)
			continue
		}
		b.WriteString("[" + low + high + "]")
	}
	return b.String()
}

// find reads the folders before its expression, and deletes from them with -delete.
func findEffects(e *effect, _ string) {
	words := e.args.all
	e.fs.globs.Star = true // found() writes "**"
	e.read(findFolders(words)...)
	if e.args.has("-delete") {
		e.write(found(words)...)
		e.lose(found(words)...)
	}
}

// findFolders are the starting points of find.
func findFolders(words []word) []word {
	for len(words) > 0 && (words[0].text == "-L" || words[0].text == "-H" || words[0].text == "-P") {
		words = words[1:]
	}
	for i, w := range words {
		if strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!" {
			return words[:i]
		}
	}
	return words
}
