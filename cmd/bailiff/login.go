package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/httpapi"
	"github.com/bailiff-dev/bailiff/internal/records"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

func newLogin() *cobra.Command {
	var at, caFile, tokenFile string
	cmd := &cobra.Command{
		Use:   "login --at URL",
		Short: "Log in to a sidecar's console, here or on another machine",
		Long: `Logs you in by the provider that operator.oidc names: open the address that is
printed, in any browser, and enter the code. From then on the commands for operators ask
the console at that URL as you, unless --config is given: not the operators' socket. What
only the socket does (console, exec --break-glass) goes on there.

With --token-file the commands ask as the program whose token of operator.tokens the file
holds. The file is read at each use; such a login has no end of its own.

The login is kept in bailiff/login.json of your configuration folder, for you alone. It ends
when operator.oidc.session says, by "bailiff logout", and when the sidecar stops.

Exit status: 0 once you are logged in, 1 if not.`,
		Example: "  bailiff login --at https://bailiff.example.com:8642",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if at == "" {
				return errors.New("--at is missing: give the console's address, as in https://bailiff.example.com:8642")
			}
			for _, file := range []*string{&caFile, &tokenFile} {
				if *file == "" {
					continue
				}
				abs, err := filepath.Abs(*file)
				if err != nil {
					return err
				}
				*file = abs
			}
			k := kept{At: at, CAFile: caFile, TokenFile: tokenFile}
			if tokenFile != "" {
				return useToken(cmd.Context(), cmd.OutOrStdout(), k)
			}
			return logIn(cmd.Context(), cmd.OutOrStdout(), k)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "the console's `URL`")
	cmd.Flags().StringVar(&caFile, "ca-file", "", "a `file` of certificates that may vouch for the console (default: this machine's)")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "a `file` with the token of a program, to ask as that")
	return cmd
}

func newLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout",
		Short: "End the login that \"bailiff login\" began",
		Long: `Ends your login, here and in the sidecar. A sidecar that does not answer ends it by
itself; here it is gone all the same.

Exit status: 0, or 1 if there is no login, or the sidecar could not be told.`,
		Example: "  bailiff logout",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := readLogin()
			if err != nil {
				return err
			}
			if k == nil {
				return errors.New("you are not logged in")
			}
			path, err := loginFile()
			if err != nil {
				return err
			}
			if k.TokenFile != "" {
				return os.Remove(path) // the token is the program's for good
			}
			console, err := k.client()
			if err == nil && !k.ended() {
				err = console.Logout(cmd.Context())
			}
			if hasCode(err, "not_logged_in") {
				err = nil // it has ended there
			}
			return errors.Join(os.Remove(path), err)
		},
	}
}

// kept is a login as it is on disk.
type kept struct {
	At        string    `json:"at"`
	CAFile    string    `json:"ca_file,omitempty"`
	Token     string    `json:"token"`
	Person    string    `json:"person"`
	ExpiresAt time.Time `json:"expires_at"`
	// TokenFile holds a program's token, in place of Token.
	TokenFile string `json:"token_file,omitempty"`
}

// ended says that a person's login is over.
func (k kept) ended() bool { return k.TokenFile == "" && !time.Now().Before(k.ExpiresAt) }

// client asks the console as who is logged in, or without a login.
func (k kept) client() (*client.Client, error) {
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

// useToken has the commands ask as a program, if the console knows its token.
func useToken(ctx context.Context, out io.Writer, k kept) error {
	console, err := k.client()
	if err != nil {
		return err
	}
	if _, err = console.Status(ctx); err != nil && !hasCode(err, "not_eligible") { // which says that it lacks that scope
		return err
	}
	if err := k.write(); err != nil {
		return err
	}
	fmt.Fprintf(out, "The commands for operators ask %s by the token in %s.\n", termsafe.Text(k.At), termsafe.Text(k.TokenFile))
	return nil
}

func loginFile() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for your login: %w", err)
	}
	return filepath.Join(folder, "bailiff", "login.json"), nil
}

// readLogin returns the login on disk; nil if there is none.
func readLogin() (*kept, error) {
	path, err := loginFile()
	if err != nil {
		return nil, err
	}
	text, err := trust.Secret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	k := new(kept)
	if err == nil {
		err = json.Unmarshal(text, k)
	}
	if err != nil {
		return nil, fmt.Errorf("reading your login: %w; remove %s and log in again", err, path)
	}
	return k, nil
}

func (k kept) write() error {
	path, err := loginFile()
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

func logIn(ctx context.Context, out io.Writer, k kept) error {
	console, err := k.client()
	if err != nil {
		return err
	}
	begun, err := console.BeginLogin(ctx)
	if hasCode(err, "cross_origin") || hasCode(err, "not_logged_in") {
		return fmt.Errorf("the console at %s has no provider to log in by; set operator.oidc in its bailiff.yaml", k.At)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Open %s and enter the code %s\n", termsafe.Text(begun.URL), termsafe.Text(begun.Code))
	if begun.Complete != "" {
		fmt.Fprintf(out, "or open %s\n", termsafe.Text(begun.Complete))
	}
	in, err := awaitLogin(ctx, console, begun)
	if err != nil {
		return err
	}
	k.Token, k.Person, k.ExpiresAt = in.Token, in.Person, in.ExpiresAt
	if err := k.write(); err != nil {
		return err
	}
	fmt.Fprintf(out, "You are logged in as %s until %s.\n", termsafe.Text(in.Person), in.ExpiresAt.Local().Format(time.DateTime))
	return nil
}

// awaitLogin asks until the person has logged in: each question waits for that by itself.
func awaitLogin(ctx context.Context, console *client.Client, begun api.DeviceLogin) (api.DeviceLoggedIn, error) {
	for {
		in, err := console.AwaitLogin(ctx, begun.Device)
		if err != nil || in.Token != "" {
			return in, err
		}
	}
}

// loggedIn asks the console as who is logged in; nil if no person is, and with a warning if none is any more.
func loggedIn(warnings io.Writer) (*client.Client, error) {
	k, err := readLogin()
	if err != nil || k == nil {
		return nil, err
	}
	if k.ended() {
		fmt.Fprintf(warnings, "bailiff: warning: your login at %s has ended; going on by the operators' socket. \"bailiff login\" begins "+
			"another, \"bailiff logout\" forgets it\n", termsafe.Text(k.At))
		return nil, nil
	}
	return k.client()
}
