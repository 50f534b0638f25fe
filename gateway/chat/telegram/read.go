package telegram

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// commands are those that the bot has, see package chat.
var commands = func() (all []models.BotCommand) {
	for _, c := range chat.Commands {
		all = append(all, models.BotCommand{Command: c.Name, Description: c.Description})
	}
	return all
}()

// start is the command that a person's client sends to a bot that it sees for the first
// time.
const start = "/start"

// reading is a text that a person wrote, and what of it is meant for the bot.
type reading struct {
	text      string
	mentioned bool
	// elsewhere says that it is another bot's command.
	elsewhere bool
}

// read takes the bot's name out of a text, and puts back the signs around its blocks
// that a client takes away. Entities that cannot be are passed over.
func read(text string, entities []models.MessageEntity, me *models.User) reading {
	r := reader{units: utf16.Encode([]rune(text)), me: me}
	entities = slices.Clone(entities)
	slices.SortStableFunc(entities, func(a, b models.MessageEntity) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, e := range entities {
		if r.possible(e) {
			r.take(e, string(utf16.Decode(r.units[e.Offset:e.Offset+e.Length])))
		}
	}
	r.upTo(len(r.units))
	r.text = strings.TrimSpace(string(utf16.Decode(r.out)))
	return r.reading
}

type reader struct {
	reading
	units, out []uint16
	// at is how far the units are read.
	at int
	me *models.User
}

func (r *reader) possible(e models.MessageEntity) bool {
	return e.Offset >= r.at && e.Length > 0 && e.Offset < len(r.units) && e.Length <= len(r.units)-e.Offset &&
		r.between(e.Offset) && r.between(e.Offset+e.Length)
}

// between says whether an offset is not inside a character.
func (r *reader) between(at int) bool {
	return at == 0 || at == len(r.units) || r.units[at]&0xfc00 != 0xdc00 || r.units[at-1]&0xfc00 != 0xd800
}

func (r *reader) upTo(at int) {
	r.out = append(r.out, r.units[r.at:at]...)
	r.at = at
}

func (r *reader) take(e models.MessageEntity, text string) {
	switch e.Type {
	case models.MessageEntityTypeMention:
		if strings.EqualFold(text, "@"+r.me.Username) {
			r.remove(e)
		}
	case models.MessageEntityTypeTextMention:
		if e.User != nil && e.User.ID == r.me.ID {
			r.remove(e)
		}
	case models.MessageEntityTypeBotCommand:
		r.command(e, text)
	case models.MessageEntityTypePre:
		r.block(e, text)
	}
}

// remove leaves out a mention, and a space that would stand alone without it.
func (r *reader) remove(e models.MessageEntity) {
	r.mentioned = true
	r.upTo(e.Offset)
	r.at += e.Length
	if (len(r.out) == 0 || r.out[len(r.out)-1] == ' ' || r.out[len(r.out)-1] == '\n') && r.at < len(r.units) && r.units[r.at] == ' ' {
		r.at++
	}
}

func (r *reader) command(e models.MessageEntity, text string) {
	name, whose, named := strings.Cut(text, "@")
	switch {
	case named && strings.EqualFold(whose, r.me.Username):
		r.mentioned = true
		r.upTo(e.Offset)
		r.out = append(r.out, utf16.Encode([]rune(name))...)
		r.at += e.Length
	case named:
		r.elsewhere = r.elsewhere || e.Offset == 0
	case e.Offset == 0 && chat.IsCommand(strings.TrimPrefix(name, "/")):
		r.mentioned = true
	}
}

const fence = "```"

// languages are those that a block can say without ending its line.
var languages = regexp.MustCompile(`^[A-Za-z0-9+#._-]{0,40}$`)

// block stands between fences again, unless that would not show where it ends.
func (r *reader) block(e models.MessageEntity, code string) {
	if strings.Contains(code, fence) {
		return
	}
	if !languages.MatchString(e.Language) {
		e.Language = ""
	}
	r.upTo(e.Offset)
	r.newLine()
	r.add(fence + e.Language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence)
	if r.at += e.Length; r.at < len(r.units) && r.units[r.at] != '\n' {
		r.add("\n")
	}
}

func (r *reader) newLine() {
	if len(r.out) > 0 && r.out[len(r.out)-1] != '\n' {
		r.add("\n")
	}
}

func (r *reader) add(text string) { r.out = append(r.out, utf16.Encode([]rune(text))...) }
