package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Object is a JSON object whose entries keep their order, and whose values stay as written.
type Object []Pair

// Pair is an entry of an object.
type Pair struct {
	Key   string
	Value json.RawMessage
}

// ReadObject reads a JSON object; a text that says nothing is an empty one.
func ReadObject(text []byte) (Object, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if err := faultOf(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text)) // of a text that is JSON, so that it has no errors
	if token, _ := decoder.Token(); token != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	var o Object
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		_ = decoder.Decode(&value)
		o = append(o, Pair{key.(string), value}) // the keys of objects are texts
	}
	return o, nil
}

// faultOf says in which line a text is no JSON; nil if it is.
func faultOf(text []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(text, &value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		read := text[:min(int(syntax.Offset), len(text))]
		return fmt.Errorf("line %d is no JSON, in which there are no comments: %w", 1+bytes.Count(read, []byte("\n")), err)
	}
	return err
}

func (o Object) Get(key string) json.RawMessage {
	if i := o.Index(key); i >= 0 {
		return o[i].Value
	}
	return nil
}

func (o Object) Index(key string) int {
	return slices.IndexFunc(o, func(e Pair) bool { return e.Key == key })
}

// Set writes a value over the one that is there, or behind all others.
func (o *Object) Set(key string, value any) {
	raw, ok := value.(json.RawMessage)
	if !ok {
		raw = JSON(value)
	}
	if i := o.Index(key); i >= 0 {
		(*o)[i].Value = raw
		return
	}
	*o = append(*o, Pair{key, raw})
}

func (o *Object) Remove(key string) {
	*o = slices.DeleteFunc(*o, func(e Pair) bool { return e.Key == key })
}

// MarshalJSON writes the entries in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, e := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, JSON(e.Key)...), ':'), e.Value...)
	}
	return append(text, '}'), nil
}

// Text is the Object as a file.
func (o Object) Text() string {
	var text bytes.Buffer
	if err := json.Indent(&text, JSON(o), "", "  "); err != nil {
		panic(err) // it was encoded before
	}
	return text.String() + "\n"
}

// JSON is a value as JSON, its texts as people write them.
func JSON(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // texts, lists and objects can be encoded
	}
	return bytes.TrimSpace(text.Bytes())
}
