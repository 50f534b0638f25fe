package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
)

func newVersion() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the version of bailiff and of the Go that built it.\n\nExit status: 0.",
		Example: "  bailiff version --output json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			built := map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return cli.Show(cmd, format, built, func(w io.Writer) {
				fmt.Fprintf(w, "bailiff %s %s %s\n", built["version"], built["go"], built["platform"])
			})
		},
	}
	cli.OutputFlag(cmd, &format)
	return cmd
}

// moduleVersion is the version by which "go install" fetched the module, without its "v";
// "dev" for what was built in a clone.
func moduleVersion() string {
	built, known := debug.ReadBuildInfo()
	if !known || built.Main.Version == "" || built.Main.Version == "(devel)" {
		return "dev"
	}
	return strings.TrimPrefix(built.Main.Version, "v")
}
