package config

import (
	"fmt"
	"slices"
	"strings"
)

// Faults are all that is wrong with one configuration.
type Faults []Fault

// Fault is one thing that is wrong.
type Fault struct {
	File string
	Line int
	// Key is the path of the value, such as "agent.listeners[0].listen"; empty
	// where the text is not YAML.
	Key     string
	Message string
}

// Error writes one fault a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Error writes file, line, key and message.
func (f Fault) Error() string {
	if f.Key == "" {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Key, f.Message)
}

// unknown says that a word is none of the valid ones, and which was likely meant.
func unknown(kind, word string, valid []string) string {
	slices.Sort(valid)
	best, least := "", len(word)/2+2
	for _, v := range valid {
		if d := distance(word, v); d < least {
			best, least = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("unknown %s, nearest valid %s is %q", kind, kind, best)
	}
	return fmt.Sprintf("unknown %s, valid are %s", kind, strings.Join(valid, ", "))
}

// distance counts the letters to insert, drop or replace between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
