package auditlog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/record/evidence"
)

func newAuditExport(configPath *string) *cobra.Command {
	var e caseExport
	cmd := &cobra.Command{
		Use:   "export --case ID --file ARCHIVE",
		Short: "Write all that the log says of one case into an archive",
		Long: `Gathers the events of one session, request, decision or approval, with those that belong
to them: the question, the answer, what ran. The archive (tar, gzip) has their lines as
they stand in the log, what a check of the whole log found, and a page to read. With
--against the log is held to signed heads too, as by "bailiff audit verify".

Exit status: 0, 2 if the log was tampered with (the archive is written and says so), 1 if
there is no such case or something cannot be read or written.`,
		Example: "  bailiff audit export --case a-8f3k2 --file case.tar.gz",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return e.run(cmd, *configPath) },
	}
	cmd.Flags().StringVar(&e.id, "case", "", "the `id` of a session, request, decision or approval")
	cmd.Flags().StringVar(&e.file, "file", "", "the `archive` to write, which must not exist")
	e.verification.register(cmd)
	_ = errors.Join(cmd.MarkFlagRequired("case"), cmd.MarkFlagRequired("file")) // there are such flags
	return cmd
}

// caseExport is "bailiff audit export" as its flags order it.
type caseExport struct {
	id, file     string
	verification verification
}

func (e *caseExport) run(cmd *cobra.Command, configPath string) error {
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return err
	}
	signed, err := e.verification.heads()
	if err != nil {
		return err
	}
	found, fault := audit.Verify(cfg.StateDir, signed...)
	if fault != nil && len(found.Faults) == 0 {
		return fault
	}
	gathered, err := evidence.Gather(cmd.Context(), cfg.StateDir, e.id)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := gathered.Write(&archive, found, time.Now()); err != nil {
		return err
	}
	if err := writeNew(e.file, archive.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s of %s in %s\n", cli.Amount(int64(len(gathered.Events)), "event"), gathered.ID, e.file)
	if fault != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "bailiff: %v\n", fault)
		return cli.Status(2)
	}
	return nil
}

// writeNew writes a file for its owner alone, in no other's place.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
