// Package termsafe makes texts of others safe to show on a terminal or a page: characters
// that move the cursor, change the order of characters or are invisible are written out.
package termsafe

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text in one line. Characters that would move the cursor, change the order of
// characters or be invisible are written out, as in \x1b, \n or \u202e.
func Text(text string) string {
	if all(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case IsVisible(r):
			b.WriteRune(r)
		default:
			b.WriteString(spelt(r))
		}
		text = text[size:]
	}
	return b.String()
}

func all(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") || !IsVisible(r) {
			return false
		}
	}
	return true
}

// brailleBlank is printable, and looks like a space.
const brailleBlank = '\u2800'

// IsVisible says that a character shows itself and changes nothing around it.
func IsVisible(r rune) bool {
	return unicode.IsPrint(r) && r != brailleBlank && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func spelt(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// Lines is a text whose lines and tabs stay, with everything else as in [Text]. A return
// before a line's end is dropped.
func Lines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for j, part := range parts {
			parts[j] = Text(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// JSON writes JSON whose texts name every character that is not seen, as
// JSON can, so that its meaning stays.
type JSON struct{ W io.Writer }

// Write takes whole characters.
func (v JSON) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(p) {
		switch {
		case r == '\n' || IsVisible(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	if _, err := io.WriteString(v.W, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Brief is the beginning of a text in one line of at most so many characters.
func Brief(text string, most int) string {
	const enough = 4 // bytes of a character
	cut := text[:min(len(text), enough*most)]
	shown := []rune(Text(strings.ToValidUTF8(cut, "")))
	if len(cut) == len(text) {
		shown = []rune(Text(text))
	}
	if len(shown) > most || len(cut) < len(text) {
		return string(shown[:min(len(shown), most-1)]) + "…"
	}
	return string(shown)
}
