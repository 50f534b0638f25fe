package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/records"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// Login is a login as it is on disk.
type Login struct {
	At        string    `json:"at"`
	CAFile    string    `json:"ca_file,omitempty"`
	Token     string    `json:"token"`
	Person    string    `json:"person"`
	ExpiresAt time.Time `json:"expires_at"`
	// TokenFile holds a program's token, in place of Token.
	TokenFile string `json:"token_file,omitempty"`
}

// IsOver says that a person's login is over.
func (k Login) IsOver() bool { return k.TokenFile == "" && !time.Now().Before(k.ExpiresAt) }

// Client asks the console as who is logged in, or without a login.
func (k Login) Client() (*client.Client, error) {
	roots, err := httpapi.Roots(k.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading --ca-file: %w", err)
	}
	token := bailiff.NewSecret(k.Token)
	if k.TokenFile != "" {
		if token, err = config.ReadToken(k.TokenFile); err != nil {
			return nil, err
		}
	}
	return client.NewConsole(k.At, token, roots)
}

// LoginFile is the path of the file that keeps the user's login.
func LoginFile() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for your login: %w", err)
	}
	return filepath.Join(folder, "bailiff", "login.json"), nil
}

// StoredLogin returns the login on disk; nil if there is none.
func StoredLogin() (*Login, error) {
	path, err := LoginFile()
	if err != nil {
		return nil, err
	}
	text, err := trust.Secret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	k := new(Login)
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		return nil, fmt.Errorf("reading your login: %w; remove %s and log in again", err, path)
	}
	return k, nil
}

// Write keeps the login, for the user alone.
func (k Login) Write() error {
	path, err := LoginFile()
	if err != nil {
		return err
	}
	text, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = records.Write(path, text, false)
	}
	if err != nil {
		return fmt.Errorf("keeping your login: %w", err)
	}
	return nil
}

// loggedIn asks the console as who is logged in; nil if no person is, and with a warning if none is any more.
func loggedIn(warnings io.Writer) (*client.Client, error) {
	k, err := StoredLogin()
	if err != nil || k == nil {
		return nil, err
	}
	if k.IsOver() {
		fmt.Fprintf(warnings, "bailiff: warning: your login at %s has ended; going on by the operators' socket. \"bailiff login\" begins "+
			"another, \"bailiff logout\" forgets it\n", termsafe.Text(k.At))
		return nil, nil
	}
	return k.Client()
}
