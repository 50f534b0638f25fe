package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
	"github.com/bailiff-dev/bailiff/internal/secrets/swap"
)

// give puts the values of variables into the head of a request in TLS, where their rows say
// so, and has its judgement see their names. A stand-in that is left anywhere in the head
// refuses the request.
func (p *Proxy) give(r *http.Request, asked []bailiff.Connection) *refusal {
	head := swap.Head{Header: r.Header, URL: r.URL}
	var names []string
	if c := asked[0]; c.Protocol == "https" {
		head, names = swap.In(head, place(c), p.swapped)
		r.Header, r.URL = head.Header, head.URL
	}
	if name := p.standIns.Stray(head); name != "" {
		return refuse(asked[0], ruleStray,
			"What stands for "+name+" would leave for a host or in a place where its value may not be put in.",
			"Send it as its row says: to a host and in a place that it names.")
	}
	if name := swap.FirstIn(head, p.dead); name != "" {
		return refuse(asked[0], ruleStray,
			"What stood for "+name+" in another request of the session stands in this one, and is worth nothing here.",
			"Write $"+name+" in the command in place of a text that a program has stored, and ask for the variable again.")
	}
	for i := range asked {
		asked[i].Secrets = names
	}
	return nil
}

// place is the host as rows of variables name it: with its port where that is not the usual one.
func place(c bailiff.Connection) string {
	if c.Port == 443 {
		return c.Host
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
}

// quiet is a transport that tells nothing of informational answers, which could hold a value.
type quiet struct{ http.RoundTripper }

// RoundTrip sends a request without those who listen to its progress.
func (q quiet) RoundTrip(r *http.Request) (*http.Response, error) {
	return q.RoundTripper.RoundTrip(r.WithContext(unheard{r.Context()}))
}

// unheard is a context without the values of another.
type unheard struct{ context.Context }

// Value is nil.
func (unheard) Value(any) any { return nil }

// undivide takes the headers out of a request by which its server would give the answer in a
// form or in parts in which a value that it was given cannot be found.
func undivide(r *http.Request) {
	for name := range r.Header {
		if divides(name, r.Method) {
			r.Header.Del(name)
		}
	}
	r.Header.Set("Accept-Encoding", "identity")
}

func divides(name, method string) bool {
	words := strings.Split(strings.ToLower(name), "-")
	switch {
	case name == "Content-Range", method == http.MethodPut && words[0] == "x":
		return false // of what is sent
	case slices.Contains(words, "range"), words[0] == "want":
		return true
	}
	return name == "A-Im" || name == "Accept-Charset"
}

// errDivided is an answer of which only a part was sent.
var errDivided = errors.New("the server sends its answer in parts, in which the value that it was given cannot be found")

// errEncoded is an answer in which a value could not be found.
var errEncoded = errors.New("the server encodes its answer, so that it cannot be searched for the value that it was given")

// scrub takes the values that a server was given out of its answer.
func (p *Proxy) scrub(answer *http.Response, names []string) error {
	if coding := answer.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return errEncoded
	}
	if answer.StatusCode == http.StatusPartialContent || answer.StatusCode == http.StatusIMUsed {
		return errDivided
	}
	values := map[string]bailiff.Secret{}
	for _, one := range p.swapped {
		if slices.Contains(names, one.Name) {
			values[one.Name] = one.Value
		}
	}
	found := redact.New(values)
	scrubHead(answer.Header, found, values)
	answer.Header.Del("Content-Length")
	answer.ContentLength = -1
	answer.Body = &scrubbed{ReadCloser: answer.Body, found: found, end: func() { scrubHead(answer.Trailer, found, values) }}
	return nil
}

// scrubHead takes values out of headers, and headers away that have one in their name, whose
// letters are not kept.
func scrubHead(head http.Header, found *redact.Redactor, values map[string]bailiff.Secret) {
	for name, lines := range head {
		for i, line := range lines {
			lines[i] = string(found.Redact([]byte(line)))
		}
		for _, value := range values {
			if strings.Contains(strings.ToLower(name), strings.ToLower(value.Reveal())) {
				delete(head, name)
			}
		}
	}
}

// scrubbed is a body without the values.
type scrubbed struct {
	io.ReadCloser
	found *redact.Redactor
	end   func() // at the end of the body, where trailers are known
	clean []byte // not read yet
	raw   [16 << 10]byte
	err   error
}

// Read reads what holds no value.
func (s *scrubbed) Read(to []byte) (int, error) {
	for len(s.clean) == 0 && s.err == nil {
		var n int
		n, s.err = s.ReadCloser.Read(s.raw[:])
		s.clean = append(s.clean[:0], s.found.Write(s.raw[:n])...)
		if s.err != nil {
			s.clean = append(s.clean, s.found.Flush()...)
			s.end()
		}
	}
	n := copy(to, s.clean)
	if s.clean = s.clean[n:]; len(s.clean) > 0 {
		return n, nil
	}
	return n, s.err
}
