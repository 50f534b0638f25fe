package file

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// read reads every record and holds it against its checksum, and all of them
// against the seal.
func read(tx *bbolt.Tx) (*state.Contents, seal, error) {
	s, err := readSeal(tx)
	if err != nil {
		return nil, s, err
	}
	c := &state.Contents{}
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
				err = take(c, name, key, text)
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

func take(c *state.Contents, bucket, key, text []byte) error {
	switch string(bucket) {
	case string(itemBucket):
		i := &state.Item{}
		c.Items = append(c.Items, i)
		return state.Strict(text, i)
	case string(claimBucket):
		return nil // its text is not needed before it is asked for
	case string(grantBucket):
		h := &state.Held{}
		c.Grants = append(c.Grants, h)
		return state.Strict(text, h)
	case string(freezeBucket):
		var f state.Freeze
		err := state.Strict(text, &f)
		c.Freezes = append(c.Freezes, f)
		return err
	case string(outboxBucket):
		var e state.Outgoing
		err := state.Strict(text, &e)
		c.Numbers, c.Events = append(c.Numbers, binary.BigEndian.Uint64(key)), append(c.Events, api.Event(e))
		return err
	}
	return errors.New("nothing is known of such records")
}
