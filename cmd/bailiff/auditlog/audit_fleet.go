package auditlog

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/fleet"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// fleetVerification is "bailiff audit verify --fleet" as its flags order it.
type fleetVerification struct {
	fleet bool
	heads string
}

func (f *fleetVerification) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.fleet, "fleet", false, "check the logs of all sidecars that share a PostgreSQL")
	cmd.Flags().StringVar(&f.heads, "heads", "", "with --fleet: a `file` that \"bailiff audit head --fleet\" printed, in the place of "+
		"PostgreSQL")
	cmd.MarkFlagsMutuallyExclusive("fleet", "against")
	cmd.MarkFlagsMutuallyExclusive("against", "heads")
}

func (f *fleetVerification) run(cmd *cobra.Command, configPath, format string, paths []string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	told, err := f.told(cmd.Context(), cfg) // before any log is read, since sidecars go on
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{cfg.StateDir}
	}
	var folders []string
	for _, path := range paths {
		found, err := audit.StateDirs(path)
		if err != nil {
			return err
		}
		folders = append(folders, found...)
	}
	logs, err := audit.VerifyFleet(folders, told)
	if err != nil {
		return err
	}
	if err := cli.Show(cmd, format, logs, func(w io.Writer) { printFleet(w, logs) }); err != nil {
		return err
	}
	for _, l := range logs {
		if l.State != audit.LogWhole {
			return cli.Status(2)
		}
	}
	return nil
}

// told are the heads of a file, or else of PostgreSQL.
func (f *fleetVerification) told(ctx context.Context, cfg *config.Config) (told []audit.Told, err error) {
	if f.heads == "" {
		return fleetHeads(ctx, cfg)
	}
	file, err := os.Open(f.heads)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		var one audit.Told
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one.Chain == "" || one.Hash == "" {
			return nil, fmt.Errorf("%s:%d: this is no head: want a line as \"bailiff audit head --fleet\" prints it", f.heads, number)
		}
		told = append(told, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.heads, err)
	}
	return told, nil
}

func fleetHeads(ctx context.Context, cfg *config.Config) (told []audit.Told, err error) {
	db, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	heads, err := fleet.Heads(ctx, db)
	for _, h := range heads {
		told = append(told, audit.Told(h))
	}
	return told, err
}

func printFleetHeads(cmd *cobra.Command, configPath string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	told, err := fleetHeads(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	to := json.NewEncoder(cmd.OutOrStdout())
	for _, one := range told {
		if err := to.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

func printFleet(w io.Writer, logs []audit.FleetLog) {
	for _, l := range logs {
		name := termsafe.Text(l.Replica)
		until := fmt.Sprintf("the other sidecars were told of %s until %s", cli.Amount(l.Lines, "line"), l.Time.Format(time.RFC3339))
		switch l.State {
		case audit.LogWhole:
			fmt.Fprintf(w, "%s: whole: %s in %s; %s\n", name, cli.Amount(l.Report.Retired+l.Report.Lines, "line"), l.StateDir, until)
		case audit.LogMissing:
			fmt.Fprintf(w, "%s: missing: no log of it was given; %s\n", name, until)
		case audit.LogCutShort:
			fmt.Fprintf(w, "%s: cut short: %s has %s; %s\n", name, l.StateDir, cli.Amount(l.Report.Retired+l.Report.Lines, "line"), until)
		case audit.LogTampered:
			fmt.Fprintf(w, "%s: tampered with: the log in %s is not as it was written\n", name, l.StateDir)
		default:
			fmt.Fprintf(w, "unknown: no sidecar has told of the log in %s\n", l.StateDir)
		}
		for _, fault := range l.Report.Faults {
			fmt.Fprintf(w, "  %s\t%s\n", fault.Place(), fault.Problem)
		}
	}
}
