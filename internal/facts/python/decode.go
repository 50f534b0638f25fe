package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// decode is a text from an encoding, as far as it is known.
func (w *walk) decode(d library.Behaviour, c *object.Call) object.Objects {
	encoding := d.Name
	if encoding == "" {
		second, _ := c.Arg(1, "encoding")
		encoding, _ = second.Only()
		encoding = strings.ReplaceAll(strings.ToLower(encoding), "-", "_")
	}
	input, _ := c.Arg(0, "s")
	var out object.Objects
	for _, v := range input {
		t := v.Taint.With(value.Taint{Decoded: encoding != "percent"})
		if text, ok := object.DecodedText(v, encoding); ok {
			out = out.With(object.Objects{{Shape: object.IsString, Text: object.Unmarked(text), Taint: t}})
			continue
		}
		out = out.With(object.Hidden("decoded", t))
	}
	w.noteTexts(out)
	return out
}
