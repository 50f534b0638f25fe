// Package linesdiff says how two texts differ, line by line.
//
// Promised: lines that went and lines that came stand in their order, also where a line only
// moved or is there once less; what both texts have at the same place is left out.
package linesdiff

import "strings"

// mostCells bounds the table of pairs of lines; texts that need a larger one are shown whole.
const mostCells = 4 << 20

// Text has a line for each line that went ("- ") or came ("+ "), after an indent.
func Text(before, after, indent string) string {
	b, a := split(before), split(after)
	for len(b) > 0 && len(a) > 0 && b[0] == a[0] {
		b, a = b[1:], a[1:]
	}
	for len(b) > 0 && len(a) > 0 && b[len(b)-1] == a[len(a)-1] {
		b, a = b[:len(b)-1], a[:len(a)-1]
	}
	var text strings.Builder
	write := func(sign, line string) { text.WriteString(indent + sign + line + "\n") }
	same := common(b, a)
	i, j := 0, 0
	for i < len(b) || j < len(a) {
		switch {
		case same != nil && i < len(b) && j < len(a) && b[i] == a[j]:
			i, j = i+1, j+1
		case j == len(a) || i < len(b) && (same == nil || same[i+1][j] >= same[i][j+1]):
			write("- ", b[i])
			i++
		default:
			write("+ ", a[j])
			j++
		}
	}
	return text.String()
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// common are the lengths of the longest sequences of lines that two texts share from a line of
// each on; nil where there are too many lines.
func common(b, a []string) [][]int32 {
	if (len(b)+1)*(len(a)+1) > mostCells {
		return nil
	}
	same := make([][]int32, len(b)+1)
	for i := range same {
		same[i] = make([]int32, len(a)+1)
	}
	for i := len(b) - 1; i >= 0; i-- {
		for j := len(a) - 1; j >= 0; j-- {
			if b[i] == a[j] {
				same[i][j] = same[i+1][j+1] + 1
			} else {
				same[i][j] = max(same[i+1][j], same[i][j+1])
			}
		}
	}
	return same
}
