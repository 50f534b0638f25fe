package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// mostLookedAt bounds how many files of a project are looked at.
const mostLookedAt = 200_000

// heavy are folders that hold others' files, and many.
var heavy = []string{".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "vendor", "target"}

// The names of files that usually hold secrets.
var (
	secretNames = []string{".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", "credentials", "credentials.json", "id_rsa",
		"id_dsa", "id_ecdsa", "id_ed25519", "secrets.yaml", "secrets.yml", "secrets.json", "terraform.tfstate"}
	secretSuffixes = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"}
	harmlessEnv    = []string{".example", ".sample", ".template", ".dist"}
)

var errEnough = errors.New("enough")

// sensitive are the files of a project that look like secrets by their names, relative to it.
func sensitive(project string) (found []string, err error) {
	looked := 0
	err = filepath.WalkDir(project, func(path string, entry fs.DirEntry, err error) error {
		if looked++; looked > mostLookedAt {
			return errEnough
		}
		switch {
		case err != nil && path == project:
			return err
		case err != nil: // a folder of another user, which commands could not read either
			return fs.SkipDir
		case entry.IsDir() && path != project && slices.Contains(heavy, entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && isSensitive(entry.Name()):
			name, _ := filepath.Rel(project, path)
			found = append(found, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("looking for secrets in the project: %w", err)
	}
	return found, nil
}

func isSensitive(name string) bool {
	ends := func(suffix string) bool { return strings.HasSuffix(name, suffix) }
	if name == ".env" || strings.HasPrefix(name, ".env.") {
		return !slices.ContainsFunc(harmlessEnv, ends)
	}
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretSuffixes, ends)
}
