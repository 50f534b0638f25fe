package matrix

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/gateway/chat"
)

// question is a message that can be answered; without answers it is any other message.
type question struct {
	ref     chat.Ref
	answers []answer
	// over says that it shows none of them any more.
	over bool
}

// answer is the part of a button that is needed to recognise an answer.
type answer struct {
	Word string `json:"word"`
	Sign string `json:"sign,omitempty"`
	// Yes says that it lets something happen.
	Yes bool `json:"yes,omitempty"`
}

func answersOf(buttons []chat.Button) (all []answer) {
	for _, b := range buttons {
		if b.Word != "" {
			all = append(all, answer{b.Word, b.Sign, b.Yes})
		}
	}
	return all
}

// bySign is the word of the answer that has a sign.
func (q question) bySign(sign string) (word string, is bool) {
	for _, a := range q.answers {
		if a.Sign != "" && withoutVariation(a.Sign) == withoutVariation(sign) {
			return a.Word, true
		}
	}
	return "", false
}

// withoutVariation is a sign without its variation selectors.
func withoutVariation(sign string) string {
	return strings.Map(func(c rune) rune {
		if c == '\ufe0e' || c == '\ufe0f' {
			return -1
		}
		return c
	}, sign)
}

// byWords is the answer that a person wrote, and the reason that they wrote with it: the
// longest word that the text begins with counts, so that "approve session" is not
// "approve" for a reason. What goes on otherwise than by "because" is no yes, since
// "approve? Never!" is none.
func (q question) byWords(text string) (word, reason string, is bool) {
	text = strings.TrimSpace(text)
	for _, a := range q.answers {
		rest, begins := afterWord(text, a.Word)
		if !begins || is && len(a.Word) <= len(word) {
			continue
		}
		given, because := reasonOf(rest)
		if given == "" || because || !a.Yes {
			word, reason, is = a.Word, given, true
		}
	}
	return word, reason, is
}

// byTerms is the yes that a person wrote and how long or how often it holds, as "session for 2h".
func (q question) byTerms(text string) (word, terms string, is bool) {
	text = strings.TrimSpace(text)
	for _, a := range q.answers {
		rest, begins := afterWord(text, a.Word)
		if _, _, are := chat.ReadTerms(rest); begins && a.Yes && are {
			return a.Word, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// afterWord is what follows a word at the beginning of a text, in letters of either case.
func afterWord(text, word string) (rest string, begins bool) {
	if word == "" || len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return "", false
	}
	rest = text[len(word):]
	next, _ := utf8.DecodeRuneInString(rest)
	return rest, rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '_'
}

// reasonOf is what was written behind a word, without what only ties it to that, and
// whether "because" does.
func reasonOf(rest string) (reason string, because bool) {
	rest = strings.TrimLeftFunc(rest, isSeparator)
	if why, given := afterWord(rest, "because"); given {
		rest, because = strings.TrimLeftFunc(why, isSeparator), true
	}
	return strings.TrimSpace(rest), because
}

func isSeparator(c rune) bool {
	return unicode.IsSpace(c) || strings.ContainsRune(":,;.!-–—", c)
}
