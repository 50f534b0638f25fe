package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/bailiff-dev/bailiff/api"
)

// Contents is everything that a store held when it was opened.
type Contents struct {
	Items   []*Item
	Grants  []*Held
	Freezes []Freeze
	Numbers []uint64
	Events  []api.Event
}

// State builds the indexes.
func (c *Contents) State(last uint64) *State {
	s := New()
	s.Apply(Step{Items: c.Items, Grants: c.Grants, Frozen: c.Freezes})
	slices.SortStableFunc(s.resolved, func(x, y *Item) int { return x.Entry.Resolved.Compare(y.Entry.Resolved) })
	s.seq = last
	return s
}

// Strict reads one document that has no field which is not known.
func Strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("it holds more than one document")
	}
	return nil
}
