package postgres

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiff-dev/bailiff"
)

func TestAServerElsewhereProvesWhoItIs(t *testing.T) {
	t.Parallel()
	for dsn, proves := range map[string][]bool{
		"host=/run/postgresql":                                    {false},
		"postgres://127.0.0.1/bailiff":                            {false},
		"postgres://localhost/bailiff?sslmode=disable":            {false},
		"postgres://db.example.com/bailiff":                       {true},
		"postgres://db.example.com/bailiff?sslmode=disable":       {true},
		"postgres://db.example.com/bailiff?sslmode=prefer":        {true},
		"postgres://db.example.com/bailiff?sslmode=require":       {true},
		"postgres://a.example.com,b.example.com/bailiff":          {true, true},
		"host=/run/postgresql,b.example.com sslmode=allow user=u": {false, true},
	} {
		c, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if err := secure(c, ""); err != nil {
			t.Fatal(err)
		}
		proof := []bool{c.TLSConfig != nil && !c.TLSConfig.InsecureSkipVerify && c.TLSConfig.ServerName == c.Host}
		for _, f := range c.Fallbacks {
			proof = append(proof, f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify && f.TLSConfig.ServerName == f.Host)
		}
		if len(proof) != len(proves) || proof[0] != proves[0] || proof[len(proof)-1] != proves[len(proves)-1] {
			t.Errorf("%s: servers prove who they are: %v, want %v", dsn, proof, proves)
		}
	}
}

// Each call that sends a statement counts as one of its own.
func TestAConnectionHasRoomForAllStatements(t *testing.T) {
	t.Parallel()
	sends := regexp.MustCompile(`\.(Exec|Query|QueryRow|Queue)\(`)
	found := 0
	for _, folder := range []string{".", "../../approval", ".."} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found += len(sends.FindAll(text, -1))
		}
	}
	if found < 50 || found > statementCapacity {
		t.Errorf("%d statements are sent, want at most %d, and more than are sent by one package", found, statementCapacity)
	}
}

func TestNoFaultTellsAPassword(t *testing.T) {
	t.Parallel()
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dsn, c := range map[string]struct{ ca, want string }{
		"postgres://bailiff:hunter2-secret@[":                       {"", "cannot be read"},
		"host=/nowhere user=u password=hunter2-secret dbname=d":     {"", "connecting to PostgreSQL"},
		"postgres://bailiff:hunter2-secret@db.example.com/d":        {noPEM, "holds no certificate"},
		"postgres://bailiff:hunter2-secret@db.example.com/d?x=\x00": {"/nowhere/ca.pem", ""},
	} {
		db, err := Open(t.Context(), Config{DSN: bailiff.NewSecret(dsn), CAFile: c.ca})
		if err == nil {
			db.Close()
			t.Errorf("%q: opened", dsn)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}
