package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Refusal is an answer that says no.
type Refusal struct {
	by     string // the API's name
	Status int
	// Code and Message are the API's words, made harmless.
	Code, Message string
	// After is for how long the API does not want to be asked again; zero if it does
	// not say.
	After time.Duration
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s answered %d", r.by, r.Status)
	if r.Code != "" {
		text += " (" + r.Code + ")"
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// Status is that of an answer that said no; zero for all else.
func Status(err error) int {
	var refused *Refusal
	if errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

// longestAfter is how long a refusing server is left alone at most: a wrong header must
// not keep one away for good.
const longestAfter = time.Hour

// After is for how long the server that refused wants not to be asked again, within an hour;
// zero for all else. It is for who asks again and again.
func After(err error) time.Duration {
	var refused *Refusal
	if errors.As(err, &refused) {
		return min(refused.After, longestAfter)
	}
	return 0
}

// refused reads why an answer says no.
func (x exchange) refused(response *http.Response) error {
	r := &Refusal{by: x.cfg.Name, Status: response.StatusCode, After: patience(response.Header)}
	if x.cfg.Reason == nil {
		return r
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, refusalBytes)) // of one that breaks off the beginning
	code, message := x.cfg.Reason(body)
	r.Code, r.Message = bailiff.Foreign(code, x.secret), bailiff.Foreign(message, x.secret)
	if r.After == 0 && x.cfg.After != nil {
		r.After = max(0, x.cfg.After(body))
	}
	return r
}

// patience reads Retry-After: seconds, or a date by the clock of the server,
// which need not be ours.
func patience(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}

// What an attempt was at when it was lost.
const (
	reaching = "reaching %s"
	reading  = "reading %s's answer"
)

// lost is an attempt of which it is not known whether what it asked for was done.
type lost struct {
	text string
	// cause is the context's, where that is why. Nothing else is kept: it would hold
	// the address.
	cause error
}

func (l *lost) Error() string { return l.text }
func (l *lost) Unwrap() error { return l.cause }

// lost is another error for a certificate that does not verify: nothing was asked, and
// it is the same one the next moment.
func (x exchange) lost(doing string, err error) error {
	l := &lost{text: fmt.Sprintf(doing+": %s", x.cfg.Name, x.plain(err))}
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		return errors.New(l.text)
	}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			l.cause = cause
		}
	}
	return l
}

// plain words what went wrong without the address, which net/http puts before it, and
// without what the other side could have put in.
func (x exchange) plain(err error) string {
	var addressed *url.Error
	if errors.As(err, &addressed) {
		err = addressed.Err
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return "it does not answer in time"
	}
	return bailiff.Foreign(err.Error(), x.secret)
}
