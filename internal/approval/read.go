package approval

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff/api"
)

// contents is everything that a store held when it was opened.
type contents struct {
	items   []*item
	grants  []*held
	freezes []freeze
	numbers []uint64
	events  []api.Event
}

// state builds the indexes.
func (c *contents) state(last uint64) *state {
	s := newState()
	s.apply(step{items: c.items, grants: c.grants, frozen: c.freezes})
	slices.SortStableFunc(s.resolved, func(x, y *item) int { return x.Entry.Resolved.Compare(y.Entry.Resolved) })
	s.seq = last
	return s
}

// read reads every record and holds it against its checksum, and all of them
// against the seal.
func read(tx *bbolt.Tx) (*contents, seal, error) {
	s, err := readSeal(tx)
	if err != nil {
		return nil, s, err
	}
	c := &contents{}
	var sum uint64
	err = tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if b == nil {
			return fmt.Errorf("%q is a record outside of the buckets", name)
		}
		if bytes.Equal(name, sealBucket) {
			return nil
		}
		return b.ForEach(func(key, record []byte) error {
			text, err := verified(name, key, record)
			if err == nil {
				err = c.take(name, key, text)
			}
			if err != nil {
				return fmt.Errorf("record %x in %s: %w", key, name, err)
			}
			sum ^= sumOf(record)
			return nil
		})
	})
	if err == nil && sum != s.Sum {
		err = errors.New("records are missing, or are not the newest")
	}
	return c, s, err
}

func readSeal(tx *bbolt.Tx) (s seal, err error) {
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return s, fmt.Errorf("it holds no %s", name)
		}
	}
	text, err := verified(sealBucket, sealKey, tx.Bucket(sealBucket).Get(sealKey))
	if err != nil {
		return s, fmt.Errorf("the seal: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("the seal: %w", err)
	}
	if s.Schema != schema {
		return s, fmt.Errorf("it is of version %d, and this bailiff reads version %d", s.Schema, schema)
	}
	return s, nil
}

// verified returns a record's text if its checksum fits.
func verified(bucket, key, record []byte) ([]byte, error) {
	if len(record) < sumLength || checksum(bucket, key, record[sumLength:]) != sumOf(record) {
		return nil, errors.New("the checksum does not fit")
	}
	return record[sumLength:], nil
}

func (c *contents) take(bucket, key, text []byte) error {
	switch string(bucket) {
	case string(itemBucket):
		i := &item{}
		c.items = append(c.items, i)
		return strict(text, i)
	case string(claimBucket):
		return nil // its text is not needed before it is asked for
	case string(grantBucket):
		h := &held{}
		c.grants = append(c.grants, h)
		return strict(text, h)
	case string(freezeBucket):
		var f freeze
		err := strict(text, &f)
		c.freezes = append(c.freezes, f)
		return err
	case string(outboxBucket):
		var e outgoing
		err := strict(text, &e)
		c.numbers, c.events = append(c.numbers, binary.BigEndian.Uint64(key)), append(c.events, api.Event(e))
		return err
	}
	return errors.New("nothing is known of such records")
}

func strict(text []byte, into any) error {
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
