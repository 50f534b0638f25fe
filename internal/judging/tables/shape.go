package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// shape tells what is wrong with a value.
type shape func(value any, at keys, tell reporter)

type reporter func(at keys, wrong string)

// keys lead from the root of the tables to a value.
type keys []string

func (k keys) below(name string) keys { return append(slices.Clip(k), name) }

// fields is an object with keys that are known.
func fields(known map[string]shape) shape { return oneOfThe("key", "an object", known) }

func toolsTo(each shape) shape {
	return oneOfThe("tool", "an object with a value for each tool", same(toolNames, each))
}

func argumentsTo(each shape) shape {
	return oneOfThe("argument", "an object with the name of a field for each argument", same(argumentNames, each))
}

func same(names []string, each shape) map[string]shape {
	known := map[string]shape{}
	for _, name := range names {
		known[name] = each
	}
	return known
}

func oneOfThe(kind, want string, known map[string]shape) shape {
	read := entries(want, func(name string, value any, at keys, tell reporter) {
		if is, ok := known[name]; ok {
			is(value, at, tell)
			return
		}
		tell(at, spelling.Unknown(kind, name, slices.Collect(maps.Keys(known))))
	})
	return func(value any, at keys, tell reporter) {
		if !describe(value, func(s *jsonschema.Schema) { describeFields(s, known) }) {
			read(value, at, tell)
		}
	}
}

// entriesOf is an object with names that only its writer knows.
func entriesOf(each shape) shape {
	return entries("an object", func(_ string, value any, at keys, tell reporter) { each(value, at, tell) })
}

func entries(want string, each func(name string, value any, at keys, tell reporter)) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, func(s *jsonschema.Schema) { describeEntries(s, each) }) {
			return
		}
		members, ok := value.(map[string]any)
		if !ok {
			tell(at, wrongType(value, want))
		}
		for name, value := range members {
			each(name, value, at.below(name), tell)
		}
	}
}

// callable says what scripts may call. Commands are judged one by one, so that
// there is nothing to ask of all.
var callable = entries("an object", func(name string, value any, at keys, tell reporter) {
	switch {
	case name == string(bailiff.Terminal):
		word("allow", "deny")(value, at, tell)
	case !bailiff.IsCallable(name):
		tell(at, "no script may call a tool of that name: want a to z, 0 to 9 and _, and none of bailiff's own but terminal")
	default:
		verdict(value, at, tell)
	}
})

func list(each shape) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, func(s *jsonschema.Schema) { describeList(s, each) }) {
			return
		}
		elements, ok := value.([]any)
		if !ok {
			tell(at, wrongType(value, "a list"))
		}
		for i, element := range elements {
			each(element, at.below(strconv.Itoa(i)), tell)
		}
	}
}

func word(valid ...string) shape {
	return func(value any, at keys, tell reporter) {
		if describe(value, func(s *jsonschema.Schema) { describeWords(s, valid) }) {
			return
		}
		said, ok := value.(string)
		switch {
		case !ok:
			tell(at, wrongType(value, "one of "+strings.Join(valid, ", ")))
		case !slices.Contains(valid, said):
			tell(at, fmt.Sprintf("%q: %s", said, spelling.Unknown("word", said, valid)))
		}
	}
}

// kindOf is a word of the policies, or the name of a class in the tables.
func kindOf(all any, words map[string]bool) shape {
	whole, _ := all.(map[string]any)
	classes, _ := whole["classes"].(map[string]any)
	return func(value any, at keys, tell reporter) {
		if describe(value, describeText("")) {
			return
		}
		said, ok := value.(string)
		switch {
		case !ok:
			tell(at, wrongType(value, "a kind"))
		case classes[said] == nil && !words[said]:
			tell(at, fmt.Sprintf("%q: %s", said, spelling.Unknown("kind", said, slices.Collect(maps.Keys(classes)))))
		}
	}
}

// ruleTo is an object with a value for each rule. A team's own rules may have any name,
// but one that is a letter or two away from a known rule means that.
func ruleTo(each shape, all any, words map[string]bool) shape {
	known := map[string]bool{}
	for _, class := range object(all, "classes") {
		if rule, ok := object(class)["rule"].(string); ok {
			known[rule] = true
		}
	}
	for word := range words {
		known[word] = known[word] || isRule.MatchString(word)
	}
	names := slices.Sorted(maps.Keys(known))
	return entries("an object with a value for each rule", func(name string, value any, at keys, tell reporter) {
		if !known[name] {
			if meant := spelling.Nearest(name, names, 2); meant != "" {
				tell(at, fmt.Sprintf("unknown rule, nearest known rule is %q", meant))
			}
		}
		each(value, at, tell)
	})
}

// isRule tells names of rules, as in command.mounts, from other words.
var isRule = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)

func text(value any, at keys, tell reporter) {
	if describe(value, describeText("")) {
		return
	}
	if _, ok := value.(string); !ok {
		tell(at, wrongType(value, "text"))
	}
}

func truth(value any, at keys, tell reporter) {
	if describe(value, func(s *jsonschema.Schema) { s.Type = "boolean" }) {
		return
	}
	if _, ok := value.(bool); !ok {
		tell(at, wrongType(value, "true or false"))
	}
}

func count(value any, at keys, tell reporter) {
	if describe(value, describeNumber("integer", 1, math.MaxInt32)) {
		return
	}
	number, _ := value.(json.Number)
	if n, err := strconv.ParseFloat(string(number), 64); err != nil || n != math.Trunc(n) || n < 1 || n > math.MaxInt32 {
		tell(at, wrongType(value, fmt.Sprintf("a whole number from 1 to %d", math.MaxInt32)))
	}
}

// maxCPUs is more than any machine has.
const maxCPUs = 4096

func amount(value any, at keys, tell reporter) {
	if describe(value, describeNumber("number", 0, maxCPUs)) {
		return
	}
	number, _ := value.(json.Number)
	if n, err := number.Float64(); err != nil || !(n > 0 && n <= maxCPUs) {
		tell(at, wrongType(value, fmt.Sprintf("a number above 0, and %d at most", maxCPUs)))
	}
}

func wrongType(value any, want string) string {
	switch value.(type) {
	case map[string]any:
		return "is an object, want " + want
	case []any:
		return "is a list, want " + want
	}
	written, _ := json.Marshal(value)
	return "is " + string(written) + ", want " + want
}

// places are names of files and folders below a mount, each with its source, or with whether it counts.
var places = entries("an object", func(name string, value any, at keys, tell reporter) {
	place(name, at, tell)
	if describe(value, func(s *jsonschema.Schema) { s.Type, s.Types = "", []string{"boolean", "string"} }) {
		return
	}
	switch said := value.(type) {
	case bool:
	case string:
		if said == "" {
			tell(at, "is empty, want where it is written that a program starts by the file, or true or false")
		}
	default:
		tell(at, wrongType(value, "true, false or where it is written that a program starts by the file"))
	}
})

func place(value any, at keys, tell reporter) {
	if describe(value, describeText("")) {
		return
	}
	if name, ok := value.(string); !ok || !bailiff.IsProtectable(name) {
		tell(at, wrongType(value, "a path below the mount, such as .envrc, .claude/ or **/.npmrc"))
	}
}
