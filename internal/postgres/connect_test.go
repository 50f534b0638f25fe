package postgres_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/postgres"
	"github.com/bailiff-dev/bailiff/internal/postgres/postgrestest"
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
