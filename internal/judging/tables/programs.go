package tables

import "maps"

// traits are what an entry may say of a program in one word.
var traits = []string{"known", "looks", "prints", "supplies", "starts_plainly", "starts_shell", "ignores_arguments", "explains"}

// CheckPrograms lists what is wrong in data.bailiff.programs, decoded as for [Check]. The tables hold the classes, and words are those of
// the policies, as there.
func CheckPrograms(programs, tables any, words map[string]bool) (faults []Fault) {
	entriesOf(family(tables, words))(programs, keys{}, func(at keys, wrong string) { faults = append(faults, Fault{at, wrong}) })
	return faults
}

// family are the entries of one file. Of a grammar the policies read nothing.
func family(tables any, words map[string]bool) shape {
	kind, effects := kindOf(tables, words), entriesOf(list(effectOf(tables, words)))
	return entriesOf(fields(map[string]shape{
		"grammar": grammar, "like": text, "source": text, "classes": list(kind), "traits": list(word(traits...)),
		"verbs": effects, "options": effects, "families": effects, "patterns": effects,
		"harmless": list(text), "leading_options": entriesOf(word("value", "file", "flag")), "launches": list(text), "installs": installs,
		"excuses": list(fields(map[string]shape{"classes": list(kind), "first": list(text), "words": list(text), "needs": text,
			"valued": list(text), "values": entriesOf(text), "unset": list(text), "alone": truth})),
	}))
}

var installs = entriesOf(word("names", "files", "nothing"))

// effectOf is a word of the table of effects, or a class.
func effectOf(tables any, words map[string]bool) shape {
	all := map[string]bool{}
	maps.Copy(all, words)
	for _, name := range effectNames {
		all[name] = true
	}
	return kindOf(tables, all)
}

// grammar is checked by the program that reads it.
var grammar = entries("an object", func(string, any, keys, reporter) {})
