package shell

import "strings"

// find runs the commands of -exec and its like on what it finds.
func (a *analysis) find(name string, inv *invocation, _ *arguments) (result, bool) {
	words := inv.argv[1:]
	for i := 0; i < len(words); i++ {
		switch words[i].text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) && words[end].text != ";" && (words[end].text != "+" || words[end-1].text != "{}") {
				end++
			}
			in := *inv
			a.inner(name, &in, substitute(words[i+1:end], "{}", found(words)))
			i = end
		}
	}
	return result{out: stream{present: true, items: found(words)}}, true
}

// found are patterns for what find finds.
func found(words []word) []word {
	folders := findFolders(words)
	if len(folders) == 0 {
		folders = []word{known(".")}
	}
	pattern := "*"
	for i, w := range words[:max(len(words)-1, 0)] {
		if w.text == "-name" || w.text == "-iname" {
			pattern = words[i+1].text
		}
	}
	out := make([]word, len(folders))
	for i, f := range folders {
		out[i] = word{text: strings.TrimSuffix(f.text, "/") + "/" + pattern, known: f.known, glob: true}
	}
	return out
}

// find reads the folders before its expression, and deletes from them with -delete.
func (e *effect) find(_ string) {
	words := e.args.all
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
