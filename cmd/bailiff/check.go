package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/internal/pdp"
)

func newCheck(configPath *string) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration and the policies",
		Long: `Checks the configuration, the policies it names, and that the policies use the
input as its schema describes it. Prints every fault as file:line and says what
would be right. It runs no tests: see "bailiff test".

Exit status: 0 if all is well, 1 otherwise.`,
		Example: "  bailiff check --config /etc/bailiff/bailiff.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(*configPath)
			if err != nil {
				return err
			}
			faults := pdp.Check(cfg.Policies.Paths)
			for _, fault := range faults {
				fmt.Fprintln(cmd.ErrOrStderr(), fault)
			}
			if len(faults) > 0 {
				return status(1)
			}
			for _, warning := range cfg.Warnings() {
				fmt.Fprintln(cmd.ErrOrStderr(), "warning:", warning)
			}
			fmt.Fprintln(cmd.OutOrStdout(), "configuration and policies are sound")
			return nil
		},
	}
}
