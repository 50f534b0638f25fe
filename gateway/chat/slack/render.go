package slack

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// What Slack takes, in the units of its limits. It says nothing of how much text rich
// text may hold; these are what sections may, and a message's fallback.
const (
	mostText    = 12000
	mostOfBlock = 3000
	mostLabel   = 75
	mostInRow   = 25
	mostBlocks  = 50
	mostValue   = 2000
)

// ellipsis stands for what was cut.
const ellipsis = "…"

// options are a message as the API takes it, with a key if it has one.
func options(text chat.Text, buttons []chat.Button, key string) []slack.MsgOption {
	if len(shape(text)) == 0 {
		text = chat.Text{{Text: ellipsis}} // Slack shows no message without a text
	}
	text = fit(shape(text), mostText)
	blocks := append(prose(text, key), buttonRows(buttons)...)
	return []slack.MsgOption{
		slack.MsgOptionText(plainText(text), true), // for notifications; escaped
		slack.MsgOptionBlocks(blocks[:min(len(blocks), mostBlocks)]...),
		slack.MsgOptionDisableMarkdown(), slack.MsgOptionParse(false), slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// shape leaves out pieces without text, and the line breaks beside a block, which stands in
// lines of its own anyway.
func shape(text chat.Text) (all chat.Text) {
	for i, p := range text {
		p.Text = strings.ToValidUTF8(p.Text, string(utf8.RuneError))
		if p.Style != chat.Block && i > 0 && text[i-1].Style == chat.Block {
			p.Text = strings.TrimPrefix(p.Text, "\n")
		}
		if p.Style != chat.Block && i+1 < len(text) && text[i+1].Style == chat.Block {
			p.Text = strings.TrimSuffix(p.Text, "\n")
		}
		if p.Text != "" {
			all = append(all, p)
		}
	}
	return all
}

// fit cuts the longest pieces until a text is short enough.
func fit(text chat.Text, most int) chat.Text {
	over := -most
	for _, p := range text {
		over += chat.Units(p.Text)
	}
	for over > 0 {
		longest := 0
		for i, p := range text {
			if chat.Units(p.Text) > chat.Units(text[longest].Text) {
				longest = i
			}
		}
		before := chat.Units(text[longest].Text)
		if before < 2*chat.Units(ellipsis) {
			return text[:len(text)-over] // there are only crumbs, and too many of them
		}
		cut := chat.Excerpt(text[longest].Text, max(before-over, before/2))
		over -= before - chat.Units(cut)
		text[longest].Text = cut
	}
	return text
}

// plainText is a text without its styles.
func plainText(text chat.Text) string {
	var b strings.Builder
	for i, p := range text {
		if i > 0 && (p.Style == chat.Block || text[i-1].Style == chat.Block) {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return chat.Excerpt(b.String(), mostOfBlock)
}

// prose is a text as rich text blocks, in which a text is never anything but text. The
// first has the key for its id.
func prose(text chat.Text, key string) []slack.Block {
	var w writer
	if key != "" && len(key) <= mostKey {
		w.id = actionPrefix + key
	}
	for _, p := range text {
		for head, tail := chat.Split(p.Text, mostOfBlock); head != ""; head, tail = chat.Split(tail, mostOfBlock) {
			w.write(p.Style, head)
		}
	}
	return w.blocks
}

// writer puts one piece after the other.
type writer struct {
	blocks []slack.Block
	block  *slack.RichTextBlock
	line   *slack.RichTextSection
	room   int
	id     string // of the next block
}

func (w *writer) write(style chat.Style, text string) {
	if w.room < chat.Units(text) {
		w.block, w.line, w.room, w.id = slack.NewRichTextBlock(w.id), nil, mostOfBlock, ""
		w.blocks = append(w.blocks, w.block)
	}
	w.room -= chat.Units(text)
	if style == chat.Block {
		w.line = nil
		w.block.Elements = append(w.block.Elements, &slack.RichTextPreformatted{
			Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)}})
		return
	}
	if w.line == nil {
		w.line = slack.NewRichTextSection()
		w.block.Elements = append(w.block.Elements, w.line)
	}
	w.line.Elements = append(w.line.Elements, slack.NewRichTextSectionTextElement(text, styles[style]))
}

var styles = map[chat.Style]*slack.RichTextSectionTextStyle{chat.Strong: {Bold: true}, chat.Code: {Code: true}}

// buttonRows are the buttons.
func buttonRows(buttons []chat.Button) (all []slack.Block) {
	var row []slack.BlockElement
	for i, b := range buttons {
		label := chat.Excerpt(cmp.Or(b.Label, b.Word, ellipsis), mostLabel)
		button := slack.NewButtonBlockElement(actionPrefix+strconv.Itoa(i), valueOf(b),
			slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
		button.Style = slack.StyleDanger
		if b.Yes {
			button.Style = slack.StylePrimary
		}
		if row = append(row, button); len(row) == mostInRow || i == len(buttons)-1 {
			all, row = append(all, slack.NewActionBlock("", row...)), nil
		}
	}
	return all
}

// actionPrefix begins the ids of what is bailiff's. An id may have 255 characters.
const (
	actionPrefix = "bailiff."
	mostKey      = 200
)

// valueOf is what comes back from a button: its token, and what it asks, so that nothing
// has to be remembered for it.
func valueOf(b chat.Button) string {
	if b.Asks == "" {
		return b.Token
	}
	return chat.Excerpt(b.Token+" "+b.Asks, mostValue)
}
