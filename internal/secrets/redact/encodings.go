package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encodings are all recognised forms of a value, without repeats.
func encodings(value string) []string {
	forms := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))}
	forms = append(forms, inBase64(value)...)
	forms = append(forms, inURL(value)...)
	forms = append(forms, inJSON(value)...)
	slices.Sort(forms)
	return slices.Compact(forms)
}

// inBase64 is what stays the same of a value's base64 whatever stands around
// it, for the three places within a group that it can begin at, and the fuller
// forms that it has at the end of a text.
func inBase64(value string) []string {
	var forms []string
	for lead := range 3 {
		text := append(make([]byte, lead), value...)
		skip := (lead*8 + 5) / 6 // characters that also hold bits of what comes before
		whole := len(text) * 8 / 6
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			padded := alphabet.EncodeToString(text)
			bare := strings.TrimRight(padded, "=")
			forms = append(forms, padded[skip:], bare[skip:], bare[skip:whole])
		}
	}
	return forms
}

// inURL is how the usual encoders put a value into a URL: they differ in the
// characters that they leave alone and in how they write a space.
func inURL(value string) []string {
	var forms []string
	for _, form := range []string{
		url.QueryEscape(value), url.PathEscape(value),
		percent(value, ""), percent(value, "/"), percent(value, "!'()*"), percent(value, ";/?:@&=+$,#!'()*"),
	} {
		forms = append(forms, form, lowerEscapes(form))
	}
	return append(forms, everyByte(value, "%%%02X"), everyByte(value, "%%%02x"))
}

// everyByte writes each byte of a value in the same way.
func everyByte(value, as string) string {
	var b strings.Builder
	for i := range len(value) {
		fmt.Fprintf(&b, as, value[i])
	}
	return b.String()
}

// everyUnit writes each unit of a value's UTF-16 in the same way.
func everyUnit(value, as string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(value)) {
		fmt.Fprintf(&b, as, unit)
	}
	return b.String()
}

// percent escapes every byte but RFC 3986's unreserved ones and those of safe.
func percent(value, safe string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~"+safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// lowerEscapes spells "%2F" as "%2f".
func lowerEscapes(form string) string {
	out := []byte(form)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// inJSON is how the usual encoders write a value within a JSON string.
func inJSON(value string) []string {
	strict, _ := json.Marshal(value) // a string cannot fail
	var relaxed bytes.Buffer
	encoder := json.NewEncoder(&relaxed)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	plain := unquote(relaxed.String())
	return []string{
		unquote(string(strict)), plain, asciiOnly(plain),
		strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(asciiOnly(plain), "/", `\/`),
		everyUnit(value, `\u%04x`), everyUnit(value, `\u%04X`),
	}
}

func unquote(quoted string) string { return strings.Trim(strings.TrimSuffix(quoted, "\n"), `"`) }

func asciiOnly(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case high != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
