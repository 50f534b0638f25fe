package telegram

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/telegram/telegramtest"

	"github.com/go-telegram/bot/models"
)

func TestATextIsWrittenSoThatItShowsAsItIs(t *testing.T) {
	t.Parallel()
	code := func(text string) chat.Piece { return chat.Piece{Style: chat.Code, Text: text} }
	block := func(text string) chat.Piece { return chat.Piece{Style: chat.Block, Text: text} }
	strong := func(text string) chat.Piece { return chat.Piece{Style: chat.Strong, Text: text} }
	plain := func(text string) chat.Piece { return chat.Piece{Text: text} }
	e := func(kind models.MessageEntityType, offset, length int) models.MessageEntity {
		return models.MessageEntity{Type: kind, Offset: offset, Length: length}
	}
	const j = string(joiner)
	for name, c := range map[string]struct {
		text     chat.Text
		want     string
		entities []models.MessageEntity
	}{
		"markup of other kinds is letters": {chat.Text{plain("*a* _b_ `c` <b>d</b> [e](f)")}, "*a* _b_ `c` <b>d</b> [e](f)", nil},
		"places are in units of UTF-16": {chat.Text{plain("😀é"), code("x"), strong("😀")}, "😀éx😀",
			[]models.MessageEntity{e("code", 3, 1), e("bold", 4, 2)}},
		"a block stands in lines of its own": {chat.Text{plain("a"), block("b"), plain("c")}, "a\nb\nc",
			[]models.MessageEntity{e("pre", 2, 1)}},
		"of which there are no more": {chat.Text{plain("a\n"), block("b\n"), plain("\nc")}, "a\nb\n\nc",
			[]models.MessageEntity{e("pre", 2, 2)}},
		"two blocks are two": {chat.Text{block("a"), block("b")}, "a\nb",
			[]models.MessageEntity{e("pre", 0, 1), e("pre", 2, 1)}},
		"names call nobody": {chat.Text{plain("@ana, a@b.c"), strong("#x")},
			"@" + j + "ana, a@" + j + "b." + j + "c#" + j + "x", []models.MessageEntity{e("bold", 14, 3)}},
		"addresses are no links": {chat.Text{plain("https://x.test/a.b and 10.0.0.1")},
			"https:" + j + "//x." + j + "test/a." + j + "b and 10." + j + "0." + j + "0." + j + "1", nil},
		"nor are commands, tags and numbers": {chat.Text{plain("/stop $HOME +123456789 a/b")},
			"/" + j + "stop $" + j + "HOME +" + j + "123456789 a/b", nil},
		"over the border of pieces too": {chat.Text{plain("@"), strong("ana")}, "@" + j + "ana",
			[]models.MessageEntity{e("bold", 2, 3)}},
		"code stays exactly what it was": {chat.Text{code("curl https://x.test | sh -s @a /b")}, "curl https://x.test | sh -s @a /b",
			[]models.MessageEntity{e("code", 0, 33)}},
		"sentences stay as they are": {chat.Text{plain("Done. It ran (once). 5 > 3: yes.")}, "Done. It ran (once). 5 > 3: yes.",
			nil},
		"what turns lines around is taken out": {chat.Text{code("a\u202eb\r\n\tc\x00")}, "ab\n c ",
			[]models.MessageEntity{e("code", 0, 6)}},
		"bytes that are no text":     {chat.Text{code("a\xffb")}, "a\ufffdb", []models.MessageEntity{e("code", 0, 3)}},
		"pieces of nothing are none": {chat.Text{code(""), plain("a"), block("")}, "a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, entities := render(c.text)
			if text != c.want || !slices.Equal(entities, c.entities) {
				t.Errorf("it is %q with %+v, want %q with %+v", text, entities, c.want, c.entities)
			}
		})
	}
}

// FuzzRender holds what a message promises, as the service would read it: each piece is
// shown as it is and looks as it should, and nothing else is anything.
func FuzzRender(f *testing.F) {
	f.Add("ana asks @bob", "git push origin\u0301", "see https://x.test/a?b=c.", "line\nline", uint8(0b11100100))
	f.Add("😀", "e\u0301\u0308", "\u202e/stop", "\r\n.com", uint8(0b00011011))
	f.Add("@", "a", "b.", "c:", uint8(0))
	f.Add(strings.Repeat("😀", 3000), "x", strings.Repeat("a.b", 1000), "y", uint8(0b10101010))
	f.Fuzz(func(t *testing.T, a, b, c, d string, styles uint8) {
		var text chat.Text
		for i, piece := range []string{a, b, c, d} {
			text = append(text, chat.Piece{Style: chat.Style(styles >> (2 * i) & 3), Text: piece})
		}
		sent, entities := render(text)
		shown, seen, err := telegramtest.Shows(sent, placed(entities))
		switch {
		case err != nil:
			t.Fatalf("the service refuses %q with %+v: %v", sent, entities, err)
		case len(utf16.Encode([]rune(sent))) > longestText:
			t.Fatalf("%d units are too many", len(utf16.Encode([]rune(sent))))
		}
		for _, e := range seen {
			if e.Type != "bold" && e.Type != "code" && e.Type != "pre" {
				t.Errorf("%q is a %s in %q, of %+v", e.In(shown), e.Type, shown, text)
			}
		}
		holds(t, text, sent, entities)
	})
}

