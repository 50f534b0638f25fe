package discord

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/discord/discordtest"
)

func TestTextIsWrittenSoThatItShowsAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text chat.Text
		want string
	}{
		"words":                  {plain("May ana run this? Yes, in 5 minutes."), "May ana run this? Yes, in 5 minutes."},
		"emphasis":               {plain("*a* _b_ ~~c~~ ||d||"), `\*a\* \_b\_ \~\~c\~\~ \|\|d\|\|`},
		"mentions":               {plain("<@1> <@&2> <#3> @everyone"), `\<\@1\> \<\@&2\> \<\#3\> \@everyone`},
		"a timestamp":            {plain("<t:1700000000:R>"), `\<t\:1700000000\:R\>`},
		"links":                  {plain("https://a.b [x](https://c.d) discord.gg/e"), `https\://a\.b \[x](https\://c\.d) discord\.gg/e`},
		"a heading":              {plain("# a\n-# b"), "\\# a\n\\-\\# b"},
		"lists":                  {plain("- a\n1. b\n c-d 1.5"), "\\- a\n1\\. b\n c-d 1\\.5"},
		"a quote":                {plain("> a"), `\> a`},
		"a fence":                {plain("```\nx\n```"), "\\`\\`\\`\nx\n\\`\\`\\`"},
		"strong":                 {chat.Text{{Style: chat.Strong, Text: "a*b"}}, `**a\*b**`},
		"strong lines":           {chat.Text{{Style: chat.Strong, Text: "a \n\n b"}}, "**a** \n\n **b**"},
		"code":                   {chat.Text{{Style: chat.Code, Text: "*a* \\"}}, "`*a* \\`"},
		"code with a back quote": {chat.Text{{Style: chat.Code, Text: "a`*b*"}}, "a\\`\\*b\\*"},
		"code beside code":       {chat.Text{{Style: chat.Code, Text: "a"}, {Style: chat.Code, Text: "b"}}, "`ab`"},
		"a block": {chat.Text{{Text: "It runs: "}, {Style: chat.Block, Text: "rm -rf /\n*x*"}, {Text: "on *this*"}},
			"It runs: \n```\nrm -rf /\n*x*\n```\non \\*this\\*"},
		"a block with a fence":     {chat.Text{{Style: chat.Block, Text: "a\n```\nb"}}, "```\na\n`\u200b``\nb\n```"},
		"blocks beside each other": {chat.Text{{Style: chat.Block, Text: "a"}, {Style: chat.Block, Text: "b"}}, "```\na\n```\n```\nb\n```"},
		"a block between": {chat.Text{{Style: chat.Strong, Text: "a"}, {Style: chat.Block, Text: " "},
			{Style: chat.Strong, Text: "b"}}, "**ab**"},
		"an empty block":      {chat.Text{{Text: "a"}, {Style: chat.Block, Text: "\n"}, {Text: "b"}}, "ab"},
		"what moves a cursor": {plain("a\x1b[2J\r\nb\x00\x7f\rc"), "a␛\\[2J\nb␀␡\nc"},
		"half a character":    {plain("a\xff"), "a\ufffd"},
		"nothing":             {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := render(c.text); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsTooLongIsCutWhereTheTextIs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]chat.Text{
		"words":        plain(strings.Repeat("word ", 1000)),
		"signs":        plain(strings.Repeat("*", 1999)),
		"emoji":        plain(strings.Repeat("😀", 1001)),
		"strong":       {{Style: chat.Strong, Text: strings.Repeat("a*", 1500)}},
		"a block":      {{Text: "Runs:"}, {Style: chat.Block, Text: strings.Repeat("``` x\n", 800)}, {Text: "in docker"}},
		"blank lines":  plain("a" + strings.Repeat("\n", 5000) + "b"),
		"a great deal": plain(strings.Repeat("word ", 1_000_000)),
	} {
		t.Run(name, func(t *testing.T) {
			got := fit(text, messageLength)
			if n := chat.Units(got); n > messageLength || n < messageLength/2 && name != "blank lines" {
				t.Errorf("it has %d characters", n)
			}
			if !strings.HasSuffix(got, "…") {
				t.Errorf("it ends in %q", got[len(got)-20:])
			}
			for _, s := range discordtest.Parse(got) {
				if !slices.Contains(meant, s.Kind) {
					t.Errorf("%q shows as %s", s.Text, s.Kind)
				}
			}
		})
	}
	just := strings.Repeat("a", messageLength)
	if got := fit(plain(just), messageLength); got != just {
		t.Errorf("what fits became %d characters", chat.Units(got))
	}
}

