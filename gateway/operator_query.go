package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/api"
)

// fields are what a query may hold, by name: each reads its value, or says what
// it wants.
type fields map[string]func(value string) (wants string)

// readQuery reads a request's query strictly.
func readQuery(r *http.Request, known fields) *api.Problem {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refusalProblem(codeRequest, []api.Fault{{At: "", Message: "its query cannot be read: " + err.Error()}})
	}
	var faults []api.Fault
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if fault := known.read(name, given[name]); fault != "" {
			faults = append(faults, api.Fault{At: "?" + cut(name), Message: fault})
		}
	}
	if len(faults) > 0 {
		return refusalProblem(codeRequest, faults)
	}
	return nil
}

func (f fields) read(name string, values []string) string {
	read, known := f[name]
	switch {
	case !known:
		return "nothing is named so here, want one of " + strings.Join(slices.Sorted(maps.Keys(f)), ", ")
	case len(values) > 1:
		return "is given twice"
	case values[0] == "":
		return ""
	}
	if wants := read(values[0]); wants != "" {
		return fmt.Sprintf("want %s, is %q", wants, cut(values[0]))
	}
	return ""
}

func text(into *string) func(string) string {
	return func(value string) string {
		if len(value) > 1024 || !utf8.ValidString(value) {
			return "at most 1,024 bytes of UTF-8"
		}
		*into = value
		return ""
	}
}

// cursor reads where an earlier page ended.
func cursor(into *string) func(string) string {
	return func(value string) string {
		if _, err := strconv.ParseUint(value, 10, 64); err != nil {
			return "what an earlier answer gave as next"
		}
		*into = value
		return ""
	}
}

func number(into *int, least, most int) func(string) string {
	return func(value string) string {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Sprintf("a number from %d to %d", least, most)
		}
		*into = n
		return ""
	}
}

func oneOf[T ~string](into *T, values ...T) func(string) string {
	return func(value string) string {
		if !slices.Contains(values, T(value)) {
			names := make([]string, len(values))
			for i, v := range values {
				names[i] = string(v)
			}
			return "one of " + strings.Join(names, ", ")
		}
		*into = T(value)
		return ""
	}
}
