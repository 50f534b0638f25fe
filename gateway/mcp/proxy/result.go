package proxy

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// maxMedia bounds what a result holds besides texts: pictures, sounds, files, in bytes of JSON.
const maxMedia = 4 << 20

// toolError is the result of a tool that failed.
func toolError(text string) jsontext.Value {
	return written(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true})
}

// isError says whether a result is that of a tool that failed.
func isError(result jsontext.Value) bool {
	var says struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &says) == nil && says.IsError
}

// bounded is a fault with a short message.
func (f *fault) bounded() *fault {
	return &fault{Code: f.Code, Message: bailiff.Beginning(f.Message, 4000)}
}

// bounded is a result with so many bytes of text at most. Of a tool's result the texts are cut;
// any other that has more is refused.
func bounded(result jsontext.Value, most int) (jsontext.Value, *fault) {
	if len(result) <= most {
		return result, nil
	}
	var of map[string]jsontext.Value
	var content []map[string]jsontext.Value
	if json.Unmarshal(result, &of) != nil || json.Unmarshal(of["content"], &content) != nil {
		return nil, faulty(codeRefused, "The server's answer has %d bytes, and limits.output_bytes of the policies allows %d.",
			len(result), most)
	}
	b := bounds{texts: most, media: maxMedia}
	kept := []any{}
	for _, part := range content {
		kept = append(kept, b.fit(part))
	}
	cut := map[string]any{"content": kept}
	if isError(result) {
		cut["isError"] = true
	}
	if structured, has := of["structuredContent"]; has {
		if len(structured) <= b.texts {
			cut["structuredContent"] = structured
		} else {
			return toolError(fmt.Sprintf("The result has %d bytes of structured content, and limits.output_bytes of the policies "+
				"allows %d: ask for less.", len(structured), most)), nil
		}
	}
	return written(cut), nil
}

// bounds are what is left for the parts of a result.
type bounds struct{ texts, media int }

// fit is a part of a result, cut to what is left.
func (b *bounds) fit(part map[string]jsontext.Value) any {
	var kind, text string
	if json.Unmarshal(part["type"], &kind) != nil {
		return textPart("[a part of the result cannot be read and was left out]")
	}
	if kind == "text" && json.Unmarshal(part["text"], &text) == nil {
		return textPart(b.cut(text))
	}
	size := 0
	for _, value := range part {
		size += len(value)
	}
	if b.media -= size; b.media < 0 {
		return textPart(fmt.Sprintf("[%s of %d bytes was left out: the result is too large]", bailiff.Beginning(kind, 40), size))
	}
	return part
}

func textPart(text string) any { return map[string]any{"type": "text", "text": text} }

// cut is the beginning and the end of a text, as much as is left for texts.
func (b *bounds) cut(text string) string {
	if len(text) <= b.texts {
		b.texts -= len(text)
		return text
	}
	head := b.texts * 2 / 5
	tail := b.texts - head
	left := len(text) - b.texts
	b.texts = 0
	return strings.ToValidUTF8(text[:head], "") + fmt.Sprintf("\n[… %d bytes left out …]\n", left) +
		strings.ToValidUTF8(text[len(text)-tail:], "")
}
