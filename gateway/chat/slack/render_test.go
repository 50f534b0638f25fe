package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// sent is what goes to Slack for a message.
func sent(t *testing.T, text chat.Text, buttons []chat.Button) url.Values {
	t.Helper()
	var r recorder
	if _, _, err := slack.New("token", slack.OptionHTTPClient(&r)).PostMessageContext(t.Context(), "C1",
		options(text, buttons, "k")...); err != nil {
		t.Fatal(err)
	}
	return r.sent
}

// recorder keeps what it is sent.
type recorder struct{ sent url.Values }

func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	if err := request.ParseForm(); err != nil {
		return nil, err
	}
	r.sent = request.PostForm
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"ok":true}`))}, nil
}

// read is what Slack would show of it: each text with its style, as it reads blocks.
func read(t *testing.T, values url.Values) (all chat.Text, labels []string) {
	t.Helper()
	var blocks []struct {
		Type     string
		Elements []struct {
			Type     string
			Text     json.RawMessage
			Elements []struct {
				Type, Text string
				Style      map[string]bool
			}
		}
	}
	if err := json.Unmarshal([]byte(values.Get("blocks")), &blocks); err != nil || len(blocks) > 50 {
		t.Fatalf("%d blocks: %v", len(blocks), err)
	}
	for _, b := range blocks {
		total := 0
		for _, e := range b.Elements {
			if b.Type == "actions" {
				labels = append(labels, string(e.Text))
				continue
			}
			for _, part := range e.Elements {
				p := chat.Piece{Text: part.Text}
				switch {
				case part.Type != "text" || part.Text == "" || len(part.Style) > 1:
					t.Fatalf("it holds %+v", part)
				case e.Type == "rich_text_preformatted":
					p.Style = chat.Block
				case part.Style["bold"]:
					p.Style = chat.Strong
				case part.Style["code"]:
					p.Style = chat.Code
				}
				total += chat.Units(part.Text)
				all = append(all, p)
			}
		}
		if b.Type != "rich_text" && b.Type != "actions" || total > mostOfBlock {
			t.Fatalf("there is a block %s of %d", b.Type, total)
		}
	}
	return all, labels
}

// joined puts the neighbours of one style together.
func joined(text chat.Text) (all chat.Text) {
	for _, p := range text {
		if last := len(all) - 1; last >= 0 && all[last].Style == p.Style {
			all[last].Text += p.Text
			continue
		}
		all = append(all, p)
	}
	return all
}

func FuzzWhatIsShownIsTheTextAndNothingElse(f *testing.F) {
	for _, s := range []string{"a", "<!channel>", "<@U1>", "*b* _i_ ~s~ `c`", "```x```", "<http://evil|good>", "&amp;&lt;", ":smile: @here",
		"\n", "a\nb\n", "\x00\xff", strings.Repeat("é😀", 2000)} {
		f.Add(s, s, s, uint8(0b11100100))
		f.Add("to ", s, "\nend", uint8(0b00110000))
	}
	f.Fuzz(func(t *testing.T, one, two, three string, styles uint8) {
		text := chat.Text{}
		for i, s := range []string{one, two, three} {
			text = append(text, chat.Piece{Style: chat.Style(styles >> (2 * i) & 3), Text: s})
		}
		want := joined(shape(text))
		whole := 0
		for _, p := range want {
			whole += chat.Units(p.Text)
		}
		values := sent(t, text, nil)
		got, _ := read(t, values)
		got = joined(got)
		if whole == 0 {
			want = chat.Text{{Text: ellipsis}}
		}
		if whole <= mostText && !equal(got, want) {
			t.Errorf("shown is %v, want %v", got, want)
		}
		if fallback := values.Get("text"); strings.ContainsAny(fallback, "<>") || fallback == "" || chat.Units(fallback) > 5*mostOfBlock {
			t.Errorf("the fallback is %q", fallback)
		}
		for key, want := range map[string]string{"parse": "none", "mrkdwn": "false", "link_names": "false", "unfurl_links": "false",
			"unfurl_media": "false"} {
			if values.Get(key) != want {
				t.Errorf("%s is %q", key, values.Get(key))
			}
		}
	})
}

func equal(a, b chat.Text) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestWhatIsTooLongIsCutWhereItIsLongest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text chat.Text
		ends string
	}{
		"one long piece": {chat.Text{{Text: strings.Repeat("x", 50000)}}, ellipsis},
		"a long block in the midst": {chat.Text{{Text: "asks for"}, {Style: chat.Block, Text: strings.Repeat("😀", 50000)},
			{Text: "until 12:00"}}, "until 12:00"},
		"two long ones": {chat.Text{{Text: strings.Repeat("a", 20000)}, {Style: chat.Block, Text: strings.Repeat("b", 30000)},
			{Text: "end"}}, "end"},
		"nothing but crumbs": {crumbs(30000), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := read(t, sent(t, c.text, nil))
			total := 0
			for _, p := range got {
				total += chat.Units(p.Text)
				if !utf8.ValidString(p.Text) {
					t.Errorf("it is cut in a character: %q", p.Text)
				}
			}
			if last := got[len(got)-1].Text; total > mostText || total < mostText/2 || !strings.HasSuffix(last, c.ends) {
				t.Errorf("%d are shown, the end is %.30q", total, last)
			}
		})
	}
}

func crumbs(n int) (text chat.Text) {
	for i := range n {
		text = append(text, chat.Piece{Style: chat.Style(i % 3), Text: "x"})
	}
	return text
}

func TestButtonsStayWithinWhatSlackTakes(t *testing.T) {
	t.Parallel()
	var many []chat.Button
	for range 60 {
		many = append(many, chat.Button{Label: strings.Repeat("é", 100), Token: strings.Repeat("t", 40),
			Asks: strings.Repeat("why ", 1000)})
	}
	many = append(many, chat.Button{Word: "deny"})
	_, labels := read(t, sent(t, nil, many))
	if len(labels) != 61 || !strings.Contains(labels[0], strings.Repeat("é", 74)+ellipsis) || !strings.Contains(labels[60], `"deny"`) {
		t.Errorf("there are %d: %q", len(labels), labels)
	}
	if value := valueOf(many[0]); chat.Units(value) > 2000 || !strings.HasPrefix(value, many[0].Token+" why why") {
		t.Errorf("a value is %q", value)
	}
}
