package telegramtest

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/bailiff-dev/bailiff/gateway/chat/chattest"
)

// Entity is a part of a text that is shown in its own way, by its place in units of
// UTF-16.
type Entity struct {
	Type     string          `json:"type"`
	Offset   int             `json:"offset"`
	Length   int             `json:"length"`
	URL      string          `json:"url,omitempty"`
	Language string          `json:"language,omitempty"`
	User     json.RawMessage `json:"user,omitempty"`
}

// In is the part of a text that an entity is of.
func (e Entity) In(text string) string {
	units := utf16.Encode([]rune(text))
	return string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
}

func unitsOf(text string) int { return len(utf16.Encode([]rune(text))) }

// formatted is a text as the service shows it: without characters that it takes out and
// the white space around, with the entities that it was sent with and those that it
// finds by itself.
func formatted(text string, entities []Entity) (string, []Entity) {
	units := utf16.Encode([]rune(text))
	for _, e := range entities {
		possible(e, units)
	}
	if len(entities) > 100 {
		entities = entities[:100]
	}
	kept, places := cleaned(units)
	entities = moved(entities, places)
	lead := len(kept) - len(utf16.Encode([]rune(strings.TrimLeftFunc(string(utf16.Decode(kept)), unicode.IsSpace))))
	shown := strings.TrimSpace(string(utf16.Decode(kept)))
	var all []Entity
	for _, e := range entities {
		begin, end := max(e.Offset-lead, 0), min(e.Offset+e.Length-lead, unitsOf(shown))
		if e.Offset, e.Length = begin, end-begin; end > begin {
			all = append(all, e)
		}
	}
	for _, found := range find(shown) {
		if !slices.ContainsFunc(all, func(e Entity) bool { return e.exact() && e.touches(found) }) {
			all = append(all, found)
		}
	}
	return shown, all
}

func (e Entity) exact() bool { return e.Type == "code" || e.Type == "pre" }

func (e Entity) touches(other Entity) bool {
	return e.Offset < other.Offset+other.Length && other.Offset < e.Offset+e.Length
}

var kinds = []string{"bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "code", "pre", "text_link", "text_mention"}

// possible refuses an entity that cannot be.
func possible(e Entity, units []uint16) {
	middle := func(at int) bool {
		return at > 0 && at < len(units) && units[at]&0xfc00 == 0xdc00 && units[at-1]&0xfc00 == 0xd800
	}
	switch {
	case !slices.Contains(kinds, e.Type):
		panic(bad("can't parse MessageEntity: unsupported type %q", e.Type))
	case e.Offset < 0 || e.Length < 0 || e.Offset > len(units):
		panic(bad("entity begins after the end of the text at UTF-16 offset %d", e.Offset))
	case e.Length > len(units)-e.Offset:
		panic(bad("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.Offset+e.Length))
	case middle(e.Offset) || middle(e.Offset+e.Length):
		panic(bad("entity beginning at UTF-16 offset %d begins or ends in a middle of a UTF-16 symbol", e.Offset))
	}
}

// cleaned is a text without what the service takes out, and where each place is then.
func cleaned(units []uint16) (kept []uint16, places []int) {
	for _, u := range units {
		places = append(places, len(kept))
		switch {
		case u == '\r', u >= 0x2028 && u <= 0x202e, u == 0x333, u == 0x33f, u == 0x30a:
		case u < ' ' && u != '\n':
			kept = append(kept, ' ')
		default:
			kept = append(kept, u)
		}
	}
	return kept, append(places, len(kept))
}

func moved(entities []Entity, places []int) (all []Entity) {
	for _, e := range entities {
		end := places[e.Offset+e.Length]
		e.Offset = places[e.Offset]
		e.Length = end - e.Offset
		all = append(all, e)
	}
	return all
}

// links are what the service finds in a text by itself. It is more than what Telegram
// finds: of addresses, any that could be one.
var links = []struct {
	kind string
	is   *regexp.Regexp
}{
	{"mention", regexp.MustCompile(`(?:^|[^\pL\pN_])(@[A-Za-z0-9_]{2,32})`)},
	{"hashtag", regexp.MustCompile(`(?:^|[^\pL\pN_])(#[\pL\pN_]+)`)},
	{"cashtag", regexp.MustCompile(`(?:^|[^\pL\pN_])(\$[A-Z]{1,8})`)},
	{"bot_command", regexp.MustCompile(`(?:^|[^\pL\pN_/<>])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)`)},
	{"email", regexp.MustCompile(`([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,})`)},
	{"url", regexp.MustCompile(`([a-z]{2,10}://[^\s]+|[\pL\pN-]+\.[\pL\pN]{1,}[^\s]*)`)},
	{"phone_number", regexp.MustCompile(`(?:^|[^\pL\pN_])(\+[0-9][0-9-]{6,})`)},
}

func find(text string) (all []Entity) {
	units := make([]int, len(text)+1) // before each byte
	n := 0
	for at, c := range text {
		units[at] = n
		n += utf16.RuneLen(c)
	}
	units[len(text)] = n
	for _, link := range links {
		for _, at := range link.is.FindAllStringSubmatchIndex(text, -1) {
			all = append(all, Entity{Type: link.kind, Offset: units[at[2]], Length: units[at[3]] - units[at[2]]})
		}
	}
	return all
}

func namesOther(command string) bool {
	_, whose, named := strings.Cut(command, "@")
	return named && whose != BotName
}

var fences = regexp.MustCompile("(?s)```(?:([A-Za-z0-9+#-]*)\n)?(.*?)\n?```")

// typed is what a person's client makes of what they type: blocks of what stands between
// fences, and what the service finds.
func typed(text string) (string, []Entity) {
	var out strings.Builder
	var blocks []Entity
	last := 0
	for _, at := range fences.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[last:at[0]])
		e := Entity{Type: "pre", Offset: unitsOf(out.String()), Length: unitsOf(text[at[4]:at[5]])}
		if at[2] >= 0 {
			e.Language = text[at[2]:at[3]]
		}
		out.WriteString(text[at[4]:at[5]])
		blocks = append(blocks, e)
		last = at[1]
	}
	out.WriteString(text[last:])
	shown, entities, err := Shows(out.String(), blocks)
	if err != nil {
		return out.String(), nil
	}
	return shown, entities
}

// Shows is a text as the service would show it that is sent with entities, and the
// entities that people see.
func Shows(text string, entities []Entity) (string, []Entity, error) {
	var shown string
	var all []Entity
	_, no := chattest.Answer[refusal](func() any {
		shown, all = formatted(text, entities)
		return nil
	})
	if no != nil {
		return "", nil, errors.New(no.words)
	}
	return shown, all, nil
}
