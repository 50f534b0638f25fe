package httpapi

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAnAddressTellsTheCredentialToNobodyElse(t *testing.T) {
	t.Parallel()
	for address, right := range map[string]bool{
		"https://acme.example/api":    true,
		"https://acme.example:8443/":  true,
		"http://127.0.0.1:3000/api":   true,
		"http://[::1]:3000":           true,
		"http://localhost:3000/api":   true,
		"http://acme.example/api":     false,
		"http://127.0.0.1.evil.test":  false,
		"https://key@acme.example":    false,
		"https://acme.example/?x=y":   false,
		"ftp://127.0.0.1":             false,
		"acme.example":                false,
		"https://":                    false,
		"https://acme.example:secret": false,
	} {
		if err := CheckAddress(address); (err == nil) != right || err != nil && strings.Contains(err.Error(), "key") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAListIsReadToItsEndIfItHasOne(t *testing.T) {
	t.Parallel()
	var cursors []string
	query := url.Values{"limit": {"1"}}
	next := map[string]string{"": "b", "b": "c", "c": ""}
	err := Pages(query, func() (int, string, error) {
		cursor := query.Get("cursor")
		cursors = append(cursors, cursor)
		return 1, next[cursor], nil
	})
	if err != nil || !slices.Equal(cursors, []string{"", "b", "c"}) {
		t.Errorf("it read %q and came to %v", cursors, err)
	}
	asked := 0
	err = Pages(url.Values{}, func() (int, string, error) {
		asked++
		return 1, "again", nil
	})
	if err == nil || asked != mostPages {
		t.Errorf("of a list without end it read %d pages and came to %v", asked, err)
	}
	if err := Pages(url.Values{}, func() (int, string, error) { return 0, "more", nil }); err != nil {
		t.Errorf("a page with nothing on it comes to %v", err)
	}
	if err := Pages(url.Values{}, func() (int, string, error) { return 1, "more", io.ErrUnexpectedEOF }); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a fault comes to %v", err)
	}
}

func TestWaitingEndsWithWhoeverWaits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone is told %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who has no time is told %v", err)
	}
	if err := Wait(ctx, time.Nanosecond); err != nil {
		t.Errorf("who has the time is told %v", err)
	}
}
