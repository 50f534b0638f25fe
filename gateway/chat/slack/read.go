package slack

import "strings"

var unescaped = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")

// typed is what somebody typed, of what Slack made of it, without the mentions of a user,
// the bot; and whether there were any.
//
// Slack escapes &, < and >, and puts what it knows between < and >: people, channels,
// groups, addresses. Of these a label, if there is one, is what stood there.
func typed(text, bot string) (said string, mentioned bool) {
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

// shownAs is what stood in the place of something that Slack knows.
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
		return notified(id, label)
	}
	target, label, labelled := strings.Cut(thing, "|")
	if labelled && label != "" {
		return label
	}
	return target
}

// notified is what stood in the place of a group, of everybody, or of a time.
func notified(id, label string) string {
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
