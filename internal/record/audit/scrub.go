package audit

import (
	"bytes"
	"fmt"

	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// scrubLine returns an unclosed line without known secrets. Most lines hold none
// and are looked through once.
func scrubLine(line []byte, scrub func([]byte) []byte) ([]byte, error) {
	if bytes.Equal(scrub(line), line) {
		return line, nil
	}
	d, err := readDocument(line)
	if err == nil {
		d.scrub(func(s string) string { return string(scrub([]byte(s))) })
		line, err = d.line()
	}
	if err != nil {
		return nil, fmt.Errorf("scrubbing the event: %w", err)
	}
	return line, nil
}

// scrub replaces every text that a requester or an operator chose.
func (d *document) scrub(scrub func(string) string) {
	d.input.value, d.result.value = redact.JSON(d.input.value, scrub), redact.JSON(d.result.value, scrub)
	for _, paths := range [][]string{d.Erased, d.Masked} {
		for i, path := range paths {
			paths[i] = scrub(path)
		}
	}
	c := &d.Custom
	for _, text := range []*string{&d.RequestedBy, &c.RequestID, &c.Session, &c.SandboxID, &c.Message} {
		*text = scrub(*text)
	}
	if d.Error != nil {
		d.Error.Message = scrub(d.Error.Message)
	}
	if a := c.Approval; a != nil {
		a.By, a.Via, a.Message = scrub(a.By), scrub(a.Via), scrub(a.Message)
	}
	if g := c.BreakGlass; g != nil {
		g.By, g.Via, g.Reason = scrub(g.By), scrub(g.Via), scrub(g.Reason)
	}
	if r := c.Rollback; r != nil {
		r.By, r.Via, r.Reason = scrub(r.By), scrub(r.Via), scrub(r.Reason)
	}
	if x := c.Connection; x != nil {
		x.Host, x.Path = scrub(x.Host), scrub(x.Path)
	}
	if s := c.Shadow; s != nil {
		for i := range s.Differences {
			d := &s.Differences[i]
			d.From, d.To = scrub(d.From), scrub(d.To)
		}
	}
}
