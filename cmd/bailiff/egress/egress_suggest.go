package egress

import (
	"net/netip"
	"time"

	"github.com/bailiff-dev/bailiff/internal/network/suggest"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

func newEgressSuggest(configPath *string) *cobra.Command {
	var since, session, format string
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Print rows for the hosts that were refused or approved, and a test of them",
		Long: `Reads from the decision log which hosts and requests the policies refused for want of a
row, and which people approved, and prints rows that would let them through and a test of
these in Rego. Nothing is changed: strike out what is not to be reached, and put the rest
into a folder of your own policies. A host that was refused as a whole gets a row for
reading alone, since it is not known what would have been sent. What people denied, and
what no row opens, is left out. Of the rest the 20 rows are printed that were wanted most
often. A sandbox chooses the names that it tries: one that looks like a host that is known
is marked.

Exit status: 0, or 1 if the log or the policies cannot be read.`,
		Example: `  bailiff egress suggest --since 168h
  bailiff egress suggest --session chat-42 --output json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := offline.LoadConfig(*configPath)
			if err != nil {
				return err
			}
			from, err := cli.Moment(since, time.Now())
			if err != nil {
				return err
			}
			demand, err := suggest.Read(cmd.Context(), cfg.StateDir, from, session)
			if err != nil {
				return err
			}
			policies, err := offline.OpenPolicies(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			floor := reach.NewFloor(cfg.Egress.Own, reach.MachineAddresses)
			s := demand.Suggestion(policies.Destinations(), func(address netip.Addr, port int) bool {
				return floor.CheckAll([]netip.Addr{address}, uint16(port), true) != nil
			})
			return cli.Show(cmd, format, s, s.Print)
		},
	}
	cli.SinceFlag(cmd, &since, "24h")
	cmd.Flags().StringVar(&session, "session", "", "only those of this session")
	cli.OutputFlag(cmd, &format)
	return cmd
}
