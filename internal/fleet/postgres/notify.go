package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// channel is where sidecars wake each other.
	channel = "bailiff"
	// pace is how long a sender waits before the next notification: those of many
	// transactions in between are one.
	pace = 2 * time.Millisecond
	// proven is how long the first notification may take until it is known that none comes.
	proven = time.Second
	// again is how long a connection that failed is left alone.
	again = time.Second
)

// Notify sends a notification after each signal, until ctx ends. One that fails is left out,
// since who waits for it also looks by itself.
func (db *DB) Notify(ctx context.Context, signals <-chan struct{}) {
	for {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		_, _ = db.own.Exec(ctx, "SELECT pg_notify($1, '')", channel)
		select {
		case <-time.After(pace):
		case <-ctx.Done():
			return
		}
	}
}

// Listen calls woken for each notification, and whenever some may have been missed, until ctx
// ends. works is told whether notifications come at all: a pool of connections in between may
// drop them.
func (db *DB) Listen(ctx context.Context, woken func(), works func(bool)) {
	for ctx.Err() == nil {
		db.listen(ctx, woken, works)
		works(false)
		woken()
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
}

// listen listens on one connection until that fails.
func (db *DB) listen(ctx context.Context, woken func(), works func(bool)) {
	conn, err := pgx.ConnectConfig(ctx, db.config)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return
	}
	nonce := rand.Text()
	if _, err := db.own.Exec(ctx, "SELECT pg_notify($1, $2)", channel, nonce); err != nil {
		return
	}
	first, cancel := context.WithTimeout(ctx, proven)
	defer cancel()
	for n, err := conn.WaitForNotification(first); ; n, err = conn.WaitForNotification(first) {
		if err != nil {
			return
		}
		woken()
		if n.Payload == nonce {
			break
		}
	}
	works(true)
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return
		}
		woken()
	}
}