// holds says whether what is sent is the pieces, one after the other, each with what it
// looks like.
func holds(t *testing.T, text chat.Text, sent string, entities []models.MessageEntity) {
	t.Helper()
	units := utf16.Encode([]rune(sent))
	at, whole := 0, !strings.HasSuffix(sent, "…")
	for _, piece := range text {
		want := strings.ReplaceAll(clean(piece.Text), string(joiner), "")
		kind := entityOf[piece.Style]
		if kind == "" || want == "" {
			continue
		}
		if at == len(entities) {
			if whole {
				t.Fatalf("%q has no entity in %q, %+v", want, sent, entities)
			}
			return
		}
		e := entities[at]
		at++
		got := strings.ReplaceAll(string(utf16.Decode(units[e.Offset:e.Offset+e.Length])), string(joiner), "")
		if e.Type != kind || got != want && (whole || !strings.HasPrefix(want, got)) {
			t.Fatalf("%q is shown as %q (%s)", want, got, e.Type)
		}
		if exact := kind != "bold"; exact && whole && string(utf16.Decode(units[e.Offset:e.Offset+e.Length])) != clean(piece.Text) {
			t.Fatalf("%q is not exactly what is shown", clean(piece.Text))
		}
	}
	if at != len(entities) {
		t.Fatalf("there are %d entities, want %d", len(entities), at)
	}
	if whole {
		all := strings.Join(strings.Fields(strings.ReplaceAll(plain(text), string(joiner), "")), "")
		if got := strings.Join(strings.Fields(strings.ReplaceAll(sent, string(joiner), "")), ""); got != all {
			t.Fatalf("%q is shown as %q", all, got)
		}
	}
}

func placed(entities []models.MessageEntity) (all []telegramtest.Entity) {
	for _, e := range entities {
		all = append(all, telegramtest.Entity{Type: string(e.Type), Offset: e.Offset, Length: e.Length})
	}
	return all
}

var robot = &models.User{ID: 7, Username: "The_Bot"}

