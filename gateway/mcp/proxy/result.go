package proxy

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// toolError is the result of a tool that failed.
func toolError(text string) jsontext.Value {
	return jsonOf(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": true})
}

// isError says whether a result is that of a tool that failed.
func isError(result jsontext.Value) bool {
	var says struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(result, &says) == nil && says.IsError
}

// cut is a fault with a short message, and without data.
func (f *fault) cut() *fault {
	if f == nil {
		return nil
	}
	return &fault{Code: f.Code, Message: bailiff.Beginning(f.Message, longestFault)}
}

// longestFault bounds the message of a fault, in bytes.
const longestFault = 4000

// cutResult is a result of so many bytes at most, give or take what says that something was left
// out. Of a tool's result the texts are cut, and other parts left out that do not fit any more;
// any other that has more is refused.
func cutResult(result jsontext.Value, most int) (jsontext.Value, *fault) {
	if len(result) <= most {
		return result, nil
	}
	var of map[string]jsontext.Value
	var content []map[string]jsontext.Value
	if json.Unmarshal(result, &of) != nil || json.Unmarshal(of["content"], &content) != nil {
		return nil, faultOf(codeRefused, "The server's answer has %d bytes, and limits.output_bytes of the policies allows %d.",
			len(result), most)
	}
	structured := of["structuredContent"]
	if len(structured) > most {
		return toolError(fmt.Sprintf("The result has %d bytes of structured content, and limits.output_bytes of the policies "+
			"allows %d: ask for less.", len(structured), most)), nil
	}
	left := room(most - len(structured))
	kept := []any{}
	for at, part := range content {
		if at == maxParts {
			kept = append(kept, textPart(fmt.Sprintf("[%d parts of the result were left out]", len(content)-at)))
			break
		}
		kept = append(kept, left.fit(part))
	}
	cut := map[string]any{"content": kept}
	if isError(result) {
		cut["isError"] = true
	}
	if len(structured) > 0 {
		cut["structuredContent"] = structured
	}
	return jsonOf(cut), nil
}

// maxParts bounds the parts of a result that is too large.
const maxParts = 100

// room is how many bytes are left for the parts of a result.
type room int

// fit is a part of a result, cut to what is left.
func (r *room) fit(part map[string]jsontext.Value) any {
	var kind, text string
	if json.Unmarshal(part["type"], &kind) != nil {
		return textPart("[a part of the result cannot be read and was left out]")
	}
	if kind == "text" && json.Unmarshal(part["text"], &text) == nil {
		return textPart(r.cut(text))
	}
	size := 0
	for name, value := range part {
		size += len(name) + len(value)
	}
	if size > int(*r) {
		return textPart(fmt.Sprintf("[%s of %d bytes was left out: limits.output_bytes of the policies leaves %d]",
			bailiff.Beginning(kind, 40), size, *r))
	}
	*r -= room(size)
	return part
}

func textPart(text string) any { return map[string]any{"type": "text", "text": text} }

// cut is the beginning and the end of a text, as much as is left.
func (r *room) cut(text string) string {
	most := int(*r)
	*r -= room(min(len(text), most))
	if len(text) <= most {
		return text
	}
	head := most * 2 / 5
	return strings.ToValidUTF8(text[:head], "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(text)-most) +
		strings.ToValidUTF8(text[len(text)-(most-head):], "")
}
