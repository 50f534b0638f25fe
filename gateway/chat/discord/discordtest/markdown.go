package discordtest

import (
	"regexp"
	"strings"
)

// Span is a part of a message as Discord's clients show it.
type Span struct {
	// Kind is text, strong, code or block, or what else Discord makes of what is written:
	// emphasis, underline, strike, spoiler, heading, subtext, quote, list, link, invite,
	// emoji, mention, everyone, timestamp, command.
	Kind string
	Text string
}

// Parse reads a message as Discord's clients do.
func Parse(content string) []Span {
	p := parser{rest: content}
	p.parse("text")
	return p.spans
}

// Plain is what a message says. Lines of blocks are lines of it.
func Plain(content string) string {
	var all strings.Builder
	for _, s := range Parse(content) {
		all.WriteString(s.Text)
	}
	return all.String()
}

type parser struct {
	spans []Span
	done  string // what is read already, for what must begin a line
	rest  string
}

func (p *parser) add(kind, text string) {
	if n := len(p.spans); n > 0 && p.spans[n-1].Kind == kind && kind == "text" {
		p.spans[n-1].Text += text
		return
	}
	p.spans = append(p.spans, Span{kind, text})
}

func (p *parser) skip(n int) {
	p.done += p.rest[:n]
	p.rest = p.rest[n:]
}

var (
	block  = regexp.MustCompile("(?is)^```(?:([a-z0-9_+\\-.#]+?)\n)?\n*([^\n].*?)\n*```")
	escape = regexp.MustCompile(`^\\([^0-9A-Za-z\s])`)
	emoji  = regexp.MustCompile(`^:([^\s:]+?):`)
	angle  = regexp.MustCompile(`^<(?:(@[!&]?\d+|@everyone|#\d+)|(t:-?\d+(?::[tTdDfFR])?)|(a?:\w+:\d+)|(/[^>\n]+:\d+)|(id:\w+)|` +
		`((?:https?|steam)://[^\s>]+|mailto:[^\s>]+|[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+|\+\d+)|(sound:\d+:\d+))>`)
	link    = regexp.MustCompile(`^\[(?:[^\[\]]|\\.)*\]\(\s*<?(?:[^\s\\]|\\.)+?>?(?:\s+['"].*?['"])?\s*\)`)
	address = regexp.MustCompile(`^(?:https?|steam)://[^\s<]+[^<.,:;"'\]\s]`)
	invite  = regexp.MustCompile(`(?i)^(?:discord\.gg|discord\.new|discord(?:app)?\.com/(?:invite|template|channels))/[\w-]+`)
	begins  = map[string]*regexp.Regexp{
		"heading": regexp.MustCompile(`^[ \t]*#{1,3}[ \t]+[^\n]+`),
		"subtext": regexp.MustCompile(`^[ \t]*-#[ \t]+[^\n]+`),
		"quote":   regexp.MustCompile(`^[ \t]*>(?:>>)?[ \t]`),
		"list":    regexp.MustCompile(`^[ \t]*(?:[*+-]|\d+\.)[ \t]+`),
	}
	// around are the pairs of signs between which something is shown otherwise.
	around = []struct{ kind, mark string }{
		{"strong", "**"}, {"underline", "__"}, {"strike", "~~"}, {"spoiler", "||"}, {"emphasis", "*"}, {"emphasis", "_"},
	}
)

// parse reads what is left as of a kind.
func (p *parser) parse(kind string) {
	for p.rest != "" {
		if p.beginsLine() || p.code() || p.escaped(kind) || p.special() || p.paired() {
			continue
		}
		n := 1
		for n < len(p.rest) && p.rest[n]&0xc0 == 0x80 {
			n++
		}
		p.add(kind, p.rest[:n])
		p.skip(n)
	}
}

func (p *parser) beginsLine() bool {
	if p.done != "" && !strings.HasSuffix(p.done, "\n") {
		return false
	}
	for kind, begin := range begins {
		if m := begin.FindString(p.rest); m != "" {
			p.add(kind, m)
			p.skip(len(m))
			return true
		}
	}
	return false
}

// code reads blocks and what stands between as many back quotes on both sides.
func (p *parser) code() bool {
	if m := block.FindStringSubmatch(p.rest); m != nil {
		p.add("block", m[2])
		p.skip(len(m[0]))
		return true
	}
	ticks := len(p.rest) - len(strings.TrimLeft(p.rest, "`"))
	if ticks == 0 {
		return false
	}
	for n := ticks; n >= 1; n-- { // as a regular expression would give up some of them
		for end := n; end < len(p.rest); {
			at := strings.Index(p.rest[end:], "`")
			if at < 0 {
				break
			}
			run := len(p.rest[end+at:]) - len(strings.TrimLeft(p.rest[end+at:], "`"))
			if run == n && end+at > n {
				p.add("code", p.rest[n:end+at])
				p.skip(end + at + n)
				return true
			}
			end += at + run
		}
	}
	return false
}

func (p *parser) escaped(kind string) bool {
	m := escape.FindStringSubmatch(p.rest)
	if m == nil {
		return false
	}
	p.add(kind, m[1])
	p.skip(len(m[0]))
	return true
}

// special reads mentions, timestamps, emoji, commands, links and what is made one.
func (p *parser) special() bool {
	if m := angle.FindStringSubmatch(p.rest); m != nil {
		for i, kind := range []string{"mention", "timestamp", "emoji", "command", "mention", "link", "emoji"} {
			if m[i+1] != "" {
				p.add(kind, m[0])
			}
		}
		p.skip(len(m[0]))
		return true
	}
	for _, s := range []struct {
		kind string
		is   *regexp.Regexp
	}{{"link", link}, {"link", address}, {"invite", invite}, {"emoji", emoji}} {
		if m := s.is.FindString(p.rest); m != "" {
			p.add(s.kind, m)
			p.skip(len(m))
			return true
		}
	}
	for _, all := range []string{"@everyone", "@here"} {
		if strings.HasPrefix(p.rest, all) {
			p.add("everyone", all)
			p.skip(len(all))
			return true
		}
	}
	return false
}

func (p *parser) paired() bool {
	for _, a := range around {
		if !strings.HasPrefix(p.rest, a.mark) {
			continue
		}
		if inner, whole := between(p.rest, a.mark); inner != "" {
			in := parser{done: p.done + a.mark, rest: inner}
			in.parse(a.kind)
			p.spans = append(p.spans, in.spans...)
			p.skip(whole)
			return true
		}
	}
	return false
}

// between is what stands between two marks that are not escaped, and the length of all of it.
func between(text, mark string) (inner string, whole int) {
	for i := len(mark); i < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		end := i + len(mark)
		if i > len(mark) && strings.HasPrefix(text[i:], mark) && !strings.HasPrefix(text[end:], mark[:1]) {
			return text[len(mark):i], end
		}
	}
	return "", 0
}
