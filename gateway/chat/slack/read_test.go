package slack

import (
	"regexp"
	"strings"
	"testing"
)

func TestWhatSlackMadeOfATextIsUndone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ls -l":                                                 "ls -l",
		"a &amp;&amp; b &lt; c &gt; d":                          "a && b < c > d",
		"echo &amp;lt;":                                         "echo &lt;",
		"curl <http://x.test/a?b=1&amp;c=2>":                    "curl http://x.test/a?b=1&c=2",
		"ping <http://x.test|x.test>":                           "ping x.test",
		"see <https://x.test/%7C|a label> there":                "see a label there",
		"mail <mailto:a@b.test|a@b.test>":                       "mail a@b.test",
		"ask <@U2>, <@U3|ben>":                                  "ask @U2, @ben",
		"in <#C1|general> or <#C2> or <#C3|>":                   "in #general or #C2 or #C3",
		"<!here> <!channel> <!everyone|everyone> <!here|@here>": "@here @channel @everyone @here",
		"<!subteam^S1|@ops> <!subteam^S2>":                      "@ops @S2",
		"at <!date^1392734382^{date}|noon>":                     "at noon",
		"*bold* _it_ ~no~ `code`":                               "*bold* _it_ ~no~ `code`",
		"```\nfor i in *; do echo $i &gt; /dev/null; done\n```": "```\nfor i in *; do echo $i > /dev/null; done\n```",
		"“smart” ‘quotes’ — and …":                              "“smart” ‘quotes’ — and …",
		"a < b":                                                 "a < b",
		"<>":                                                    "<>",
		"  spaces  ":                                            "spaces",
		"<http://x.test|>":                                      "http://x.test",
		"echo <http://evil.test/&lt;!channel&gt;|&lt;!channel&gt;>": "echo <!channel>",
	} {
		if got, mentioned := typedText(text, "UB"); got != want || mentioned {
			t.Errorf("%q was %q, %v, want %q", text, got, mentioned, want)
		}
	}
}

func TestTheMentionOfTheBotIsTakenOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<@UB> ls":                "ls",
		"<@UB>: ls":               "ls",
		"<@UB>, ls":               "ls",
		"  <@UB|bailiff> ls -l  ": "ls -l",
		"<@UB>\n```\nls\n```":     "```\nls\n```",
		"ls <@UB>":                "ls",
		"please <@UB>: ls":        "please : ls",
		"<@UB> <@UB> ls":          "ls",
		"<@UB>":                   "",
		"<@UB> : ls":              ": ls",
	} {
		if got, mentioned := typedText(text, "UB"); got != want || !mentioned {
			t.Errorf("%q was %q, %v, want %q", text, got, mentioned, want)
		}
	}
	if got, mentioned := typedText("<@U2> ls", ""); mentioned || got != "@U2 ls" {
		t.Errorf("by nobody it was %q, %v", got, mentioned)
	}
}

func TestAnAnswerToACommandGoesToSlackOnly(t *testing.T) {
	t.Parallel()
	s := &Slack{cfg: Config{URL: "https://slack.com/api/"}}
	for address, want := range map[string]bool{
		"https://hooks.slack.com/commands/T1/2/3": true, "https://hooks.slack-gov.com/x": true, "https://slack.com/x": true,
		"http://hooks.slack.com/x": false, "https://slack.com.evil.test/": false, "https://evilslack.com/": false,
		"https://evil.test/slack.com":  false,
		"https://evil.test#.slack.com": false, "https://hooks.slack.com@evil.test/": false, "": false, "://": false,
		"file:///etc/passwd": false, "http://127.0.0.1/": false,
	} {
		if got := s.isSlack(address); got != want {
			t.Errorf("that %q is Slack's is %v", address, got)
		}
	}
	for address, want := range map[string]bool{"wss://wss-primary.slack.com/link?ticket=x": true, "ws://wss-primary.slack.com/link": false,
		"https://x/": false, "wss://": false, "": false} {
		if got := s.isSocket(address); got != want {
			t.Errorf("that %q is a socket's is %v", address, got)
		}
	}
}

var address = regexp.MustCompile(`https?://[^\s<>|]+`)

func FuzzWhatWasTypedIsRead(f *testing.F) {
	for _, s := range []string{"ls", "a && b > c", "&amp;", "<@UB>", "<!channel>", "echo '<'>x", "http://x.test/?a&b", "|", "\x00",
		"é\xff",
		"&lt;http://a|b&gt;"} {
		f.Add(s)
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.TrimSpace(s)
		for name, text := range map[string]string{
			"plain": escape.Replace(s), "linked": address.ReplaceAllString(escape.Replace(s), "<$0>"),
			"mentioning": "<@UB> " + escape.Replace(s),
		} {
			got, mentioned := typedText(text, "UB")
			if got != want || mentioned != (name == "mentioning") {
				t.Errorf("%s, %q was %q, %v", name, s, got, mentioned)
			}
		}
		typedText(s, "UB") // whatever comes
	})
}
