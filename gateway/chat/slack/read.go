package slack

import "strings"

var unescaped = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")

// typedText returns the text that a person typed, without the mentions of the bot, and whether
// there were any.
//
// Slack escapes &, < and >, and writes people, channels, groups and addresses between < and
// >. If one has a label, the label is what was typed.
func typedText(text, bot string) (said string, mentioned bool) {
	var b strings.Builder
	for text != "" {
		plain, rest, found := strings.Cut(text, "<")
		thing, after, closed := strings.Cut(rest, ">")
		if !found || !closed {
			b.WriteString(unescaped.Replace(text))
			break
		}
		b.WriteString(unescaped.Replace(plain))
		text = after
		if id, _, _ := strings.Cut(thing, "|"); id != "@"+bot || bot == "" {
			b.WriteString(unescaped.Replace(shownAs(thing)))
			continue
		}
		mentioned = true
		if strings.TrimSpace(b.String()) == "" { // "@bailiff: ls" is no command named ":"
			text = strings.TrimLeft(text, ":,")
		}
	}
	return strings.TrimSpace(b.String()), mentioned
}

// shownAs is the text that was typed for an item between < and >.
func shownAs(thing string) string {
	if thing == "" {
		return "<>"
	}
	id, label, _ := strings.Cut(thing[1:], "|")
	switch thing[0] {
	case '@', '#':
		if label == "" {
			label = id
		}
		return thing[:1] + label
	case '!':
		return mentionText(id, label)
	}
	target, label, labelled := strings.Cut(thing, "|")
	if labelled && label != "" {
		return label
	}
	return target
}

// mentionText is the text that was typed for a group, for all members, or for a time.
func mentionText(id, label string) string {
	kind, name, _ := strings.Cut(id, "^")
	switch {
	case kind == "date":
		return label
	case label != "":
		return "@" + strings.TrimPrefix(label, "@")
	case kind == "subteam":
		return "@" + name
	}
	return "@" + kind
}
