package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// fileRecord is what a setup wrote into one file, so that it can be taken back: byte by byte while the file is as it was left,
// and else key by key.
type fileRecord struct {
	// Agent is the one whose file it is; empty for the sidecar's own.
	Agent string `json:"agent,omitempty"`
	// New says that there was no such file, Folders are those that were made for it, the innermost first.
	New     bool     `json:"new,omitempty"`
	Folders []string `json:"folders,omitempty"`
	// Sum is that of the text as it was left. In it Length bytes from At stand where Before stood.
	Sum    string `json:"sha256,omitempty"`
	At     int    `json:"at,omitempty"`
	Length int    `json:"length,omitempty"`
	Before []byte `json:"before,omitempty"`
	// Edits are the same by keys, inner ones first.
	Edits []edit `json:"edits,omitempty"`
}

// edit is one value that was set where Before was; each is absent where there was, or is, none.
type edit struct {
	Path   []string        `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Order is that of a mapping's keys, where it was changed.
	Order []string `json:"order,omitempty"`
}

// settingsTree is the text of a file of settings, whose values are reached by keys.
type settingsTree interface {
	// keys are those of the mapping at a path, in their order; has is false where no mapping is there.
	keys(path []string) (names []string, has bool)
	// value is the one at a path as JSON; nil if there is none. set writes it, and removes what has none.
	value(path []string) json.RawMessage
	set(path []string, value json.RawMessage) error
	// order puts the keys of a mapping that are named into this order.
	order(path, names []string) error
	text() string
}

// readTree reads a text by what its file is called; nil of other files, and of what cannot be read.
func readTree(path, text string) settingsTree {
	var tree settingsTree
	var err error
	switch filepath.Ext(path) {
	case ".json":
		tree, err = readJSONTree(text)
	case ".yaml", ".yml":
		tree, err = readYAMLTree(text)
	case ".toml":
		tree = readTOMLTree(text)
	}
	if err != nil {
		return nil
	}
	return tree
}

// recordOf is what must be taken back to come from one text of a file to the one before it.
func recordOf(path, before, after string) fileRecord {
	start, end := 0, 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	r := fileRecord{Sum: sumOf(after), At: start, Length: len(after) - end - start, Before: []byte(before[start : len(before)-end])}
	was, is := readTree(path, before), readTree(path, after)
	if was != nil && is != nil {
		r.Edits = editsOf(was, is, nil)
	}
	return r
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// editsOf are the changes of a mapping and of those in it.
func editsOf(was, is settingsTree, path []string) (all []edit) {
	before, _ := was.keys(path)
	after, _ := is.keys(path)
	for _, name := range union(after, before) {
		at := append(slices.Clone(path), name)
		e := edit{Path: at, Before: was.value(at), After: is.value(at)}
		_, hadMapping := was.keys(at)
		_, hasMapping := is.keys(at)
		switch {
		case hasMapping && (hadMapping || e.Before == nil):
			all = append(all, editsOf(was, is, at)...)
			if e.Before == nil {
				all = append(all, edit{Path: at, After: emptyMapping})
			}
		case !isSameJSON(e.Before, e.After):
			all = append(all, e)
		}
	}
	if !slices.Equal(common(before, after), common(after, before)) {
		all = append(all, edit{Path: path, Order: before})
	}
	return all
}

// emptyMapping stands for a mapping that was made, whose values have edits of their own.
var emptyMapping = json.RawMessage("{}")

func union(one, other []string) []string {
	isIn := func(name string) bool { return slices.Contains(one, name) }
	return append(slices.Clone(one), slices.DeleteFunc(slices.Clone(other), isIn)...)
}

func common(one, other []string) []string {
	return slices.DeleteFunc(slices.Clone(one), func(name string) bool { return !slices.Contains(other, name) })
}

// isSameJSON says whether two values say the same; nil is none.
func isSameJSON(one, other json.RawMessage) bool {
	if one == nil || other == nil {
		return one == nil && other == nil
	}
	return reflect.DeepEqual(decoded(one), decoded(other))
}

// decoded is a value whose numbers stay as written.
func decoded(value json.RawMessage) (v any) {
	decoder := json.NewDecoder(strings.NewReader(string(value)))
	decoder.UseNumber()
	_ = decoder.Decode(&v) // of a tree's value, which is JSON
	return v
}

// takeBack is the text of a file without what was written into it. What has another value by now than it was given stays.
func (r fileRecord) takeBack(path, now string) (text string, stay []edit) {
	if sumOf(now) == r.Sum {
		return now[:r.At] + string(r.Before) + now[r.At+r.Length:], nil
	}
	tree := readTree(path, now)
	if tree == nil {
		return now, []edit{{}}
	}
	for _, e := range r.Edits {
		if !e.takeBack(tree) {
			stay = append(stay, e)
		}
	}
	return tree.text(), stay
}

// takeBack undoes one edit; false where its value was changed since.
func (e edit) takeBack(tree settingsTree) bool {
	now := tree.value(e.Path)
	names, isMapping := tree.keys(e.Path)
	switch {
	case e.Order != nil:
		return tree.order(e.Path, e.Order) == nil
	case e.Before == nil && isMapping && isSameJSON(e.After, emptyMapping):
		return len(names) > 0 || tree.set(e.Path, nil) == nil
	case isSameJSON(now, e.After):
		return tree.set(e.Path, e.Before) == nil
	case now == nil: // it was taken away since
		return true
	}
	left, areLists := e.listWithout(now)
	return areLists && tree.set(e.Path, left) == nil
}

// listWithout is a list without the elements that came to it, and with those that went.
func (e edit) listWithout(now json.RawMessage) (left json.RawMessage, areLists bool) {
	is, isList := decoded(now).([]any)
	had, hadList := listIn(e.Before)
	got, gotList := listIn(e.After)
	if !isList || !hadList || !gotList {
		return nil, false
	}
	is = append(elementsBut(is, elementsBut(got, had)), elementsBut(elementsBut(had, got), is)...)
	if len(is) == 0 && e.Before == nil {
		return nil, true
	}
	return JSON(is), true
}

// listIn is a list; of no value an empty one.
func listIn(value json.RawMessage) (elements []any, isList bool) {
	if value == nil {
		return nil, true
	}
	elements, isList = decoded(value).([]any)
	return elements, isList
}

// elementsBut are the elements of a list but for those of another, each as often as it is there.
func elementsBut(all, others []any) (left []any) {
	others = slices.Clone(others)
	for _, element := range all {
		same := func(other any) bool { return reflect.DeepEqual(element, other) }
		if i := slices.IndexFunc(others, same); i >= 0 {
			others = slices.Delete(others, i, i+1)
			continue
		}
		left = append(left, element)
	}
	return left
}
