package main

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/internal/pdp"
)

const runTestsCommand = "run-policy-tests"

// newRunTests is for the sidecar alone, which gives it the policies.
func newRunTests() *cobra.Command {
	return &cobra.Command{
		Use:    runTestsCommand,
		Short:  "Run the tests of the policies on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pdp.ServeTests(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// testProgram is this program, though another may lie in its file by now; none where it cannot be found.
func testProgram() []string {
	if runtime.GOOS == "linux" {
		return []string{"/proc/self/exe", runTestsCommand}
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, runTestsCommand}
}
