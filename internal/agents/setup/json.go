package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// object is a JSON object whose entries keep their order, and whose values stay as written.
type object []entry

type entry struct {
	key   string
	value json.RawMessage
}

// readObject reads a JSON object; a text that says nothing is an empty one.
func readObject(text []byte) (object, error) {
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
	var o object
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		_ = decoder.Decode(&value)
		o = append(o, entry{key.(string), value}) // the keys of objects are texts
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

func (o object) get(key string) json.RawMessage {
	if i := o.index(key); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o object) index(key string) int {
	return slices.IndexFunc(o, func(e entry) bool { return e.key == key })
}

// set writes a value over the one that is there, or behind all others.
func (o *object) set(key string, value any) {
	raw, ok := value.(json.RawMessage)
	if !ok {
		raw = encoded(value)
	}
	if i := o.index(key); i >= 0 {
		(*o)[i].value = raw
		return
	}
	*o = append(*o, entry{key, raw})
}

func (o *object) remove(key string) {
	*o = slices.DeleteFunc(*o, func(e entry) bool { return e.key == key })
}

// MarshalJSON writes the entries in their order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, e := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, encoded(e.key)...), ':'), e.value...)
	}
	return append(text, '}'), nil
}

// text is the object as a file.
func (o object) text() string {
	var text bytes.Buffer
	if err := json.Indent(&text, encoded(o), "", "  "); err != nil {
		panic(err) // it was encoded before
	}
	return text.String() + "\n"
}

// encoded is a value as JSON, its texts as people write them.
func encoded(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // texts, lists and objects can be encoded
	}
	return bytes.TrimSpace(text.Bytes())
}
