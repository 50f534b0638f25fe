package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible is a text that somebody else wrote as a terminal may get it: whatever
// would move the cursor, change the order of characters or not be seen is
// written out, as in \x1b, \n or \u202e.
func visible(text string) string {
	if isVisible(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case isSeen(r):
			b.WriteRune(r)
		default:
			b.WriteString(spelt(r))
		}
		text = text[size:]
	}
	return b.String()
}

func isVisible(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") || !isSeen(r) {
			return false
		}
	}
	return true
}

// brailleBlank is printable, and looks like a space.
const brailleBlank = '\u2800'

// isSeen says that a character shows itself and changes nothing around it.
func isSeen(r rune) bool {
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

// visibleJSON writes JSON whose texts name every character that is not seen, as
// JSON can, so that its meaning stays.
type visibleJSON struct{ w io.Writer }

// Write takes whole characters.
func (v visibleJSON) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(p) {
		switch {
		case r == '\n' || isSeen(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := (r-0x10000)>>10+0xD800, (r-0x10000)&0x3FF+0xDC00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	if _, err := io.WriteString(v.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// brief is the beginning of a text in one line of at most so many characters.
func brief(text string, most int) string {
	const enough = 4 // bytes of a character
	cut := text[:min(len(text), enough*most)]
	shown := []rune(visible(strings.ToValidUTF8(cut, "")))
	if len(cut) == len(text) {
		shown = []rune(visible(text))
	}
	if len(shown) > most || len(cut) < len(text) {
		return string(shown[:min(len(shown), most-1)]) + "…"
	}
	return string(shown)
}

// How many characters of a text's two ends are shown, where it is longer.
const shownHead, shownTail = 70, 30

// bothEnds quotes a text, or its ends with how much is between them.
func bothEnds(text string) string {
	all := []rune(text)
	between := len(all) - shownHead - shownTail
	if between <= 0 {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q … %s left out … %q", string(all[:shownHead]), amount(int64(between), "character"), string(all[len(all)-shownTail:]))
}
