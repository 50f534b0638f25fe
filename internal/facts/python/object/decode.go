package object

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

// DecodedText is a text decoded; false where the encoding is not known or the text is none of its.
func DecodedText(v Object, encoding string) (string, bool) {
	if v.Shape != IsString || !Literal(v.Text) {
		return "", false
	}
	switch encoding {
	case "base64", "base_64":
		return unbase64(v.Text)
	case "base32":
		b, err := base32.StdEncoding.DecodeString(strings.TrimSpace(v.Text))
		return string(b), err == nil
	case "hex", "hex_codec":
		return unhex(v.Text)
	case "rot13", "rot_13":
		return strings.Map(rot13, v.Text), true
	case "percent":
		text, err := url.QueryUnescape(v.Text)
		return text, err == nil
	case "utf_8", "utf8", "ascii", "latin_1", "latin1":
		return v.Text, true
	case "zlib", "zip", "zlib_codec", "gzip", "bz2":
		return inflate(encoding, v.Text)
	case "unicode_escape", "string_escape":
		return syntax.Unescape(v.Text), true
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
