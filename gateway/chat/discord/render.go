package discord

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// fit is a text as Discord's markdown, so long at most. What is too long is cut where the
// text is, not the markdown, and ends in an ellipsis.
func fit(text chat.Text, most int) string {
	if whole := render(beginning(text, 2*most)); chat.Units(whole) <= most && count(text) <= 2*most {
		return whole
	}
	low, high := 0, most // the longest beginning that fits has at least low characters
	for low < high {
		middle := (low + high + 1) / 2
		if chat.Units(render(cutText(text, middle))) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return render(cutText(text, low))
}

// beginning is at most so many characters of a text.
func beginning(text chat.Text, most int) (all chat.Text) {
	for _, p := range text {
		if p.Text = clean(bailiff.Beginning(p.Text, utf8.UTFMax*most)); utf8.RuneCountInString(p.Text) > most {
			p.Text = string([]rune(p.Text)[:most])
		}
		most -= utf8.RuneCountInString(p.Text)
		all = append(all, p)
	}
	return all
}

func count(text chat.Text) (n int) {
	for _, p := range text {
		n += utf8.RuneCountInString(p.Text)
	}
	return n
}

func cutText(text chat.Text, most int) chat.Text {
	return append(beginning(text, most), chat.Piece{Text: "…"})
}

// clean is a text without what moves a cursor or ends in the middle of a character.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, string(utf8.RuneError)), "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\r':
			return '\n'
		case c < ' ' && c != '\n' && c != '\t':
			return c + 0x2400 // its picture
		case c == 0x7f:
			return 0x2421
		}
		return c
	}, text)
}

// render writes each piece so that Discord shows its text and nothing else.
func render(text chat.Text) string {
	var w writer
	for _, p := range joinPieces(text) {
		switch p.Style {
		case chat.Strong:
			w.lines(p.Text, w.strong)
		case chat.Code:
			w.code(p.Text)
		case chat.Block:
			w.block(p.Text)
		default:
			w.plain(p.Text)
		}
	}
	return strings.TrimSpace(w.String())
}

// joinPieces has no two pieces of one style beside each other, whose markup would be read as
// one; but blocks stay apart, and those without letters are none.
func joinPieces(text chat.Text) (all chat.Text) {
	for _, p := range text {
		p.Text = clean(p.Text)
		last := len(all) - 1
		switch {
		case p.Text == "" || p.Style == chat.Block && strings.TrimSpace(p.Text) == "":
		case last >= 0 && all[last].Style == p.Style && p.Style != chat.Block:
			all[last].Text += p.Text
		default:
			all = append(all, p)
		}
	}
	return slices.Clip(all)
}

type writer struct {
	strings.Builder
	// inLine says that the line has more than white space and digits, after which a sign
	// makes no list of it.
	inLine bool
	// blocked says that a block has just ended, whose line nothing else may stand in.
	blocked bool
}

// always are the signs that mean something to Discord wherever they stand: emphasis,
// code, quotes, headings, links, mentions, timestamps and commands.
const always = "\\*_~|`<>#[@"

func (w *writer) plain(text string) {
	w.after(text)
	for i, c := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(c):])
		if w.means(c, next) {
			w.WriteByte('\\')
		}
		w.WriteRune(c)
		w.inLine = !isLineEnd(c) && (w.inLine || !unicode.IsSpace(c) && !unicode.IsDigit(c))
	}
}

// means says that a sign means something where it stands: in a list, a host's name, an
// emoji's name or an address.
func (w *writer) means(c, next rune) bool {
	ends := next == ' ' || next == '\n' || next == '\t'
	switch c {
	case '-', '+':
		return !w.inLine
	case '.':
		return !w.inLine || !ends && next != utf8.RuneError
	case ':':
		return !ends
	}
	return strings.ContainsRune(always, c)
}

func isLineEnd(c rune) bool { return c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029 }

// lines writes each line of a text by itself, without the white space around it.
func (w *writer) lines(text string, write func(string)) {
	for line := range strings.Lines(text) {
		core := strings.TrimSpace(line)
		before, after, _ := strings.Cut(line, core)
		if core == "" {
			before, after = line, ""
		}
		w.plain(before)
		if core != "" {
			write(core)
		}
		w.plain(after)
	}
}

func (w *writer) strong(line string) {
	w.after(line)
	w.WriteString("**")
	w.inLine = true
	w.plain(line)
	w.WriteString("**")
}

// code writes a text in letters of one width, if it is a line without back quotes: there
// is no way to write those that all of Discord's clients read alike.
func (w *writer) code(text string) {
	if strings.ContainsRune(text, '`') {
		w.plain(text)
		return
	}
	w.lines(text, func(line string) {
		w.after(line)
		w.WriteString("`" + line + "`")
		w.inLine = true
	})
}

// apart keeps back quotes from being three in a row, and is not seen.
const apart = "\u200b"

func (w *writer) block(text string) {
	text = strings.Trim(text, "\n")
	if w.Len() > 0 && !strings.HasSuffix(w.String(), "\n") {
		w.WriteByte('\n')
	}
	w.WriteString("```\n" + strings.ReplaceAll(text, "``", "`"+apart+"`") + "\n```")
	w.blocked, w.inLine = true, false
}

// after begins a line after a block.
func (w *writer) after(text string) {
	if w.blocked && text != "" {
		if !strings.HasPrefix(text, "\n") {
			w.WriteByte('\n')
		}
		w.blocked = false
	}
}
