package shell

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// find runs the commands of -exec and its like on what it finds.
func (a *analysis) find(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	a.globs.Star = true // in what is found
	for i := 0; i < len(words); i++ {
		switch words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) && words[end].text != ";" && (words[end].text != "+" || words[end-1].text != "{}") {
				end++
			}
			a.foreach(name, inv, words[i+1:end], "{}", found(words))
			i = end
		}
	}
	return result{out: named(value.Taint{}, found(words))}, true
}

// found are patterns for what find finds: right in its folders, and anywhere below them.
func found(words []word) []word {
	folders := findFolders(words)
	if len(folders) == 0 {
		folders = []word{known(".")}
	}
	tests, whole := soughtNames(words[min(len(findFolders(words)), len(words)):])
	var out []word
	for _, f := range folders {
		for _, p := range whole {
			out = append(out, soughtPath(f, p))
		}
		for _, name := range tests {
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
	var told, pruned, acted bool
	var start, from int
	end := func() {
		switch {
		case pruned && !acted && told && actsElsewhere(tests):
			names, whole = names[:start], whole[:from]
		case !told:
			names = append(names, "*")
		}
		told, pruned, acted, start, from = false, false, false, len(names), len(whole)
	}
	for i := 0; i < len(tests); i++ {
		if tests[i].text == "-o" || tests[i].text == "-or" || tests[i].text == "," {
			end()
		}
		if i+1 == len(tests) || i > 0 && (tests[i-1].text == "!" || tests[i-1].text == "-not") {
			continue
		}
		to := tests[i+1]
		switch tests[i].text {
		case "-name":
			names, told = append(names, to.text), true
		case "-iname":
			names, told = append(names, folded(to.text)), true
		case "-path", "-wholename", "-ipath", "-iwholename":
			whole, told = append(whole, to.text), true
		case "-prune":
			pruned = true
		case "-print", "-print0", "-printf", "-ls", "-delete":
			acted = true
		case "-exec", "-execdir", "-ok", "-okdir":
			acted = true
			for i < len(tests) && tests[i].text != ";" && (tests[i].text != "+" || tests[i-1].text != "{}") {
				i++
			}
		}
	}
	end()
	return slices.Compact(names), whole
}

// actsElsewhere says that a search says itself what it does with names: those that an
// alternative only prunes are then left out.
func actsElsewhere(tests []word) bool {
	return slices.ContainsFunc(tests, func(w word) bool {
		return strings.HasPrefix(w.text, "-print") || strings.HasPrefix(w.text, "-exec") || strings.HasPrefix(w.text, "-ok") ||
			w.text == "-delete" || w.text == "-ls"
	})
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
func (e *effect) find(_ string) {
	words := e.args.all
	e.a.globs.Star = true // in what is found
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
