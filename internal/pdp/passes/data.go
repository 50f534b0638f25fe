package passes

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// dataPath is the fixed beginning of a reference to data.
type dataPath []string

func pathOf(ref ast.Ref) (path dataPath) {
	for _, part := range ref[1:] {
		name, fixed := part.Value.(ast.String)
		if !fixed {
			break
		}
		path = append(path, string(name))
	}
	return path
}

// name tells paths apart.
func (p dataPath) name() string { return fmt.Sprintf("%q", []string(p)) }

// isBelow says whether all that is at a path is at or below some of others.
func (p dataPath) isBelow(others []dataPath) bool {
	return slices.ContainsFunc(others, func(other dataPath) bool {
		return len(other) <= len(p) && slices.Equal(other, p[:len(other)])
	})
}

// digest is that of what is at a path: the value, or that there is none.
func (p dataPath) digest(data map[string]any) Key {
	sum := sha256.New()
	writeText(sum, p.name())
	var here any = data
	for _, part := range p {
		object, _ := here.(map[string]any)
		next, ok := object[part]
		if here = next; !ok {
			here = nothing{}
			break
		}
	}
	writeValue(sum, here)
	return Key(sum.Sum(nil))
}

// nothing is in the place of data that are not there.
type nothing struct{}

// writeValue writes a value so that no two values are written alike.
func writeValue(sum hash.Hash, value any) {
	switch v := value.(type) {
	case map[string]any:
		writeText(sum, fmt.Sprintf("object %d", len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			writeText(sum, name)
			writeValue(sum, v[name])
		}
	case []any:
		writeText(sum, fmt.Sprintf("array %d", len(v)))
		for _, element := range v {
			writeValue(sum, element)
		}
	case string:
		writeText(sum, "string")
		writeText(sum, v)
	case json.Number:
		writeText(sum, "number")
		writeText(sum, v.String())
	default:
		writeText(sum, fmt.Sprintf("%T %v", v, v))
	}
}
