package matrix

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// read is HTML as a client reads it: pieces by their elements, and whether it has any
// element or attribute that is not a style.
func read(text string) (pieces chat.Text, clean bool) {
	styles := map[string]chat.Style{"": chat.Plain, "strong": chat.Strong, "code": chat.Code, "precode": chat.Block}
	open, words := "", ""
	end := func() {
		if words != "" {
			pieces = append(pieces, chat.Piece{Style: styles[open], Text: words})
		}
		words = ""
	}
	for text != "" {
		before, after, is := strings.Cut(text, "<")
		if words += html.UnescapeString(before); !is {
			break
		}
		tag, rest, _ := strings.Cut(after, ">")
		text = rest
		switch tag {
		case "br":
			words += "\n"
		case "strong", "pre", "code":
			if open != "pre" {
				end()
			}
			if open += tag; tag == "code" && open == "precode" {
				text = strings.TrimPrefix(text, "\n")
			}
		case "/strong", "/code", "/pre":
			end()
			if open = strings.TrimSuffix(open, tag[1:]); open == "pre" {
				continue
			}
		default:
			return nil, false
		}
		if _, known := styles[open]; !known && open != "pre" {
			return nil, false
		}
	}
	end()
	return pieces, true
}

var hostile = []string{
	"", "plain", "<b>bold</b>", "</code></pre><img src=x onerror=1>", "&lt;script&gt;", "&amp;amp;", "@room", "@ana:example.test",
	"<a href=\"https://matrix.to/#/@ana:example.test\">ana</a>", "https://evil.test/x", "**bold** _it_ `c` ~~s~~", "> quote", "# heading",
	"a\nb\r\nc\n\n", "\n\nfirst", "\x00\x1b[31mred\x07", "\xff\xfe", "\u202eevil", "  two  spaces\t", "```\nx\n```", "\"'", "/me waves",
	"!room:example.test",
}

func FuzzWhatIsShownIsLiteral(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, hostile[(i+7)%len(hostile)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, one, two string, style uint8) {
		text := chat.Text{{Style: chat.Style(style % 4), Text: one}, {Style: chat.Style(style / 4 % 4), Text: two}, {Text: one}}
		c := shown(chat.Message{Text: text}, contentBytes)
		got, clean := read(c.Formatted)
		if !clean || strings.ContainsAny(c.Formatted, "\x00\x1b") || !utf8.ValidString(c.Formatted) || !utf8.ValidString(c.Body) {
			t.Fatalf("%+v is shown as %q", text, c.Formatted)
		}
		var want chat.Text
		for _, p := range text {
			p.Text = html.UnescapeString(html.EscapeString(plain(p.Text)))
			if p.Text == "" {
				continue
			}
			if n := len(want); n > 0 && want[n-1].Style == chat.Plain && p.Style == chat.Plain {
				want[n-1].Text += p.Text
				continue
			}
			want = append(want, p)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v is read as %+v in %q", want, got, c.Formatted)
		}
		if c.Mentions == nil || c.Mentions.Users != nil || c.Type != "m.notice" {
			t.Fatalf("it calls somebody: %+v", c)
		}
		for _, p := range text {
			if !strings.Contains(c.Body, plain(p.Text)) {
				t.Fatalf("%q is not in %q", p.Text, c.Body)
			}
		}
	})
}

func FuzzAMessageFitsAnEvent(f *testing.F) {
	f.Add("x", 100_000, true)
	f.Add("\x01", 30_000, false)
	f.Add("<&\"'>", 20_000, true)
	f.Add("✅", 70_000, false)
	f.Add("", 0, true)
	f.Fuzz(func(t *testing.T, unit string, times int, block bool) {
		times = min(max(times, 0), 1<<20/max(len(unit), 1))
		msg := chat.Message{Text: chat.Text{{Text: "head"}, {Text: strings.Repeat(unit, times)}, {Style: chat.Strong, Text: "end"}},
			Buttons: []chat.Button{{Label: "Deny", Word: "deny", Sign: "❌"}}}
		if block {
			msg.Text[1].Style = chat.Block
		}
		for _, c := range []content{messageContent(msg, "$thread"), editContent("$old", msg)} {
			if size := c.size(); size > contentBytes {
				t.Fatalf("it takes %d bytes", size)
			}
			if _, clean := read(strings.TrimPrefix(c.Formatted, "* ")); !clean || !strings.Contains(c.Body, "deny because") ||
				!strings.Contains(c.Body, "head") {
				t.Fatalf("it is shown as %q", c.Formatted)
			}
			if whole := strings.Contains(c.Body, "end\n"); !whole && !strings.Contains(c.Body, cutMark+"\n") {
				t.Fatalf("nothing says that it is cut: %q", c.Body)
			}
		}
	})
}

