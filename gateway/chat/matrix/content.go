package matrix

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// contentBytes bounds what an event holds. A homeserver takes 65,536 bytes of the whole
// event, to which it and others add.
const contentBytes = 56 << 10

// content is what an event holds.
type content struct {
	Type string `json:"msgtype,omitempty"`
	Body string `json:"body,omitempty"`
	// Format is of Formatted, the same as HTML.
	Format    string `json:"format,omitempty"`
	Formatted string `json:"formatted_body,omitempty"`
	// Mentions is empty, so that no text notifies a user by chance.
	Mentions *mentions `json:"m.mentions,omitempty"`
	New      *content  `json:"m.new_content,omitempty"`
	Relates  *relation `json:"m.relates_to,omitempty"`
	// Answers are what can be answered to the message, for bailiff itself.
	Answers []answer `json:"dev.bailiff.answers,omitempty"`
	// Name, URL and About are a file's.
	Name  string     `json:"filename,omitempty"`
	URL   string     `json:"url,omitempty"`
	About *aboutFile `json:"info,omitempty"`
}

type mentions struct {
	Users []string `json:"user_ids,omitempty"`
}

type aboutFile struct {
	Kind string `json:"mimetype"`
	Size int    `json:"size"`
}

// relation is to another event.
type relation struct {
	Type  string `json:"rel_type,omitempty"`
	Event string `json:"event_id,omitempty"`
	Key   string `json:"key,omitempty"`
	// InReply is what is answered; Fallback says that it is not meant so, but shown where
	// there are no threads.
	InReply  *inReply `json:"m.in_reply_to,omitempty"`
	Fallback bool     `json:"is_falling_back,omitempty"`
}

type inReply struct {
	Event string `json:"event_id,omitempty"`
}

const (
	inThread   = "m.thread"
	annotates  = "m.annotation"
	replaces   = "m.replace"
	formatHTML = "org.matrix.custom.html"
)

// messageContent is what a message's event holds.
func messageContent(msg chat.Message, thread string) content {
	c := fitting(func(most int) content {
		c := shown(msg, most)
		c.Relates = threadRelation(thread)
		return c
	})
	return c
}

// editContent is the content of an event that replaces a message.
func editContent(old string, msg chat.Message) content {
	return fitting(func(most int) content {
		c := shown(msg, most)
		now := c
		now.Answers = nil
		return content{Type: c.Type, Body: "* " + c.Body, Format: c.Format, Formatted: "* " + c.Formatted,
			Mentions: c.Mentions, New: &now, Relates: &relation{Type: replaces, Event: old}}
	})
}

// fileContent is what an event holds that shows a file below a message.
func fileContent(to chat.Ref, file chat.File, uri string) content {
	name := plain(strings.Map(withoutLines, file.Name))
	c := content{Type: "m.file", Body: name, Name: name, URL: uri, Mentions: &mentions{},
		About: &aboutFile{"text/plain", len(file.Content)}}
	c.Relates = &relation{InReply: &inReply{to.Message}}
	if to.Thread != "" {
		c.Relates.Type, c.Relates.Event = inThread, to.Thread
	}
	return c
}

func withoutLines(c rune) rune {
	if c == '\n' {
		return ' '
	}
	return c
}

func reaction(to, sign string) content {
	return content{Relates: &relation{Type: annotates, Event: to, Key: sign}}
}

func threadRelation(thread string) *relation {
	if thread == "" {
		return nil
	}
	return &relation{Type: inThread, Event: thread, InReply: &inReply{thread}, Fallback: true}
}

// shown is a message, of whose text at most so many bytes.
func shown(msg chat.Message, most int) content {
	text := slices.Concat(cut(msg.Text, most), choices(msg.Buttons))
	c := content{Type: "m.notice", Body: bodyOf(text), Format: formatHTML, Formatted: htmlOf(text), Mentions: &mentions{}}
	if len(msg.Buttons) > 0 {
		c.Type, c.Answers = "m.text", answersOf(msg.Buttons)
	}
	return c
}

// fitting makes what an event can hold, of less and less text.
func fitting(of func(most int) content) content {
	for most := contentBytes; ; most = most * 3 / 4 {
		if c := of(most); most == 0 || c.size() <= contentBytes {
			return c
		}
	}
}

// size is as the homeserver counts it: without escapes that JSON does not need.
func (c content) size() int {
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(c)
	return written.Len()
}

// cutMark stands where a text is cut.
const cutMark = "…"

// cut is at most so many bytes of a text, and a mark if that is not all.
func cut(text chat.Text, most int) chat.Text {
	for i, piece := range text {
		if len(piece.Text) > most {
			short := append(slices.Clone(text[:i]), chat.Piece{Style: piece.Style, Text: beginning(piece.Text, most)})
			return append(short, chat.Piece{Text: cutMark})
		}
		most -= len(piece.Text)
	}
	return text
}

func beginning(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// choices are the lines that say what can be answered. A no takes a reason.
func choices(buttons []chat.Button) (text chat.Text) {
	for _, b := range buttons {
		if b.Word == "" {
			continue // it only asks for more than another one, which words do by themselves
		}
		if text == nil {
			text = chat.Text{{Text: "\n\nReact to this message, or reply to it with a word:"}}
		}
		text = append(text, chat.Piece{Text: "\n" + b.Sign + " "}, chat.Piece{Style: chat.Code, Text: b.Word})
		if !b.Yes {
			text = append(text, chat.Piece{Text: " or "}, chat.Piece{Style: chat.Code, Text: b.Word + " because …"})
		}
		text = append(text, chat.Piece{Text: " – " + b.Label})
	}
	return text
}
