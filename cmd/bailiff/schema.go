package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
	"github.com/bailiff-dev/bailiff/internal/judging/tables"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// schemas are those of the files that people write, by the names of their files in schemas.
var schemas = map[string]func() ([]byte, error){
	"config":   func() ([]byte, error) { return config.Schema(catalogue.All()) },
	"tables":   tables.Schema,
	"programs": tables.ProgramsSchema,
	"pack":     tables.PackSchema,
	"row":      rows.Schema,
}

func newSchema() *cobra.Command {
	names := slices.Sorted(maps.Keys(schemas))
	return &cobra.Command{
		Use:   "schema " + strings.Join(names, "|"),
		Short: "Print the JSON Schema of a file, for editors",
		Long: `Prints the JSON Schema of a file that people write, for editors to complete and to check:
config is bailiff.yaml, tables a data.yaml of policies, programs the data.yaml of a family of
programs, pack that of a pack, row a line of rows for "bailiff judge". What hangs on several keys at once a schema does not say:
"bailiff check" does.

Exit status: 0, or 1 if there is no such schema.`,
		Example:   "  bailiff schema config >bailiff.schema.json",
		ValidArgs: names,
		Args:      cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := strings.Join(args, "")
			schema, known := schemas[name]
			if !known {
				return fmt.Errorf("schema %q: %s", name, spelling.Unknown("schema", name, names))
			}
			text, err := schema()
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			}
			return err
		},
	}
}
