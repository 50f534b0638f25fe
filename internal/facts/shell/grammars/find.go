package grammars

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/effects"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// find runs the commands of -exec and its like on what it finds.
func (rd *Reader) find(name string, inv *call.Invocation, _ *call.Arguments) (call.Result, bool) {
	words := inv.Argv[1:]
	rd.Globs.Star = true // found() writes "**"
	for i := 0; i < len(words); i++ {
		switch words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) && words[end].Text != ";" && (words[end].Text != "+" || words[end-1].Text != "{}") {
				end++
			}
			rd.foreach(name, inv, words[i+1:end], "{}", findPatterns(words))
			i = end
		}
	}
	return call.Result{Out: word.Listing(value.Taint{}, findPatterns(words))}, true
}

// findPatterns are patterns for what find finds: right in its folders, and anywhere below them.
func findPatterns(words []word.Word) []word.Word {
	folders := findFolders(words)
	names, whole := nameTests(words[len(folders):])
	if len(folders) == 0 {
		folders = []word.Word{word.Of(".")}
	}
	var out []word.Word
	for _, f := range folders {
		for _, p := range whole {
			out = append(out, wholePath(f, p))
		}
		for _, name := range names {
			out = append(out, word.Below(f, name))
			if !flat(words) {
				out = append(out, word.Below(f, "**/"+name))
			}
		}
	}
	return out
}

// wholePath is what a test of whole paths lets pass below a folder: its stars stand for
// slashes too, which is written "***".
func wholePath(folder word.Word, pattern string) word.Word {
	text := strings.ReplaceAll(pattern, "*", "***")
	if !strings.HasPrefix(text, "*") {
		return word.Word{Text: text, Known: true, Glob: true}
	}
	return word.Below(folder, text)
}

// flat says that a search stays in its folders.
func flat(words []word.Word) bool {
	for i, w := range words {
		if w.Text == "-maxdepth" && i+1 < len(words) {
			return words[i+1].Text == "1" || words[i+1].Text == "0"
		}
	}
	return false
}

// nameTests are the names, and the whole paths, that the tests of a search let pass,
// by its alternatives. An alternative that tests neither lets every name pass.
func nameTests(tests []word.Word) (names, whole []string) {
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

func alternatives(tests []word.Word) []alternative {
	all := make([]alternative, 1)
	for i := 0; i < len(tests); i++ {
		if tests[i].Text == "-o" || tests[i].Text == "-or" || tests[i].Text == "," {
			all = append(all, alternative{})
		}
		if i == 0 || tests[i-1].Text != "!" && tests[i-1].Text != "-not" {
			i = all[len(all)-1].test(tests, i)
		}
	}
	return all
}

// test notes a test or an action, and returns the place of its last word.
func (one *alternative) test(tests []word.Word, i int) int {
	pattern := word.First(tests[i+1:]).Text
	switch tests[i].Text {
	case "-name":
		one.names = append(one.names, pattern)
	case "-iname":
		one.names = append(one.names, caseFold(pattern))
	case "-path", "-wholename", "-ipath", "-iwholename":
		one.whole = append(one.whole, pattern)
	case "-prune":
		one.pruned = true
	case "-print", "-print0", "-printf", "-ls", "-delete":
		one.acted = true
	case "-exec", "-execdir", "-ok", "-okdir":
		one.acted = true
		for i < len(tests) && tests[i].Text != ";" && (tests[i].Text != "+" || tests[i-1].Text != "{}") {
			i++
		}
	}
	return i
}

// caseFold is a pattern that means its letters' capitals too.
func caseFold(pattern string) string {
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

// findEffects: find reads the folders before its expression, and deletes from them with -delete.
func findEffects(e *effects.Collector, _ string) {
	words := e.Args.All
	e.FS.Globs.Star = true // found() writes "**"
	e.Read(findFolders(words)...)
	if e.Args.Has("-delete") {
		e.Write(findPatterns(words)...)
		e.Lose(findPatterns(words)...)
	}
}

// findFolders are the starting points of find.
func findFolders(words []word.Word) []word.Word {
	for len(words) > 0 && (words[0].Text == "-L" || words[0].Text == "-H" || words[0].Text == "-P") {
		words = words[1:]
	}
	for i, w := range words {
		if strings.HasPrefix(w.Text, "-") || w.Text == "(" || w.Text == "!" {
			return words[:i]
		}
	}
	return words
}
