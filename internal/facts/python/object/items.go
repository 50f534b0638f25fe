package object

import (
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ListItem is an item of a list by its number; negative numbers count from the end.
func ListItem(b Object, i int64) Objects {
	if b.Shape == IsString {
		if !Literal(b.Text) {
			return Hidden("value", b.Taint)
		}
		letters := []rune(b.Text)
		if i < 0 {
			i += int64(len(letters))
		}
		if i >= 0 && i < int64(len(letters)) {
			return TextOf(string(letters[i]))
		}
		return nil
	}
	if i < 0 {
		i += int64(len(b.Items))
	}
	if b.Open || i < 0 || i >= int64(len(b.Items)) {
		return Elements(Objects{b}, "value").With(Hidden("value", b.AllTaint()))
	}
	return b.Items[i]
}

// DictItem is what a dictionary has under any of the keys.
func DictItem(b Object, keys Objects) Objects {
	var out Objects
	key, exact := keys.Only()
	found := false
	for i := 0; i+1 < len(b.Items); i += 2 {
		name, plain := b.Items[i].Only()
		if exact && plain && name != key {
			continue
		}
		found = found || exact && plain
		out = out.With(b.Items[i+1])
	}
	if b.Open || !found {
		out = out.With(Hidden("value", b.AllTaint()))
	}
	return out
}

// CutOut is list[from:to:step].
func CutOut[T any](list []T, bounds [3]int64, backwards bool) []T {
	n := int64(len(list))
	from, to := bounds[0], bounds[1]
	if from < 0 {
		from = max(0, from+n)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n)
	var out []T
	if backwards {
		for i := n - 1; i >= 0; i-- {
			out = append(out, list[i])
		}
		return out
	}
	for i := from; i < to; i += bounds[2] {
		out = append(out, list[i])
		if bounds[2] > n {
			break
		}
	}
	return out
}

// Spread is every list with every one of vs at its end.
func Spread(lists, vs Objects) Objects {
	if len(vs) == 0 {
		return lists
	}
	return EachPair(lists, vs, func(list, v Object) Object {
		if list.Shape != IsList {
			return list
		}
		return list.Extended(Objects{v})
	})
}

// NumberOf is the number that digits spell.
func NumberOf(digits string) Objects {
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 0, 64)
	if err != nil {
		return Hidden("number", value.Taint{})
	}
	return Objects{{Shape: IsInt, Number: n}}
}
