// Package shellquote quotes words so that a shell reads them back as they were, and
// splits the lines that it has written.
//
// Not here: any other text of a shell, whose meaning package facts finds.
package shellquote

import "strings"

// plain are the characters that mean themselves anywhere in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"

// Quote is a word as the shell reads it back.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return Enclose(word)
}

// Enclose is a word in quotes, whatever it is.
func Enclose(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Join is a command line of these words.
func Join(all ...string) string {
	quoted := make([]string, len(all))
	for i, word := range all {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Split reads a command line of words that are each as [Quote] or [Enclose] writes
// them, with a single space between two; false if it is not of that kind.
func Split(line string) (all []string, ok bool) {
	for {
		word, rest, ok := first(line)
		if !ok {
			return nil, false
		}
		all = append(all, word)
		if rest == "" {
			return all, true
		}
		if line, ok = strings.CutPrefix(rest, " "); !ok {
			return nil, false
		}
	}
}

// first takes the first word of a line.
func first(line string) (word, rest string, ok bool) {
	if !strings.HasPrefix(line, "'") {
		rest = strings.TrimLeft(line, plain)
		word = line[:len(line)-len(rest)]
		return word, rest, word != ""
	}
	var text strings.Builder
	for line = line[1:]; ; {
		part, after, closed := strings.Cut(line, "'")
		text.WriteString(part)
		if !closed {
			return "", "", false
		}
		if line, ok = strings.CutPrefix(after, `\''`); !ok {
			return text.String(), after, true
		}
		text.WriteByte('\'')
	}
}
