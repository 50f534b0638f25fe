package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// awayClasses begin the codes of what passes by itself: PostgreSQL starts or stops, recovers, is a standby still, or
// has no connection, memory or disk left.
var awayClasses = []string{"08", "53", "57"}

// awayCodes are such codes of other classes.
var awayCodes = map[string]bool{"55000": true, "25006": true}

// IsAway says whether PostgreSQL may answer later without anything being changed: it could not be reached, did not
// answer in time, or says itself that it cannot now.
func IsAway(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		if awayCodes[refused.Code] {
			return true
		}
		for _, class := range awayClasses {
			if strings.HasPrefix(refused.Code, class) {
				return true
			}
		}
		return false
	}
	var unproven *tls.CertificateVerificationError
	var unnamed x509.HostnameError
	if errors.As(err, &unproven) || errors.As(err, &unnamed) {
		return false
	}
	var unreachable net.Error
	return errors.As(err, &unreachable) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
}

// pooled are PostgreSQL's codes of a prepared statement that is there twice, or not at all: connections change
// under the program.
var pooled = map[string]bool{"42P05": true, "26000": true}

// WithHint says what to change where PostgreSQL's own words do not.
func WithHint(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && pooled[refused.Code] {
		return fmt.Errorf("%w: behind pgbouncer add default_query_exec_mode=exec to the connection string of PostgreSQL", err)
	}
	return err
}

// WithoutAddress is a fault as agents are told of it: without the address, the user and the database, which drivers put into
// their texts.
func WithoutAddress(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, ErrMoved):
		return err
	case errors.As(err, &refused) && !IsAway(err):
		return &worded{"it refuses what is asked of it (" + refused.Code + ")", err}
	}
	return &worded{"it does not answer", err}
}

// Detail is a fault with what [WithoutAddress] leaves out, for operators.
func Detail(err error) string {
	var told *worded
	if !errors.As(err, &told) {
		return err.Error()
	}
	return err.Error() + " (" + told.err.Error() + ")"
}

// worded is an error in other words.
type worded struct {
	text string
	err  error
}

// Error is the text.
func (w *worded) Error() string { return w.text }

// Unwrap is what it tells of.
func (w *worded) Unwrap() error { return w.err }
