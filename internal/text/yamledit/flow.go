package yamledit

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Flow writes a value on one line.
func Flow(value any) string {
	switch v := value.(type) {
	case map[string]any:
		entries := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			entries = append(entries, Flow(key)+": "+Flow(v[key]))
		}
		return "{" + strings.Join(entries, ", ") + "}"
	case []any:
		elements := make([]string, len(v))
		for i, element := range v {
			elements[i] = Flow(element)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case string:
		if word.MatchString(v) && !slices.Contains(notWords, strings.ToLower(v)) {
			return v
		}
		return strconv.Quote(v) // which is YAML too, and leaves no character in it that YAML has not
	}
	written, err := json.Marshal(value) // which is YAML too
	if err != nil {
		panic(err) // texts and numbers can be written
	}
	return string(written)
}

// word is a text that needs no quotation marks, unless it is one of notWords in small
// or capital letters.
var (
	word     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	notWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// List is a list of texts as a value.
func List(texts []string) []any {
	elements := make([]any, len(texts))
	for i, text := range texts {
		elements[i] = text
	}
	return elements
}
