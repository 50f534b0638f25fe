package matrix

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// bodyOf is a text for clients that show none but plain ones.
func bodyOf(text chat.Text) string {
	text = slices.Clone(text)
	for i := range text {
		text[i].Text = plain(text[i].Text)
	}
	return text.Plain()
}

// htmlOf is a text as HTML, of which only the elements of styles and new lines are not
// what the text says.
func htmlOf(text chat.Text) string {
	var b strings.Builder
	for _, piece := range text {
		if piece.Text == "" {
			continue
		}
		words := html.EscapeString(plain(piece.Text))
		lines := strings.ReplaceAll(words, "\n", "<br>")
		switch piece.Style {
		case chat.Strong:
			b.WriteString("<strong>" + lines + "</strong>")
		case chat.Code:
			b.WriteString("<code>" + lines + "</code>")
		case chat.Block:
			// A parser of HTML leaves out the first line's end of a block.
			b.WriteString("<pre><code>\n" + words + "</code></pre>")
		default:
			b.WriteString(lines)
		}
	}
	return b.String()
}

// plain is a text that is UTF-8, and of whose controls only tabs and the ends of lines
// are left: HTML has no others, and databases of homeservers choke on some.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return utf8.RuneError
		}
		return c
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}
