package file

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// writing is a transaction on its way; its first error ends it.
type writing struct {
	tx      *bbolt.Tx
	seal    *seal
	numbers []uint64
	err     error
}

func (w *writing) step(t state.Step) {
	for _, i := range t.Items {
		w.seal.Approvals = max(w.seal.Approvals, i.Seq)
		w.putJSON(itemBucket, number(i.Seq), i)
	}
	for _, c := range t.Claims {
		w.put(claimBucket, number(c.Seq), c.Text)
	}
	for _, i := range t.Pruned {
		w.remove(itemBucket, number(i.Seq))
		w.remove(claimBucket, number(i.Seq))
	}
	for _, h := range t.Grants {
		w.putJSON(grantBucket, []byte(h.Grant.ID), h)
	}
	for _, h := range t.Ended {
		w.remove(grantBucket, []byte(h.Grant.ID))
	}
	for _, f := range t.Frozen {
		w.putJSON(freezeBucket, f.Key(), f)
	}
	for _, f := range t.Thawed {
		w.remove(freezeBucket, f.Key())
	}
	w.events(t)
}

func (w *writing) events(t state.Step) {
	for _, n := range t.Sent {
		w.remove(outboxBucket, number(n))
	}
	for _, e := range t.Events {
		w.seal.Events++
		w.numbers = append(w.numbers, w.seal.Events)
		w.putJSON(outboxBucket, number(w.seal.Events), e)
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func (w *writing) putJSON(bucket, key []byte, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.put(bucket, key, text)
}

func (w *writing) put(bucket, key, text []byte) {
	if w.err != nil {
		return
	}
	b := w.tx.Bucket(bucket)
	sum := checksum(bucket, key, text)
	w.seal.Sum ^= sumOf(b.Get(key)) ^ sum
	w.err = b.Put(key, append(binary.BigEndian.AppendUint64(make([]byte, 0, sumLength+len(text)), sum), text...))
}

func (w *writing) remove(bucket, key []byte) {
	if w.err != nil {
		return
	}
	b := w.tx.Bucket(bucket)
	w.seal.Sum ^= sumOf(b.Get(key))
	w.err = b.Delete(key)
}

const sumLength = 8

// checksum binds a record's text to its place.
func checksum(bucket, key, text []byte) uint64 {
	h := sha256.New()
	for _, part := range [][]byte{bucket, key} {
		_, _ = h.Write(number(uint64(len(part))))
		_, _ = h.Write(part)
	}
	_, _ = h.Write(text)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// sumOf is the checksum that a record carries; none if there is no record.
func sumOf(record []byte) uint64 {
	if len(record) < sumLength {
		return 0
	}
	return binary.BigEndian.Uint64(record)
}

func putSeal(tx *bbolt.Tx, s seal) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	sum := checksum(sealBucket, sealKey, text)
	return tx.Bucket(sealBucket).Put(sealKey, append(number(sum), text...))
}
