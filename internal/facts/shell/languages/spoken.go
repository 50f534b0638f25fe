package languages

import (
	"path"
	"regexp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// maxSpoken is how many texts are looked at in one text of another language.
const maxSpoken = 32

// ways are how languages that nothing reads spell a text that they may run: as the argument of a call, in the quotes that a shell has
// for commands, behind the name of a pipe.
var ways = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:^|[^\w.])(?:values|like|in|and|or|not)\s*\(`), // no call, in SQL
	regexp.MustCompile(`[\w\])]\s*\(\s*(?:[^()'"\x60]*,|'[^']*'\s*,|"[^"]*"\s*,)*\s*(?:\w+\s*[=:]\s*)?(?:'([^']+)'|"([^"]+)")`),
	regexp.MustCompile(`\(\s*[\w.-]+\s+(?:'([^']+)'|"([^"]+)")\s*\)`),
	regexp.MustCompile("`([^`]+)`"),
	regexp.MustCompile(`%pipe%([^)'"]+)`),
}

// listed are the quoted words of a list, each an argument.
var listed = regexp.MustCompile(`[(\[]\s*((?:(?:"[^"]*"|'[^']*')\s*,\s*)+(?:"[^"]*"|'[^']*'))`)

// quotes finds the texts in quotes, valued what stands behind the name of a setting.
var (
	quotes = regexp.MustCompile(`'([^'\n]+)'|"([^"\n]+)"`)
	valued = regexp.MustCompile(`(?:^|[{,])\s*(?:-\s+)?(?:[\w.-]+\s*[:=]\s*)?([^{},'"]+)`)
)

// Spoken are the texts within a text of a language that nothing reads which it may hand to a shell.
func Spoken(text string) []string {
	if !strings.ContainsAny(text, "'\"`%") {
		return nil
	}
	var out []string
	plain := ways[0].ReplaceAllString(text, " [")
	for _, way := range ways[1:] {
		out = append(out, groups(way, plain)...)
	}
	for _, found := range listed.FindAllStringSubmatch(plain, maxSpoken) {
		out = append(out, strings.Join(groups(quotes, found[1]), " "))
	}
	return bare(out)
}

// SpokenInFile are those within a file. In one of settings, or of a language without calls, each text in quotes and each line may be
// one; prose is for people.
func SpokenInFile(file, text string) []string {
	kind := path.Ext(file)
	if prose[kind] {
		return nil
	}
	out := Spoken(text)
	if calling[kind] {
		return out
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") || len(out) > maxSpoken {
			continue
		}
		out = append(append(out, groups(quotes, line)...), groups(valued, line)...)
	}
	return bare(out)
}

// prose are the endings of texts for people, calling those of languages in which a text does nothing by itself.
var (
	prose   = value.SetOf(".md .txt .rst .adoc .html .csv .log .tex")
	calling = value.SetOf(".py .js .ts .tsx .jsx .go .rs .c .cc .cpp .h .java .rb .php .lua .pl .cs .kt .sql")
)

// groups are the first group of each match that has something.
func groups(by *regexp.Regexp, text string) []string {
	var out []string
	for _, found := range by.FindAllStringSubmatch(text, maxSpoken) {
		for _, group := range found[1:] {
			if group != "" {
				out = append(out, group)
				break
			}
		}
	}
	return out
}

// bare are texts without the sign by which some languages hand the rest to a shell.
func bare(texts []string) []string {
	for i, text := range texts {
		texts[i] = strings.TrimRight(strings.TrimLeft(text, "!|% \t"), "| \t")
	}
	return texts
}
