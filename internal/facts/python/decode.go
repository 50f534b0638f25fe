package python

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// decode is a text from an encoding, as far as it is known.
func (w *walk) decode(d behaviour, c *call) objects {
	encoding := d.name
	if encoding == "" {
		second, _ := c.arg(1, "encoding")
		encoding, _ = second.only()
		encoding = strings.ReplaceAll(strings.ToLower(encoding), "-", "_")
	}
	input, _ := c.arg(0, "s")
	var out objects
	for _, v := range input {
		t := v.Taint.With(value.Taint{Decoded: encoding != "percent"})
		if text, ok := decodedText(v, encoding); ok {
			out = out.with(objects{{shape: isString, text: unmarked(text), Taint: t}})
			continue
		}
		out = out.with(hidden("decoded", t))
	}
	w.noteTexts(out)
	return out
}

func decodedText(v object, encoding string) (string, bool) {
	if v.shape != isString || !literal(v.text) {
		return "", false
	}
	switch encoding {
	case "base64", "base_64":
		return unbase64(v.text)
	case "base32":
		b, err := base32.StdEncoding.DecodeString(strings.TrimSpace(v.text))
		return string(b), err == nil
	case "hex", "hex_codec":
		return unhex(v.text)
	case "rot13", "rot_13":
		return strings.Map(rot13, v.text), true
	case "percent":
		text, err := url.QueryUnescape(v.text)
		return text, err == nil
	case "utf_8", "utf8", "ascii", "latin_1", "latin1":
		return v.text, true
	case "zlib", "zip", "zlib_codec", "gzip", "bz2":
		return inflate(encoding, v.text)
	case "unicode_escape", "string_escape":
		return syntax.Unescape(v.text), true
	}
	return "", false
}

// unhex decodes hexadecimal digits with white space between bytes.
func unhex(s string) (string, bool) {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	return string(b), err == nil
}

func unbase64(s string) (string, bool) {
	s = strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "", "=", "").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}

func rot13(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a' + (c-'a'+13)%26
	case c >= 'A' && c <= 'Z':
		return 'A' + (c-'A'+13)%26
	}
	return c
}

// inflate decompresses a text that stays small.
func inflate(format, s string) (string, bool) {
	var from io.Reader
	var err error
	switch format {
	case "gzip":
		from, err = gzip.NewReader(strings.NewReader(s))
	case "bz2":
		from = bzip2.NewReader(strings.NewReader(s))
	default:
		from, err = zlib.NewReader(strings.NewReader(s))
	}
	if err != nil {
		return "", false
	}
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(from, value.MaxValue+1))
	return b.String(), err == nil && n <= value.MaxValue
}
