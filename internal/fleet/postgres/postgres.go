// Package postgres connects to the PostgreSQL that several sidecars share.
//
// Promised:
//
//   - Beyond the machine itself the server proves who it is: by a certificate for its name
//     that a known authority signed. What a connection string says of sslmode cannot weaken that.
//   - No table is made or changed at run time: [Migrate] does that, and [DB.Check] refuses a
//     database whose tables are older, or are newer than this program can go by.
//   - A notification is a wake-up only, and is sent after what it tells of was committed, by
//     one paced sender.
//   - No connection is used that leads to another server than the one that was accepted: a standby that
//     was promoted may lack what was committed last.
//   - No error names a password.
//
// Not here: what the tables hold (internal/approval).
package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bailiff-dev/bailiff"
)

const (
	// connections are how many a sidecar has at most for its steps, ownConnections how many for
	// what it does by itself, beside the one that listens.
	connections    = 20
	ownConnections = 5
	// connectTimeout is how long a server may take to let a sidecar in, where the connection string has no
	// connect_timeout.
	connectTimeout = 5 * time.Second
	// closeTime is how long connections may take to end.
	closeTime = 2 * time.Second
	// statementCapacity is how many prepared statements a connection keeps. The sidecar has fewer, so that none is prepared twice. The
	// room for them is taken when the connection is made: one takes 26 KB so, and 68 KB with the usual capacity of 512.
	statementCapacity = 128
)

// Config says where the database is.
type Config struct {
	// DSN is a connection string of libpq, as an address or as words.
	DSN bailiff.Secret
	// CAFile holds the certificates of the authorities that may vouch for the server; empty
	// means those that the system trusts.
	CAFile string
}

// DB is a database. It may be used concurrently.
type DB struct {
	pool     *pgxpool.Pool
	own      *pgxpool.Pool
	config   *pgx.ConnConfig
	accepted atomic.Pointer[Place]
	servers  atomic.Uint64
}

// Open connects to a database.
func Open(ctx context.Context, c Config) (*DB, error) {
	config, err := pgxpool.ParseConfig(c.DSN.Reveal())
	if err != nil {
		return nil, errUnread
	}
	if err := secure(config.ConnConfig, c.CAFile); err != nil {
		return nil, err
	}
	config.MaxConns = connections
	if config.ConnConfig.ConnectTimeout <= 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	config.ConnConfig.StatementCacheCapacity = min(config.ConnConfig.StatementCacheCapacity, statementCapacity)
	config.ConnConfig.DescriptionCacheCapacity = min(config.ConnConfig.DescriptionCacheCapacity, statementCapacity)
	config.ConnConfig.RuntimeParams["application_name"] = "bailiff"
	db := &DB{config: config.ConnConfig}
	config.AfterConnect = db.isAccepted
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	config = config.Copy()
	config.MaxConns = ownConnections
	if db.own, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		db.pool.Close()
		return nil, err
	}
	if err := db.own.Ping(ctx); err != nil {
		db.Close()
		return nil, &worded{fmt.Sprintf("connecting to PostgreSQL at %s as user %s, to database %s: %v", db.config.Host, db.config.User,
			db.config.Database, db.whyNot(err)), err}
	}
	return db, nil
}

var errUnread = errors.New("the connection string of PostgreSQL cannot be read: want one such as " +
	"postgres://bailiff:PASSWORD@db.example.com/bailiff, or host=/run/postgresql dbname=bailiff")

// whyNot says in one sentence why there is no connection.
func (db *DB) whyNot(err error) error {
	var refused *pgconn.PgError
	var unreachable *net.OpError
	switch {
	case errors.As(err, &refused):
		if pooled[refused.Code] {
			return WithHint(err)
		}
		return errors.New(refused.Message)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it does not answer within %v (connect_timeout in the connection string)", db.config.ConnectTimeout)
	case errors.As(err, &unreachable):
		return unreachable.Err
	}
	return err
}

// Close ends all connections. It waits for one to a server that does not answer as long as closeTime at most, though
// that one ends later: a sidecar that stops would otherwise wait for longer than it may.
func (db *DB) Close() {
	var pools sync.WaitGroup
	pools.Go(db.pool.Close)
	pools.Go(db.own.Close)
	closed := make(chan struct{})
	go func() { defer close(closed); pools.Wait() }()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
}

// secure has every server that is not on this machine prove who it is.
func secure(c *pgx.ConnConfig, caFile string) error {
	roots, err := authorities(caFile)
	if err != nil {
		return err
	}
	c.TLSConfig = proof(c.Host, roots)
	var fallbacks []*pgconn.FallbackConfig
	for _, f := range c.Fallbacks {
		if !has(fallbacks, f) && (f.Host != c.Host || f.Port != c.Port) {
			fallbacks = append(fallbacks, &pgconn.FallbackConfig{Host: f.Host, Port: f.Port, TLSConfig: proof(f.Host, roots)})
		}
	}
	c.Fallbacks = fallbacks
	return nil
}

// has says whether a server is tried already: there is a second one for each that would be
// tried without TLS.
func has(fallbacks []*pgconn.FallbackConfig, f *pgconn.FallbackConfig) bool {
	for _, known := range fallbacks {
		if known.Host == f.Host && known.Port == f.Port {
			return true
		}
	}
	return false
}

// proof is nil for this machine itself.
func proof(host string, roots *x509.CertPool) *tls.Config {
	if ip := net.ParseIP(host); strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" ||
		ip != nil && ip.IsLoopback() {
		return nil
	}
	return &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// authorities is nil for those that the system trusts.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the authorities of PostgreSQL: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", file)
	}
	return roots, nil
}

// Pool is where steps take their connections.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Own is where a sidecar takes those by which it follows the others and says that it lives: not
// even steps that wait for each other keep it from that.
func (db *DB) Own() *pgxpool.Pool { return db.own }
