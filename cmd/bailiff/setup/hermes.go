package setup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/agents/hermes"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// NewHermes is "bailiff hermes".
func NewHermes(configPath *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hermes",
		Short: "Take over the settings of a Hermes agent, and prove that bailiff guards it",
		Long:  `Commands about a Hermes agent on this machine, and its home folder.`,
	}
	cmd.AddCommand(newHermesImport(), newHermesDoctor(configPath))
	cli.NamingOne(cmd)
	return cmd
}

// hermesHome holds the flags that say which home.
type hermesHome struct{ folder, profile string }

func (h *hermesHome) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.folder, "home", "", "Hermes' `folder` (default: $HERMES_HOME, ~/.hermes)")
	cmd.Flags().StringVar(&h.profile, "profile", "", "the profile of Hermes' to read, by `name`")
}

func (h *hermesHome) read() (*hermes.Home, error) {
	folder := h.folder
	if folder == "" {
		folder = os.Getenv("HERMES_HOME")
	}
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("finding Hermes' home: %w; name it by --home", err)
		}
		folder = filepath.Join(home, ".hermes")
	}
	if h.profile != "" {
		folder = filepath.Join(folder, "profiles", h.profile)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("finding Hermes' home: %w", err)
	}
	return hermes.Read(folder, hermes.ManagedFolder())
}

func newHermesImport() *cobra.Command {
	var home hermesHome
	var to hermes.Destination
	var format string
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Write a configuration and policies that say what Hermes' settings say",
		Long: `Reads config.yaml and .env of a Hermes home, with what an administrator pinned in
/etc/hermes (or $HERMES_MANAGED_DIR) over them, and writes bailiff.yaml and the
folder policies: the shipped ones, with the tables in data.yaml edited in place.

What is written allows no more than Hermes did, and where it allows more than the
shipped policies, the report says so. Each setting that decides about commands is
in the report, with where it went, or why it went nowhere and what to do instead.
Values of variables are not copied, only their names.

Exit status: 0, or 1 if nothing was written.`,
		Example: "  bailiff hermes import --to ~/.config/bailiff",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to.Folder == "" {
				return errors.New("give the folder to write to: --to ~/.config/bailiff is where bailiff finds its configuration by itself")
			}
			report, err := home.imported(to)
			if err != nil {
				return err
			}
			return cli.Show(cmd, format, report, func(w io.Writer) { printImport(w, report) })
		},
	}
	home.register(cmd)
	cmd.Flags().StringVar(&to.Folder, "to", "", "the `folder` to write to")
	cmd.Flags().BoolVar(&to.Replace, "force", false, "replace bailiff.yaml and policies that are there")
	cli.OutputFlag(cmd, &format)
	return cmd
}

// imported writes to a folder what the home's settings say.
func (h *hermesHome) imported(to hermes.Destination) (hermes.Report, error) {
	read, err := h.read()
	if err != nil {
		return hermes.Report{}, err
	}
	defaults := config.Default(catalogue.All())
	to.Agent, to.Operator = defaults.Agent.Listeners[0].Listen.String(), defaults.Operator.UIDs[0]
	return hermes.Import(read, to)
}

func printImport(w io.Writer, r hermes.Report) {
	fmt.Fprintf(w, "wrote\t%s\n", termsafe.Text(filepath.Dir(r.Files[0])))
	for _, c := range r.Carried {
		fmt.Fprintf(w, "carried over\t%s\t%s\n", termsafe.Text(c.Setting), termsafe.Text(c.From))
		fmt.Fprintf(w, "\t\tto %s\n", termsafe.Text(c.To))
		if c.Note != "" {
			fmt.Fprintf(w, "\t\t%s\n", termsafe.Text(c.Note))
		}
	}
	for _, l := range r.Left {
		fmt.Fprintf(w, "not carried over\t%s\t%s\n", termsafe.Text(l.Setting), termsafe.Text(l.From))
		fmt.Fprintf(w, "\t\t%s\n", termsafe.Text(l.Why))
		if l.Do != "" {
			fmt.Fprintf(w, "\t\t%s\n", termsafe.Text(l.Do))
		}
	}
	for _, sentence := range r.Next {
		fmt.Fprintf(w, "next\t%s\n", termsafe.Text(sentence))
	}
}

func newHermesDoctor(configPath *string) *cobra.Command {
	var home hermesHome
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Prove that bailiff guards a Hermes agent, and list what goes past it",
		Long: `Looks whether the plug-in of a Hermes home is the shipped one and enabled, whether
the running sidecar serves it and the platforms that Hermes serves, and what in
Hermes' settings goes past the plug-in or could take it out. Then it proves the
gate: it has the shipped plug-in ask, for each platform, for a command that must
be denied (and would do nothing), and sees that it is denied and blocked, and
blocked where no sidecar is.

It asks as the user whose home it is, so run it as that user or as root; it asks
the sidecar as its operator too. What is set in the environment of Hermes' service
alone is out of its sight: give it the same BAILIFF_LISTEN and the like.

Exit status: 0 if all is well, 2 if there are warnings only, 1 otherwise.`,
		Example: "  bailiff hermes doctor --home /home/hermes/.hermes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, err := home.read()
			if err != nil {
				return err
			}
			operator, err := cli.OperatorClient(cmd.ErrOrStderr(), *configPath)
			if err != nil {
				return err
			}
			d := hermes.Examine(cmd.Context(), read, operator)
			if err := cli.Show(cmd, format, d, func(w io.Writer) { printChecks(w, d.Checks) }); err != nil {
				return err
			}
			return diagnosisStatus(d.Checks.Worst())
		},
	}
	home.register(cmd)
	cli.OutputFlag(cmd, &format)
	return cmd
}

func diagnosisStatus(worst diagnosis.State) error {
	switch worst {
	case diagnosis.Fine:
		return nil
	case diagnosis.Warned:
		return cli.Status(2)
	}
	return cli.Status(1)
}

func printChecks(w io.Writer, all diagnosis.Checks) {
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.State, termsafe.Text(c.Name), termsafe.Text(c.Message))
		if c.Do != "" {
			fmt.Fprintf(w, "\t\t%s\n", termsafe.Text(c.Do))
		}
	}
}
