package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NamingOne makes a command that only holds others refuse what none of them is
// called, and show its help where none is named.
func NamingOne(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(cmd, args[0])
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.DisableFlagsInUseLine = true
}

func unknownCommand(cmd *cobra.Command, name string) error {
	cmd.SuggestionsMinimumDistance = 2 // edits between what was typed and what is suggested
	likely := cmd.SuggestionsFor(name)
	if len(likely) == 0 {
		return fmt.Errorf("unknown command %q for %q; \"%[2]s --help\" lists them", termsafe.Text(name), cmd.CommandPath())
	}
	return fmt.Errorf("unknown command %q for %q, did you mean %s", termsafe.Text(name), cmd.CommandPath(), strings.Join(likely, " or "))
}

// OneID takes one id of such a thing.
func OneID(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fmt.Errorf("give one %s's id: %s %s", thing, cmd.Parent().CommandPath(), cmd.Use)
	}
}

// WrongFlag says where the right flags are.
func WrongFlag(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; \"%s --help\" lists the flags", err, cmd.CommandPath())
}

// ShortRunGC lets a command that ends soon collect its garbage less often.
const ShortRunGC = 400