func TestATextIsReadAsItWasTyped(t *testing.T) {
	t.Parallel()
	e := func(kind models.MessageEntityType, offset, length int) models.MessageEntity {
		return models.MessageEntity{Type: kind, Offset: offset, Length: length}
	}
	block := func(offset, length int, language string) models.MessageEntity {
		return models.MessageEntity{Type: "pre", Offset: offset, Length: length, Language: language}
	}
	for name, c := range map[string]struct {
		text     string
		entities []models.MessageEntity
		want     reading
	}{
		"names are the same in capitals": {"@the_bot ls", []models.MessageEntity{e("mention", 0, 8)},
			reading{text: "ls", mentioned: true}},
		"a name alone":                        {"@The_Bot", []models.MessageEntity{e("mention", 0, 8)}, reading{mentioned: true}},
		"a name that nobody marked is a word": {"@The_Bot ls", nil, reading{text: "@The_Bot ls"}},
		"another's name stays":                {"@other ls", []models.MessageEntity{e("mention", 0, 6)}, reading{text: "@other ls"}},
		"named without a username": {"Bot ls", []models.MessageEntity{{Type: "text_mention", Offset: 0, Length: 3, User: robot}},
			reading{text: "ls", mentioned: true}},
		"somebody else without one": {"Ana ls",
			[]models.MessageEntity{{Type: "text_mention", Offset: 0, Length: 3, User: &models.User{ID: 8}}}, reading{text: "Ana ls"}},
		"named twice": {"@The_Bot ls @The_Bot", []models.MessageEntity{e("mention", 12, 8), e("mention", 0, 8)},
			reading{text: "ls", mentioned: true}},
		"behind signs of two units": {"😀😀 @The_Bot x", []models.MessageEntity{e("mention", 5, 8)},
			reading{text: "😀😀 x", mentioned: true}},
		"a command with a name": {"/status@the_bot", []models.MessageEntity{e("bot_command", 0, 15)},
			reading{text: "/status", mentioned: true}},
		"another bot's": {"/status@other", []models.MessageEntity{e("bot_command", 0, 13)},
			reading{text: "/status@other", elsewhere: true}},
		"another bot's, in the middle": {"echo /status@other", []models.MessageEntity{e("bot_command", 5, 13)},
			reading{text: "echo /status@other"}},
		"a command that anybody may have": {"/stop", []models.MessageEntity{e("bot_command", 0, 5)},
			reading{text: "/stop", mentioned: true}},
		"a path": {"/bin x", []models.MessageEntity{e("bot_command", 0, 4)}, reading{text: "/bin x"}},
		"a block": {"ls\npwd", []models.MessageEntity{block(0, 6, "bash")},
			reading{text: "```bash\nls\npwd\n```"}},
		"a block that ends its line": {"ls\n", []models.MessageEntity{block(0, 3, "")}, reading{text: "```\nls\n```"}},
		"a block behind words": {"@The_Bot ls done", []models.MessageEntity{e("mention", 0, 8), block(9, 2, "")},
			reading{text: "```\nls\n```\n done", mentioned: true}},
		"a block's language that is none":  {"ls", []models.MessageEntity{block(0, 2, "a\n```b")}, reading{text: "```\nls\n```"}},
		"a block that would end itself":    {"a\n```\nb", []models.MessageEntity{block(0, 7, "")}, reading{text: "a\n```\nb"}},
		"looks that are none of a block's": {"a b", []models.MessageEntity{e("bold", 0, 1), e("code", 2, 1)}, reading{text: "a b"}},
		"a mention inside of something bold": {"@The_Bot b", []models.MessageEntity{e("bold", 0, 10), e("mention", 0, 8)},
			reading{text: "b", mentioned: true}},
		"places that are none": {"ab", []models.MessageEntity{block(-1, 2, ""), block(0, 3, ""), block(1, 1<<62, ""), block(5, 1, ""),
			block(0, 0, "")}, reading{text: "ab"}},
		"a place inside of a sign": {"😀", []models.MessageEntity{block(1, 1, ""), block(0, 1, "")}, reading{text: "😀"}},
		"a block in a block":       {"abcd", []models.MessageEntity{block(0, 4, ""), block(1, 1, "")}, reading{text: "```\nabcd\n```"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(c.text, c.entities, robot); got != c.want {
				t.Errorf("it is %+v, want %+v", got, c.want)
			}
		})
	}
}

// FuzzRead holds that reading loses nothing but mentions and adds nothing but fences,
// whatever the places of entities are.
func FuzzRead(f *testing.F) {
	f.Add("@The_Bot 😀 ls\npwd", uint8(0), 0, 8, uint8(1), 12, 6, "bash")
	f.Add("/status@the_bot x", uint8(2), 0, 15, uint8(3), 1<<62, 1<<62, "")
	f.Add("e\u0301😀\u200d😀", uint8(1), 1, 3, uint8(1), 4, 1, "a`b")
	f.Fuzz(func(t *testing.T, text string, first uint8, offset, length int, second uint8, offset2, length2 int, language string) {
		if !utf8.ValidString(text) || strings.Contains(text, fence) {
			return
		}
		kinds := []models.MessageEntityType{"mention", "pre", "bot_command", "text_mention", "bold"}
		entities := []models.MessageEntity{
			{Type: kinds[int(first)%5], Offset: offset, Length: length, Language: language, User: robot},
			{Type: kinds[int(second)%5], Offset: offset2, Length: length2, Language: language, User: robot},
		}
		r := read(text, entities, robot)
		if !utf8.ValidString(r.text) {
			t.Fatalf("%q is no text", r.text)
		}
		if n := strings.Count(r.text, fence); n%2 != 0 || n > 4 {
			t.Fatalf("%q has %d fences", r.text, n)
		}
		if entities[0].Type == "pre" && entities[1].Type == "pre" && languages.MatchString(language) {
			want, got := dense(text, language), dense(strings.ReplaceAll(r.text, fence+language, ""), language)
			if got != want {
				t.Fatalf("%q is read as %q", text, r.text)
			}
		}
		if r.mentioned || strings.Contains(r.text, fence) {
			return
		}
		if want := strings.TrimSpace(text); r.text != want {
			t.Fatalf("%q is read as %q", want, r.text)
		}
	})
}

// dense is a text without white space and fences.
func dense(text, _ string) string {
	return strings.ReplaceAll(strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return c
	}, text), fence, "")
}

func TestWhatIsToldAtOnceIsShortEnough(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "abc": "abc", "abcd": "abc…", "😀b": "😀b", "😀😀": "😀…", "a😀b": "a…", "ab😀": "ab…",
	} {
		most := 3
		if text == "abcd" {
			most, want = 3, "ab…"
		}
		if got := chat.Excerpt(text, most); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
