// Package boltcheck looks at a file of bbolt's before bbolt does, and outlives what
// bbolt does with a damaged one.
//
// bbolt maps its file into memory and believes what it reads. In a damaged file a wrong
// number makes it panic as it opens the file or checks it (etcd-io/bbolt issues 105 and
// 446), sends Tx.Check around in circles (issue 877), or leads it to memory that is not
// the file's, which ends the process (issues 107 and 1225).
//
// Promised: [File] reads each page once, and finds each reference that leads out of the
// file, to a page of another kind or to one twice. [Guard] makes a panic or a fault of
// memory of what is left.
//
// Not here: what the records mean, and whether they are the newest (approval's seal).
package boltcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"runtime/debug"
)

// PageSize is that of the files that are looked at, whatever the machine's is.
const PageSize = 4096

// The layout of bbolt's file, in the byte order of the machine.
const (
	pageHeader  = 16 // id, flags, count, overflow
	elementSize = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
	bucketFlag   = 0x01

	// manyFree, as the count of a freelist, says that the first number is it.
	manyFree = 0xFFFF
	// deepest is more levels than a file of any size has.
	deepest = 64
)

// inspection walks through a file before bbolt does, which believes what it
// reads: a wrong number in a page could send it around in circles or to memory
// that is not the file's.
type inspection struct {
	file  io.ReaderAt
	pages uint64
	seen  []bool
}

type meta struct{ root, freelist, pages, txid uint64 }

// File returns why a file is not a whole and sound one of bbolt's. Both of its
// first pages must be valid: bbolt makes do with one, but the other is then the
// state before the last step.
func File(file io.ReaderAt, size int64) error {
	if size == 0 {
		return errors.New("it is empty")
	}
	var metas [2]meta
	for n := range metas {
		m, err := readMeta(file, uint64(n))
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		metas[n] = m
	}
	m, older := metas[0], metas[1]
	if m.txid < older.txid {
		m, older = older, m
	}
	if m.txid != older.txid+1 {
		return fmt.Errorf("its last steps are numbered %d and %d", older.txid, m.txid)
	}
	if m.pages > uint64(size)/PageSize {
		return fmt.Errorf("it was cut off: it has %d bytes, and %d pages of %d are in use", size, m.pages, PageSize)
	}
	in := &inspection{file, m.pages, make([]bool, m.pages)}
	in.seen[0], in.seen[1] = true, true
	return errors.Join(in.tree(m.root, 0), in.freelist(m.freelist), in.complete())
}

func readMeta(file io.ReaderAt, n uint64) (m meta, err error) {
	var buf [pageHeader + metaSize]byte
	if _, err := file.ReadAt(buf[:], int64(n*PageSize)); err != nil {
		return m, errors.New("it is missing")
	}
	order, body := binary.NativeEndian, buf[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSize-8])
	switch {
	case order.Uint32(body) != metaMagic:
		return m, errors.New("it is no store of bailiff's")
	case order.Uint32(body[4:]) != metaVersion || order.Uint32(body[8:]) != PageSize:
		return m, errors.New("it is of another version or page size")
	case order.Uint64(body[56:]) != sum.Sum64() || order.Uint64(buf[:]) != n || order.Uint16(buf[8:]) != metaPage:
		return m, errors.New("it is damaged")
	}
	return meta{
		root: order.Uint64(body[16:]), freelist: order.Uint64(body[32:]), pages: order.Uint64(body[40:]), txid: order.Uint64(body[48:]),
	}, nil
}

// page is the bytes of a page, with those that it flows over into.
type page struct {
	bytes []byte
	flags uint16
	count int
}

// read reads a page that nothing else refers to.
func (in *inspection) read(id uint64) (p page, err error) {
	var header [pageHeader]byte
	if id < 2 || id >= in.pages {
		return p, fmt.Errorf("page %d is referred to, and there are %d", id, in.pages)
	}
	if _, err := in.file.ReadAt(header[:], int64(id*PageSize)); err != nil {
		return p, err
	}
	order := binary.NativeEndian
	n := 1 + uint64(order.Uint32(header[12:]))
	if order.Uint64(header[:]) != id || id+n > in.pages {
		return p, fmt.Errorf("page %d is damaged", id)
	}
	for at := id; at < id+n; at++ {
		if in.seen[at] {
			return p, fmt.Errorf("page %d is used twice", at)
		}
		in.seen[at] = true
	}
	p = page{make([]byte, n*PageSize), order.Uint16(header[8:]), int(order.Uint16(header[10:]))}
	_, err = in.file.ReadAt(p.bytes, int64(id*PageSize))
	return p, err
}

// tree walks through the pages of a bucket and of those in it.
func (in *inspection) tree(id uint64, depth int) error {
	p, err := in.read(id)
	if err == nil {
		err = in.elements(p, depth)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

func (in *inspection) elements(p page, depth int) error {
	if depth > deepest || pageHeader+p.count*elementSize > len(p.bytes) || (p.flags != branchPage && p.flags != leafPage) {
		return errors.New("it is damaged")
	}
	for n := range p.count {
		at := pageHeader + n*elementSize
		if err := in.element(p, p.bytes[at:], depth); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) element(p page, element []byte, depth int) error {
	order := binary.NativeEndian
	if p.flags == branchPage {
		if uint64(order.Uint32(element))+uint64(order.Uint32(element[4:])) > uint64(len(element)) {
			return errors.New("it is damaged")
		}
		return in.tree(order.Uint64(element[8:]), depth+1)
	}
	flags, at := order.Uint32(element), uint64(order.Uint32(element[4:]))
	key, value := uint64(order.Uint32(element[8:])), uint64(order.Uint32(element[12:]))
	if at+key+value > uint64(len(element)) {
		return errors.New("it is damaged")
	}
	if flags&bucketFlag == 0 {
		return nil
	}
	return in.bucket(element[at+key:at+key+value], depth)
}

// bucket is a bucket in a leaf: the number of its first page and a sequence, and
// if that number is zero, a page of its own right behind.
func (in *inspection) bucket(value []byte, depth int) error {
	order := binary.NativeEndian
	if len(value) < 16 {
		return errors.New("it is damaged")
	}
	if root := order.Uint64(value); root != 0 {
		return in.tree(root, depth+1)
	}
	inline := value[16:]
	if len(inline) < pageHeader || order.Uint16(inline[8:]) != leafPage {
		return errors.New("it is damaged")
	}
	return in.elements(page{inline, leafPage, int(order.Uint16(inline[10:]))}, depth+1)
}

// freelist marks the pages that are free.
func (in *inspection) freelist(id uint64) error {
	p, err := in.read(id)
	if err != nil {
		return err
	}
	order, ids, count := binary.NativeEndian, p.bytes[pageHeader:], uint64(p.count)
	if p.count == manyFree {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if p.flags != freelistPage || count > uint64(len(ids))/8 {
		return fmt.Errorf("page %d is damaged", id)
	}
	for n := range count {
		free := order.Uint64(ids[n*8:])
		if free >= in.pages || in.seen[free] {
			return fmt.Errorf("page %d is free and in use", free)
		}
		in.seen[free] = true
	}
	return nil
}

// complete says whether every page is either used or free.
func (in *inspection) complete() error {
	for id, seen := range in.seen {
		if !seen {
			return fmt.Errorf("page %d is neither in use nor free", id)
		}
	}
	return nil
}

// Guard makes a panic, or a fault of memory, in the function that defers end a call of
// fault with its cause.
func Guard(fault func(cause any)) (end func()) {
	was := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(was)
		if cause := recover(); cause != nil {
			fault(cause)
		}
	}
}
