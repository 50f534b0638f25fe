package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewLogin is "bailiff login".
func NewLogin() *cobra.Command {
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
			k := cli.Login{At: at, CAFile: caFile, TokenFile: tokenFile}
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

// NewLogout is "bailiff logout".
func NewLogout() *cobra.Command {
	return &cobra.Command{
		Use:   "logout",
		Short: "End the login that \"bailiff login\" began",
		Long: `Ends your login, here and in the sidecar. A sidecar that does not answer ends it by
itself; here it is gone all the same.

Exit status: 0, or 1 if there is no login, or the sidecar could not be told.`,
		Example: "  bailiff logout",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := cli.StoredLogin()
			if err != nil {
				return err
			}
			if k == nil {
				return errors.New("you are not logged in")
			}
			path, err := cli.LoginFile()
			if err != nil {
				return err
			}
			if k.TokenFile != "" {
				return os.Remove(path) // the token is the program's for good
			}
			console, err := k.Client()
			if err == nil && !k.IsOver() {
				err = console.Logout(cmd.Context())
			}
			if cli.HasCode(err, "not_logged_in") {
				err = nil // it has ended there
			}
			return errors.Join(os.Remove(path), err)
		},
	}
}

// useToken has the commands ask as a program, if the console knows its token.
func useToken(ctx context.Context, out io.Writer, k cli.Login) error {
	console, err := k.Client()
	if err != nil {
		return err
	}
	if _, err = console.Status(ctx); err != nil && !cli.HasCode(err, "not_eligible") { // which says that it lacks that scope
		return err
	}
	if err := k.Write(); err != nil {
		return err
	}
	fmt.Fprintf(out, "The commands for operators ask %s by the token in %s.\n", termsafe.Text(k.At), termsafe.Text(k.TokenFile))
	return nil
}

func logIn(ctx context.Context, out io.Writer, k cli.Login) error {
	console, err := k.Client()
	if err != nil {
		return err
	}
	begun, err := console.BeginLogin(ctx)
	if cli.HasCode(err, "cross_origin") || cli.HasCode(err, "not_logged_in") {
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
	if err := k.Write(); err != nil {
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