// meant are the ways in which a text of pieces may show.
var meant = []string{"text", "strong", "code", "block"}

func FuzzEveryTextShowsAsItIs(f *testing.F) {
	for _, seed := range []string{
		"", "a", "*a*", "**a**\x00*", "_a_b_", "__a__", "~~a~~", "||a||", "`a`", "``a``", "```a```", "```sh\na\n```", "\\", "\\*a*",
		"a\\\x00`b`", "`\x00`\x00`",
		"<@1>", "<@!1>", "<@&1>", "<#1>", "<t:1:R>", "<:a:1>", "<a:b:1>", "</a:1>", "<id:home>", "@everyone", "@here", ":smile:", "1:2:3",
		"https://a.b", "<https://a.b>", "[a](https://b.c)", "[a](<b>)", "discord.gg/a", "discord\x00.gg/a", "mailto:a@b.c", "<a@b.c>",
		"steam://a",
		"# a", "## a\n### b", "-# a", "- a", "+ a", "* a", "1. a", " 1. a", "1\x00. a", "> a", ">>> a\nb", "\n# a", "a\x00# b",
		"a\n\x00- b",
		"¯\\_(ツ)_/¯", "a\u2028# b", "\u00a0- a", "٣. a", "\r# a", "a\x1b[0m", "\u200b", "`\u200b`\u200b`", "🙂*🙂*", " a ", "\n\n",
		"``",
		"a```b```c", "***a***", "*_a_*",
	} {
		for style := range byte(4) {
			f.Add(seed, []byte{style, (style + 1) % 4, 0})
		}
	}
	f.Fuzz(func(t *testing.T, text string, styles []byte) {
		var all chat.Text
		for n, part := range strings.Split(text, "\x00") {
			style := chat.Plain
			if len(styles) > 0 {
				style = chat.Style(styles[n%len(styles)] % 4)
			}
			all = append(all, chat.Piece{Style: style, Text: part})
		}
		source := render(all)
		for _, s := range discordtest.Parse(source) {
			if !slices.Contains(meant, s.Kind) {
				t.Errorf("%q shows as %s in %q of %+v", s.Text, s.Kind, source, all)
			}
		}
		if got, want := visible(discordtest.Plain(source)), visible(asked(all)); got != want {
			t.Errorf("%+v is written as %q, and shows as\n%q, want\n%q", all, source, got, want)
		}
		if cut := fit(all, 60); chat.Units(cut) > 60 {
			t.Errorf("%+v became %q", all, cut)
		}
	})
}

// asked is what people are to read.
func asked(text chat.Text) string {
	var all strings.Builder
	for _, p := range text {
		if p.Style == chat.Block && strings.TrimSpace(clean(p.Text)) != "" {
			p.Text = "\n" + p.Text + "\n"
		} else if p.Style == chat.Block {
			p.Text = ""
		}
		all.WriteString(clean(p.Text))
	}
	return all.String()
}

var lines = regexp.MustCompile(`\n+`)

// visible is a text but for what nobody sees: how many lines are empty, and what keeps back
// quotes apart.
func visible(text string) string {
	return strings.TrimSpace(lines.ReplaceAllString(strings.ReplaceAll(text, apart, ""), "\n"))
}
