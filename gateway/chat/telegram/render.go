package telegram

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot/models"
)

const (
	// longestText is how much a message may hold, in units of UTF-16.
	longestText = 4096
	// mostEntities is how many Telegram heeds.
	mostEntities = 100
	// joiner is a word joiner, which is invisible, and which ends whatever Telegram would
	// make a link of.
	joiner = '\u2060'
)

var entityOf = map[chat.Style]models.MessageEntityType{
	chat.Strong: models.MessageEntityTypeBold, chat.Code: models.MessageEntityTypeCode, chat.Block: models.MessageEntityTypePre,
}

// render makes of a text what is sent. One that is too long is cut.
func render(text chat.Text) (string, []models.MessageEntity) {
	p := pieces(text)
	if len(p) == 0 {
		return "…", nil
	}
	whole := writing{most: longestText}
	if whole.write(p) {
		return whole.out.String(), whole.entities
	}
	cut := writing{most: longestText - 2} // a new line and the sign of the cut
	cut.write(p)
	if n := len(cut.entities); n > 0 && cut.entities[n-1].Type == models.MessageEntityTypePre {
		cut.out.WriteByte('\n')
	}
	return cut.out.String() + "…", cut.entities
}

// pieces are those of a text that hold something, with each block in lines of its own;
// none if nothing would be seen.
func pieces(text chat.Text) chat.Text {
	var all chat.Text
	seen, last, after := false, '\n', false
	for _, piece := range text {
		piece.Text = clean(piece.Text)
		if piece.Text == "" {
			continue
		}
		if block := piece.Style == chat.Block; last != '\n' && block || after && !strings.HasPrefix(piece.Text, "\n") {
			all = append(all, chat.Piece{Text: "\n"})
		}
		all = append(all, piece)
		seen = seen || strings.TrimSpace(piece.Text) != ""
		r := []rune(piece.Text)
		last = r[len(r)-1]
		after = piece.Style == chat.Block && last != '\n'
	}
	if !seen {
		return nil
	}
	return all
}

// clean takes out of a text what Telegram would, so that the places of entities stay
// where they are.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n':
			return c
		case c == '\r', c >= '\u2028' && c <= '\u202e', c == '\u0333', c == '\u033f', c == '\u030a':
			return -1
		case c < ' ':
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// writing is a text that is being put together.
type writing struct {
	most, units int
	out         strings.Builder
	entities    []models.MessageEntity
}

// write says whether all of it fitted.
func (w *writing) write(all chat.Text) (whole bool) {
	var before rune = ' '
	for i, piece := range all {
		kind := entityOf[piece.Style]
		if len(w.entities) == mostEntities {
			kind = "" // it would not be heeded, so what it holds is not kept as it is
		}
		begin, runes := w.units, []rune(piece.Text)
		whole = true
		for j, c := range runes {
			exact := kind == models.MessageEntityTypeCode || kind == models.MessageEntityTypePre
			if whole = w.put(c, !exact && begins(c, before, follows(all, i, runes, j))); !whole {
				break
			}
			before = c
		}
		if kind != "" && w.units > begin {
			w.entities = append(w.entities, models.MessageEntity{Type: kind, Offset: begin, Length: w.units - begin})
		}
		if !whole {
			return false
		}
	}
	return true
}

// put writes a character, and says whether there was room.
func (w *writing) put(c rune, joined bool) bool {
	room := utf16.RuneLen(c)
	if joined {
		room++
	}
	if w.units+room > w.most {
		return false
	}
	w.units += room
	w.out.WriteRune(c)
	if joined {
		w.out.WriteRune(joiner)
	}
	return true
}

// follows is the character behind one; a space at the end.
func follows(all chat.Text, piece int, runes []rune, at int) rune {
	if at+1 < len(runes) {
		return runes[at+1]
	}
	if piece+1 < len(all) {
		return []rune(all[piece+1].Text)[0]
	}
	return ' '
}

// begins says whether a character could begin, or hold together, what Telegram makes a
// link of: @names, #tags, $TAGS, /commands, +numbers, addresses with a dot or a scheme.
// It is rather asked once too often.
func begins(c, before, next rune) bool {
	switch c {
	case '@', '#', '$', '+':
		return inWord(next)
	case '/':
		return inWord(next) && (unicode.IsMark(before) || !inWord(before) && !strings.ContainsRune("/<>", before))
	case '.':
		return !unicode.IsSpace(before) && !unicode.IsSpace(next) && !strings.ContainsRune(`.,;:!?()[]{}<>"'`, next)
	case ':':
		return next == '/'
	}
	return false
}

func inWord(c rune) bool {
	return c == '_' || unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c)
}
