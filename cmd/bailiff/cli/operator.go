package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// HasCode is whether the sidecar's answer was a problem with that code.
func HasCode(err error, code string) bool {
	var p *api.Problem
	return errors.As(err, &p) && p.Code == code
}

// AtOperator is a command that asks as an operator.
func AtOperator(configPath *string, do func(cmd *cobra.Command, operator *client.Client, args []string) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		operator, err := OperatorClient(cmd.ErrOrStderr(), *configPath)
		if err != nil {
			return err
		}
		return do(cmd, operator, args)
	}
}

// OperatorClient asks the console as who is logged in there, or at the operators' socket.
func OperatorClient(warnings io.Writer, configPath string) (*client.Client, error) {
	if configPath == "" {
		if console, err := loggedIn(warnings); err != nil || console != nil {
			return console, err
		}
	}
	return SocketClient(warnings, configPath)
}

// SocketClient asks at the operators' socket. Faults of the configuration only warn: the sidecar
// may run by an earlier version of the file, and a freeze cannot wait until they are mended.
func SocketClient(warnings io.Writer, configPath string) (*client.Client, error) {
	cfg, err := offline.LoadConfig(configPath)
	var faults config.Faults
	if errors.As(err, &faults) {
		for _, fault := range faults {
			fmt.Fprintf(warnings, "bailiff: warning: %s\n", termsafe.Text(fault.Error()))
		}
		fmt.Fprintf(warnings, "bailiff: warning: going on by the operators' socket %s all the same\n", cfg.Operator.Listen)
	} else if err != nil {
		return nil, err
	}
	return client.New(cfg.Operator.Listen.String(), bailiff.Secret{})
}
