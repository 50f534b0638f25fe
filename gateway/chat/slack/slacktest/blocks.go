package slacktest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf16"
)

// The limits of Slack's documentation; that of rich text, of which it says nothing, is the
// one of sections.
const (
	mostText     = 40000
	mostBlocks   = 50
	mostRichText = 3000
	mostElements = 25
	mostLabel    = 75
	mostValue    = 2000
	mostID       = 255
	mostTitle    = 24
	mostPrivate  = 3000
)

// block is any that bailiff sends.
type block struct {
	Type     string    `json:"type"`
	ID       string    `json:"block_id"`
	Elements []element `json:"elements"`
	Label    *object   `json:"label"`
	Element  *element  `json:"element"`
	Optional bool      `json:"optional"`
}

// element is a part of a block, or of such a part.
type element struct {
	Type     string          `json:"type"`
	Elements []element       `json:"elements"`
	Text     json.RawMessage `json:"text"`
	Style    json.RawMessage `json:"style"`
	Border   int             `json:"border"`
	ActionID string          `json:"action_id"`
	Value    string          `json:"value"`
	Max      int             `json:"max_length"`
	Focus    bool            `json:"focus_on_load"`
}

// object is a text object.
type object struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Emoji *bool  `json:"emoji"`
	Plain *bool  `json:"verbatim"`
}

// strictly decodes what has no unknown fields.
func strictly(text []byte, into any) {
	if !isStrictly(text, into) {
		refuse("invalid_blocks")
	}
}

func isStrictly(text []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

func size(text string) int { return len(utf16.Encode([]rune(text))) }

// readMessage reads what is to be shown, and refuses what is not literal.
func readMessage(a asks) (m Message) {
	var blocks []block
	if a.Get("blocks") != "" {
		strictly([]byte(a.Get("blocks")), &blocks)
		_ = json.Unmarshal([]byte(a.Get("blocks")), &m.blocks)
	}
	fallback := a.Get("text")
	switch {
	case fallback == "" && len(blocks) == 0:
		refuse("no_text")
	case size(fallback) > mostText:
		refuse("msg_too_long")
	case len(blocks) > mostBlocks:
		refuse("invalid_blocks")
	case strings.ContainsAny(fallback, "<>") || a.Get("parse") != "none" || a.Get("mrkdwn") != "false" ||
		a.Get("unfurl_links") != "false" || a.Get("unfurl_media") != "false" || a.Get("link_names") == "true":
		refuse("invalid_arguments") // it would show something else than its text
	}
	ids := map[string]bool{}
	for _, b := range blocks {
		if b.ID != "" && (len(b.ID) > mostID || ids["block "+b.ID]) {
			refuse("invalid_blocks")
		}
		ids["block "+b.ID] = true
		b.read(&m, ids)
	}
	return m
}

func (b block) read(m *Message, ids map[string]bool) {
	switch b.Type {
	case "rich_text":
		readRich(b.Elements, m)
	case "actions":
		readButtons(b.Elements, m, ids)
	default:
		refuse("invalid_blocks")
	}
}

func readRich(elements []element, m *Message) {
	total := 0
	for _, e := range elements {
		var line strings.Builder
		for _, part := range e.Elements {
			text := part.literal()
			total += size(text)
			line.WriteString(text)
		}
		switch {
		case e.Type != "rich_text_section" && e.Type != "rich_text_preformatted" || line.Len() == 0:
			refuse("invalid_blocks")
		case m.Text != "":
			m.Text += "\n"
		}
		m.Text += line.String()
	}
	if total == 0 || total > mostRichText {
		refuse("invalid_blocks")
	}
}

// literal is the text of an element that is nothing but text.
func (e element) literal() (text string) {
	var style struct {
		Bold bool `json:"bold"`
		Code bool `json:"code"`
	}
	if len(e.Style) > 0 {
		strictly(e.Style, &style)
	}
	if e.Type != "text" || json.Unmarshal(e.Text, &text) != nil || text == "" {
		refuse("invalid_blocks")
	}
	return text
}

func readButtons(elements []element, m *Message, ids map[string]bool) {
	if len(elements) == 0 || len(elements) > mostElements {
		refuse("invalid_blocks")
	}
	for _, e := range elements {
		var label object
		var style string
		if len(e.Style) > 0 && json.Unmarshal(e.Style, &style) != nil {
			refuse("invalid_blocks")
		}
		if e.Type != "button" || !isStrictly(e.Text, &label) || label.Type != "plain_text" || label.Text == "" ||
			size(label.Text) > mostLabel ||
			style != "" && style != "primary" && style != "danger" || len(e.Value) > mostValue || len(e.ActionID) > mostID ||
			ids[e.ActionID] {
			refuse("invalid_blocks")
		}
		ids[e.ActionID] = true
		m.Buttons = append(m.Buttons, Button{label.Text, style, e.ActionID, e.Value})
	}
}

var eventType = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

func readMetadata(a asks) (raw any, key string) {
	if a.Get("metadata") == "" {
		return nil, ""
	}
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if !isStrictly([]byte(a.Get("metadata")), &m) || !eventType.MatchString(m.Type) || m.Payload == nil {
		refuse("invalid_metadata_format")
	}
	key, _ = m.Payload["key"].(string)
	return m, key
}

// readView reads a form with one line to write.
func readView(body []byte) (f form, trigger string) {
	var v struct {
		Trigger string `json:"trigger_id"`
		View    struct {
			Type     string  `json:"type"`
			Title    object  `json:"title"`
			Submit   object  `json:"submit"`
			Close    object  `json:"close"`
			Callback string  `json:"callback_id"`
			Private  string  `json:"private_metadata"`
			Blocks   []block `json:"blocks"`
		} `json:"view"`
	}
	if !isStrictly(body, &v) || len(v.View.Blocks) != 1 {
		refuse("invalid_arguments")
	}
	b := v.View.Blocks[0]
	for _, title := range []object{v.View.Title, v.View.Submit, v.View.Close} {
		if title.Type != "plain_text" || title.Text == "" || size(title.Text) > mostTitle {
			refuse("invalid_arguments")
		}
	}
	if v.View.Type != "modal" || len(v.View.Private) > mostPrivate || len(v.View.Callback) > mostID ||
		b.Type != "input" || b.Label == nil || b.Label.Type != "plain_text" || b.Label.Text == "" || b.Element == nil ||
		b.Element.Type != "plain_text_input" || b.Element.Max > mostRichText {
		refuse("invalid_arguments")
	}
	return form{callback: v.View.Callback, metadata: v.View.Private, block: b.ID, action: b.Element.ActionID, label: b.Label.Text},
		v.Trigger
}