func TestAWordAtTheBeginningIsAnAnswer(t *testing.T) {
	t.Parallel()
	q := question{answers: answersOf([]chat.Button{{Word: "approve", Yes: true}, {Word: "approve session", Yes: true}, {Word: "deny"},
		{Label: "Deny, and say why", Asks: "Why?"}})}
	for text, want := range map[string][2]string{
		"approve":                         {"approve", ""},
		"Approve!":                        {"approve", ""},
		" APPROVE. ":                      {"approve", ""},
		"approve session":                 {"approve session", ""},
		"approve because it is fine":      {"approve", "it is fine"},
		"approve session, because: it is": {"approve session", "it is"},
		"deny":                            {"deny", ""},
		"deny because it is prod":         {"deny", "it is prod"},
		"deny: not on\nFridays":           {"deny", "not on\nFridays"},
		"deny – because":                  {"deny", ""},
		"deny becausewhatever":            {"deny", "becausewhatever"},
		"approve? Never!":                 {},
		"approve sessions":                {},
		"approve, but not this":           {},
		"approved":                        {},
		"approve_":                        {},
		"I approve":                       {},
		"denied":                          {},
		"":                                {},
		"because":                         {},
		"yes":                             {},
	} {
		word, reason, is := q.byWords(text)
		if word != want[0] || reason != want[1] || is != (want[0] != "") {
			t.Errorf("%q is %q for %q, %v; want %q", text, word, reason, is, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, text := range []string{"approve", "deny because x", "", "APPROVE\u212a", "dény"} {
		f.Add(text)
	}
	q := question{answers: []answer{{Word: "approve", Yes: true}, {Word: "deny"}}}
	f.Fuzz(func(t *testing.T, text string) {
		word, reason, is := q.byWords(text)
		if is && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), word) {
			t.Fatalf("%q is %q", text, word)
		}
		if strings.TrimFunc(reason, unicode.IsSpace) != reason {
			t.Fatalf("the reason is %q", reason)
		}
	})
}

func TestBailiffIsNamedByItsAccountOrName(t *testing.T) {
	t.Parallel()
	self := account{ID: "@bailiff:example.test", Name: "The Bailiff"}
	pill := &mentions{Users: []string{self.ID}}
	for name, c := range map[string]struct {
		in    content
		text  string
		named bool
	}{
		"by its account":                  {content{Body: "@bailiff:example.test ls", Mentions: &mentions{}}, "ls", true},
		"by its account and a colon":      {content{Body: "@bailiff:example.test: ls"}, "ls", true},
		"by its name and a colon":         {content{Body: "the bailiff: ls", Mentions: &mentions{}}, "ls", true},
		"by its name, in a client's list": {content{Body: "The Bailiff ls", Mentions: pill}, "ls", true},
		"by a part of its account":        {content{Body: "@bailiff ls", Mentions: &mentions{}}, "ls", true},
		"by a link": {content{Body: "[The Bailiff](https://matrix.to/#/@bailiff:example.test) ls", Mentions: pill},
			"ls", true},
		"in the client's list only":       {content{Body: "ls bailiff", Mentions: pill}, "ls bailiff", true},
		"by an old client":                {content{Body: "bailiff ls"}, "ls", true},
		"and nothing else":                {content{Body: "@bailiff"}, "", true},
		"not by a program of its name":    {content{Body: "bailiff status", Mentions: &mentions{}}, "bailiff status", false},
		"not by what begins like it":      {content{Body: "bailiff-runner --help", Mentions: &mentions{}}, "bailiff-runner --help", false},
		"not by what begins like it, old": {content{Body: "bailiffs: ls"}, "bailiffs: ls", false},
		"not in the middle":               {content{Body: "echo @bailiff: ls", Mentions: &mentions{}}, "echo @bailiff: ls", false},
		"not by others' list":             {content{Body: "ls", Mentions: &mentions{Users: []string{"@ana:example.test"}}}, "ls", false},
	} {
		t.Run(name, func(t *testing.T) {
			if text, named := self.addressee(c.in); text != c.text || named != c.named {
				t.Errorf("%q is %q, named %v", c.in.Body, text, named)
			}
		})
	}
}

func TestOnlyBailiffsOwnCommandsAreReadWithAnotherSign(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"!status": "/status", "!new now": "/new now", "/stop": "/stop", "!!": "!!", "!ls": "!ls",
		"!": "!", "! status": "! status", "!statuses": "!statuses"} {
		if got := command(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Whatever stands in an event, hearing it does not fail.
func FuzzEvents(f *testing.F) {
	f.Add(`{"msgtype":"m.text","body":"ls","m.relates_to":{"rel_type":"m.thread","event_id":"$1","is_falling_back":true,` +
		`"m.in_reply_to":{"event_id":"$1"}}}`)
	f.Add(`{"m.relates_to":7}`)
	f.Add(`{"body":[],"m.mentions":{"user_ids":[null,7]}}`)
	f.Add(`{"body":"> <@a:b> x\n\ny","msgtype":"m.text","m.relates_to":{"m.in_reply_to":{}}}`)
	f.Add(`null`)
	self := account{ID: "@bailiff:example.test", Name: "bailiff"}
	f.Fuzz(func(t *testing.T, text string) {
		e := event{Type: "m.room.message", Content: json.RawMessage(text)}
		c := e.content()
		words, _ := self.addressee(c)
		if command(words) != "" && c.Body == "" {
			t.Fatalf("%s is %q", text, words)
		}
		_, _, _, _ = c.on(), c.thread(), c.isTyped(), e.answers()
		_ = self.arrival([]event{e})
	})
}

var transactionIDs = regexp.MustCompile(`^bailiff-[0-9A-Za-z]+$`)

func TestTransactionsAreOfTheirKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []string{transaction("message", "a"), transaction("message", "b"), transaction("file", "a"), unique(), unique()} {
		if seen[id] || !transactionIDs.MatchString(id) {
			t.Errorf("%s is no transaction of its own", id)
		}
		seen[id] = true
	}
	for key := range map[string]bool{"a": true, "": true} {
		if first := transaction("message", key); first != transaction("message", key) {
			t.Errorf("%q is another one the second time", key)
		}
	}
}

func TestAnInvitationOfTwoIsNobodys(t *testing.T) {
	t.Parallel()
	self := account{ID: "@bailiff:example.test"}
	member := func(sender, key, content string) event {
		return event{Type: "m.room.member", Sender: sender, StateKey: &key, Content: json.RawMessage(content)}
	}
	for name, c := range map[string]struct {
		events []event
		by     string
		direct bool
	}{
		"of one":             {[]event{member("@ana:x", "@ana:x", `{}`), member("@ana:x", self.ID, `{"is_direct": true}`)}, "@ana:x", true},
		"of one, said twice": {[]event{member("@ana:x", self.ID, `{}`), member("@ana:x", self.ID, `{}`)}, "@ana:x", false},
		"of two":             {[]event{member("@ana:x", self.ID, `{}`), member("@eve:evil", self.ID, `{}`)}, "", false},
		"of nobody":          {[]event{member("@ana:x", "@ana:x", `{}`)}, "", false},
	} {
		var i invitation
		i.State.Events = c.events
		if by, direct := i.by(self); by != c.by || direct != c.direct {
			t.Errorf("%s it is by %q, direct %v", name, by, direct)
		}
	}
}
