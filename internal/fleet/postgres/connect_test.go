package postgres_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres/postgrestest"
)

// A server that does not let a sidecar in is told of in one line: where it is, who asked, and why not.
func TestWhyThereIsNoConnectionIsOneSentence(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	port := silent.Addr().(*net.TCPAddr).Port
	server := postgrestest.Start(t)
	for dsn, want := range map[string]string{
		"host=/nowhere user=u dbname=d": "connecting to PostgreSQL at /nowhere as user u, to database d: " +
			"connect: no such file or directory",
		fmt.Sprintf("host=127.0.0.1 port=%d user=u dbname=d connect_timeout=1", port): "connecting to PostgreSQL at 127.0.0.1 as user u, " +
			"to database d: it does not answer within 1s (connect_timeout in the connection string)",
		server.DSN("none"): "connecting to PostgreSQL at " + server.Dir +
			` as user postgres, to database none: database "none" does not exist`,
	} {
		db, err := postgres.Open(t.Context(), postgres.Config{DSN: bailiff.NewSecret(dsn)})
		if err == nil {
			db.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", dsn, err, want)
		}
	}
}

// A start waits for what passes by itself, and for nothing else.
func TestWhatPassesByItself(t *testing.T) {
	t.Parallel()
	for code, away := range map[string]bool{"57P03": true, "57P01": true, "53300": true, "53100": true, "08006": true, "55000": true,
		"25006": true, "57014": true, "28P01": false, "28000": false, "3D000": false, "42501": false, "42P01": false, "42P05": false} {
		if is := postgres.IsAway(fmt.Errorf("asking: %w", &pgconn.PgError{Code: code})); is != away {
			t.Errorf("%s passes by itself: %v", code, is)
		}
	}
	for err, away := range map[error]bool{context.DeadlineExceeded: true, io.ErrUnexpectedEOF: true, &net.OpError{Err: io.EOF}: true,
		context.Canceled: false, errors.New("another"): false,
		&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}: false} {
		if is := postgres.IsAway(fmt.Errorf("asking: %w", err)); is != away {
			t.Errorf("%v passes by itself: %v", err, is)
		}
	}
}

func TestAPooledConnectionIsToldWhatItNeeds(t *testing.T) {
	t.Parallel()
	for code, told := range map[string]bool{"42P05": true, "26000": true, "42P01": false} {
		err := postgres.WithHint(&pgconn.PgError{Code: code, Message: "of the server"})
		if strings.Contains(err.Error(), "default_query_exec_mode=exec") != told || !strings.Contains(err.Error(), "of the server") {
			t.Errorf("%s: %v", code, err)
		}
	}
}
