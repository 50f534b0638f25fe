package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan is for those who make packages, so no user is shown it.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages",
		Long: `Writes a manual page for each command into a folder that exists. Their date is SOURCE_DATE_EPOCH,
if that is set, and otherwise today's.

Exit status: 0, or 1 if a page cannot be written.`,
		Example: "  bailiff man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return doc.GenManTree(cmd.Root(), &doc.GenManHeader{Section: "1", Source: "bailiff " + version, Manual: "bailiff"},
				args[0])
		},
	}
}
