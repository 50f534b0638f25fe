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
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return no{code: "invalid_blocks"}
	}
	return nil
}

func size(text string) int { return len(utf16.Encode([]rune(text))) }

// readMessage reads what is to be shown, and refuses what is not literal.
func readMessage(a asks) (m Message, err error) {
	var blocks []block
	if a.Get("blocks") != "" {
		if err := strictly([]byte(a.Get("blocks")), &blocks); err != nil {
			return m, err
		}
		_ = json.Unmarshal([]byte(a.Get("blocks")), &m.blocks)
	}
	fallback := a.Get("text")
	switch {
	case fallback == "" && len(blocks) == 0:
		return m, no{code: "no_text"}
	case size(fallback) > mostText:
		return m, no{code: "msg_too_long"}
	case len(blocks) > mostBlocks:
		return m, no{code: "invalid_blocks"}
	case strings.ContainsAny(fallback, "<>") || a.Get("parse") != "none" || a.Get("mrkdwn") != "false" ||
		a.Get("unfurl_links") != "false" || a.Get("unfurl_media") != "false" || a.Get("link_names") == "true":
		return m, no{code: "invalid_arguments"} // it would show something else than its text
	}
	ids := map[string]bool{}
	for _, b := range blocks {
		if b.ID != "" && (len(b.ID) > mostID || ids["block "+b.ID]) {
			return m, no{code: "invalid_blocks"}
		}
		ids["block "+b.ID] = true
		if err := b.read(&m, ids); err != nil {
			return m, err
		}
	}
	return m, nil
}

func (b block) read(m *Message, ids map[string]bool) error {
	switch b.Type {
	case "rich_text":
		return readRich(b.Elements, m)
	case "actions":
		return readButtons(b.Elements, m, ids)
	}
	return no{code: "invalid_blocks"}
}

func readRich(elements []element, m *Message) error {
	total := 0
	for _, e := range elements {
		var line strings.Builder
		for _, part := range e.Elements {
			text, err := part.literal()
			if err != nil {
				return err
			}
			total += size(text)
			line.WriteString(text)
		}
		switch {
		case e.Type != "rich_text_section" && e.Type != "rich_text_preformatted" || line.Len() == 0:
			return no{code: "invalid_blocks"}
		case m.Text != "":
			m.Text += "\n"
		}
		m.Text += line.String()
	}
	if total == 0 || total > mostRichText {
		return no{code: "invalid_blocks"}
	}
	return nil
}

// literal is the text of an element that is nothing but text.
func (e element) literal() (text string, err error) {
	var style struct {
		Bold bool `json:"bold"`
		Code bool `json:"code"`
	}
	if len(e.Style) > 0 {
		err = strictly(e.Style, &style)
	}
	if err != nil || e.Type != "text" || json.Unmarshal(e.Text, &text) != nil || text == "" {
		return "", no{code: "invalid_blocks"}
	}
	return text, nil
}

func readButtons(elements []element, m *Message, ids map[string]bool) error {
	if len(elements) == 0 || len(elements) > mostElements {
		return no{code: "invalid_blocks"}
	}
	for _, e := range elements {
		var label object
		var style string
		if len(e.Style) > 0 && json.Unmarshal(e.Style, &style) != nil {
			return no{code: "invalid_blocks"}
		}
		if e.Type != "button" || strictly(e.Text, &label) != nil || label.Type != "plain_text" || label.Text == "" ||
			size(label.Text) > mostLabel ||
			style != "" && style != "primary" && style != "danger" || len(e.Value) > mostValue || len(e.ActionID) > mostID ||
			ids[e.ActionID] {
			return no{code: "invalid_blocks"}
		}
		ids[e.ActionID] = true
		m.Buttons = append(m.Buttons, Button{label.Text, style, e.ActionID, e.Value})
	}
	return nil
}

var eventType = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

func readMetadata(a asks) (raw any, key string, err error) {
	if a.Get("metadata") == "" {
		return nil, "", nil
	}
	var m struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if strictly([]byte(a.Get("metadata")), &m) != nil || !eventType.MatchString(m.Type) || m.Payload == nil {
		return nil, "", no{code: "invalid_metadata_format"}
	}
	key, _ = m.Payload["key"].(string)
	return m, key, nil
}

// readView reads a form with one line to write.
func readView(body []byte) (f form, trigger string, err error) {
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
	if strictly(body, &v) != nil || len(v.View.Blocks) != 1 {
		return f, "", no{code: "invalid_arguments"}
	}
	b := v.View.Blocks[0]
	for _, title := range []object{v.View.Title, v.View.Submit, v.View.Close} {
		if title.Type != "plain_text" || title.Text == "" || size(title.Text) > mostTitle {
			return f, "", no{code: "invalid_arguments"}
		}
	}
	if v.View.Type != "modal" || len(v.View.Private) > mostPrivate || len(v.View.Callback) > mostID ||
		b.Type != "input" || b.Label == nil || b.Label.Type != "plain_text" || b.Label.Text == "" || b.Element == nil ||
		b.Element.Type != "plain_text_input" || b.Element.Max > mostRichText {
		return f, "", no{code: "invalid_arguments"}
	}
	return form{callback: v.View.Callback, metadata: v.View.Private, block: b.ID, action: b.Element.ActionID, label: b.Label.Text},
		v.Trigger, nil
}
