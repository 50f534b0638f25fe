// Package setup has the commands that prepare a machine: set-up of an agent in a project, the doctor, and the import from Hermes.
//
// Not here: what they write and look at (internal/agents).
package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/agents/setup"
	"github.com/bailiff-dev/bailiff/internal/text/diagnosis"
	"github.com/bailiff-dev/bailiff/internal/text/shellquote"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// New is "bailiff setup".
func New(configPath *string) *cobra.Command {
	r := setupRun{configPath: configPath}
	cmd := &cobra.Command{
		Use:   "setup AGENT --project DIR",
		Short: "Have an agent work on a project in a sandbox, judged by the policies",
		Long: `Makes a folder of yours the place in which an agent works: finds a backend (bubblewrap
or Docker), writes or extends bailiff.yaml and the tables of the policies so that sandboxes
show the folder at its own path, writable, and has the agent ask by an entry in your own
settings of it (never in the folder). Then starts the sidecar as a service of yours where a
service manager is there, elsewhere by your yes or --start as a process that no terminal
ends, and ends with "bailiff doctor". Without that yes it prints the line that starts it.

AGENT is one of: ` + agents.List() + `.

The folder can be neither /, nor a home folder or one above it, nor one with bailiff's own
files. Files in it that look like secrets are listed first: every command could read them.
What weakens bailiff is listed, and written only by a yes at the terminal or by its flag.

The same command again changes nothing; with another folder it adds that one. --remove takes
a folder away, though it be gone, and with the last one all that was written into the
agent's settings, and the service if nothing else needs it.

Exit status: 0, or 1 if nothing was written or the doctor finds a failure.`,
		Example: "  bailiff setup claude-code --project ~/src/shop",
		Args:    oneAgent,
		RunE:    func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.project, "project", "", "the `folder` that the agent works on")
	f.BoolVar(&r.dryRun, "dry-run", false, "write nothing, and print each change")
	f.BoolVar(&r.remove, "remove", false, "take the folder away again")
	f.BoolVar(&r.managed, "managed", false, "leave your own settings of the agent, and print the lines by which root has every user's ask")
	f.BoolVar(&r.answers.AcceptMissingLimits, "accept-missing-limits", false,
		"let sandboxes go without the limits that this machine cannot hold")
	f.BoolVar(&r.answers.AllowSameUser, "allow-same-user", false, "let your own user, whose agent it is, answer its approvals")
	f.BoolVar(&r.answers.ShowModules, "go-modules", false, "let sandboxes read the modules that Go keeps in your home")
	f.IntVar(&r.answers.ObserveDays, "observe", 0, "have most rules neither ask nor deny for so many `days`, 30 at most")
	f.BoolVar(&r.starts, "start", false, "start the sidecar where no service manager does, until the machine's next start")
	f.Bool("go-build-cache", false, "")
	_ = f.MarkDeprecated("go-build-cache", "the sandboxes of each project have a build cache of their own") // the flag is there
	return cmd
}

func oneAgent(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return errors.New("name one agent, before --project DIR: it is one of " + agents.List())
}

// setupRun is one run of the command.
type setupRun struct {
	configPath              *string
	agent, project          string
	dryRun, remove, managed bool
	starts                  bool // the sidecar, by the person's yes
	answers                 setup.Answers
	in                      *bufio.Reader
	out                     io.Writer
	isAttended              bool
	// isStale says that a sidecar which runs has not read what was written, at the time written;
	// needsRestart, that it cannot without a restart.
	isStale, needsRestart bool
	written               time.Time
}

func (r *setupRun) run(cmd *cobra.Command, agent string) error {
	if r.project == "" {
		return errors.New("give the folder that the agent works on: --project DIR")
	}
	r.agent = agent
	r.in, r.out = bufio.NewReader(cmd.InOrStdin()), cmd.OutOrStdout()
	r.isAttended = term.IsTerminal(int(os.Stdin.Fd()))
	in, err := r.config()
	if err != nil {
		return err
	}
	if r.remove {
		return r.takeAway(cmd.Context(), in)
	}
	survey, err := setup.Look(cmd.Context(), in)
	if err != nil {
		return err
	}
	r.tell(survey)
	if err := r.ask(cmd.Context(), survey); err != nil {
		return err
	}
	if err := r.write(cmd.Context(), survey); err != nil || r.dryRun {
		return err
	}
	err = r.start(cmd.Context(), survey)
	r.tellAnswering(survey)
	return err
}

// tellAnswering says how the questions of the agent are answered, which a client that runs unattended shows to no person.
func (r *setupRun) tellAnswering(s *setup.Survey) {
	answers, doubt := s.Answering(r.answers)
	r.say("Where the policies ask about a command, it waits for a person's answer:")
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, a := range answers {
		line := a.Line
		if *r.configPath != "" {
			line += " " + shellquote.Join("--config", s.File)
		}
		fmt.Fprintf(table, "  %s\t%s\n", termsafe.Text(line), a.What)
	}
	_ = table.Flush() // to where all else was printed
	if doubt != "" {
		r.say("%s", doubt)
	}
}

func (r *setupRun) config() (setup.Config, error) {
	program, err := os.Executable()
	if err != nil {
		return setup.Config{}, fmt.Errorf("finding bailiff's programs: %w", err)
	}
	folder := filepath.Dir(program)
	if _, err := os.Stat(filepath.Join(folder, "bailiff-hook")); err != nil {
		return setup.Config{}, fmt.Errorf("there is no bailiff-hook beside %s: install all of bailiff's programs in one folder", program)
	}
	path, err := runner.Find("")
	if err != nil {
		return setup.Config{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return setup.Config{}, fmt.Errorf("finding your home folder: %w", err)
	}
	file := *r.configPath
	if file == "" {
		file = os.Getenv("BAILIFF_CONFIG")
	}
	return setup.Config{Agent: r.agent, Project: r.project, File: file, Managed: r.managed, Programs: folder, Home: home,
		UID: os.Geteuid(), GID: os.Getegid(), Getenv: os.Getenv, Known: catalogue.All(), Prober: setup.Sandboxes{Runner: path}}, nil
}

func (r *setupRun) say(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = termsafe.Text(text)
		}
	}
	fmt.Fprintf(r.out, format+"\n", args...)
}

// mostListed bounds a list on a screen.
const mostListed = 20

// tell says what was found.
func (r *setupRun) tell(s *setup.Survey) {
	r.say("project  %s", s.Project)
	r.say("backend  %s", s.Backend)
	if n := len(s.Sensitive); n > 0 {
		r.say("Files that look like secrets, which every command of the agent could read:")
		for _, name := range s.Sensitive[:min(n, mostListed)] {
			r.say("  %s", name)
		}
		if n > mostListed {
			r.say("  … and %d more", n-mostListed)
		}
	}
	for _, folder := range s.MissingFolders() {
		r.say("%s is not there any more, and no sandbox is made while it is shown: bailiff setup %s --project %s --remove", folder,
			r.agent, shellquote.Quote(folder))
	}
}

func (r *setupRun) write(ctx context.Context, s *setup.Survey) error {
	var managed []string
	if r.managed {
		lines, err := s.RootLines()
		if err != nil {
			return err
		}
		managed = lines
	}
	changes, err := s.Changes(r.answers)
	if err != nil {
		return err
	}
	if setup.HasManager(ctx) {
		unit, err := s.ServiceChange()
		if err != nil {
			return err
		}
		if unit.Before != unit.After {
			changes = append(changes, unit)
		}
	}
	if err := r.put(changes); err != nil {
		return err
	}
	r.recordChanges(s, changes)
	if r.managed {
		r.say("As root, so that every user's %s asks, and no setting of theirs switches that off:", r.agent)
		for _, line := range managed {
			fmt.Fprintln(r.out, line)
		}
		return nil
	}
	if !r.dryRun {
		r.trust(ctx, s)
	}
	for _, line := range s.Advice() {
		r.say("%s", line)
	}
	return nil
}

// trust has the agent call what was written for it, or says that it does not.
func (r *setupRun) trust(ctx context.Context, s *setup.Survey) {
	if byHand, err := s.Trust(ctx); err != nil {
		r.say("%s runs everything unjudged until you trust the hook in it (%s), which could not be done here: %s", r.agent, byHand,
			err.Error())
	}
}

// put writes changes, or shows them.
func (r *setupRun) put(changes []settings.Change) error {
	if len(changes) == 0 {
		r.say("Nothing to change.")
	}
	if !r.dryRun {
		if err := settings.Write(changes); err != nil {
			return err
		}
	}
	copied := 0
	for _, c := range changes {
		switch {
		case c.Why == setup.CopiedPolicies:
			copied++
		case r.dryRun && c.Gone:
			r.say("would remove %s: %s", c.Path, c.Why)
		case r.dryRun:
			r.say("would write %s: %s", c.Path, c.Why)
			for _, line := range c.Lines() {
				r.say("  %s", line)
			}
		case c.Gone:
			r.say("removed %s: %s", c.Path, c.Why)
		default:
			r.say("wrote %s: %s", c.Path, c.Why)
		}
	}
	if copied > 0 {
		r.say("and %d files of the shipped policies beside data.yaml", copied)
	}
	return nil
}

func (r *setupRun) takeAway(ctx context.Context, in setup.Config) error {
	survey, err := setup.LookBack(in)
	if err != nil {
		return err
	}
	changes, err := survey.Removal()
	if err != nil {
		return err
	}
	if err := r.put(changes); err != nil {
		return err
	}
	for _, line := range survey.Stays {
		r.say("%s", line)
	}
	if survey.IsLast() && !r.dryRun {
		r.say("What %s runs on this machine is not judged by bailiff any more.", r.agent)
	}
	r.recordChanges(survey, changes)
	return r.retire(ctx, survey)
}

// recordChanges keeps what a sidecar has to do with changes that were written.
func (r *setupRun) recordChanges(s *setup.Survey, changes []settings.Change) {
	r.written = time.Now()
	r.isStale = slices.ContainsFunc(changes, s.IsOfSidecar)
	r.needsRestart = slices.ContainsFunc(changes, s.NeedsRestart)
}

// retire ends the user's service where nothing needs it any more.
func (r *setupRun) retire(ctx context.Context, s *setup.Survey) error {
	if !s.IsService() {
		return r.afterRemoval(ctx, s)
	}
	if needs := s.Serves(); len(needs) > 0 {
		r.say("Your service bailiff goes on, for %s.", strings.Join(needs, ", "))
		return r.afterRemoval(ctx, s)
	}
	switch {
	case r.dryRun:
		r.say("would end your service bailiff, which nothing needs any more: %s", setup.StopLine)
		return nil
	case !setup.HasManager(ctx):
		r.say("Nothing needs your service bailiff any more; no service manager answers here, so end it where one does: %s",
			setup.StopLine)
		return nil
	}
	if err := s.Stop(ctx); err != nil {
		return err
	}
	r.say("Your service bailiff is ended, since nothing needs it any more.")
	return nil
}

// afterRemoval has a sidecar that goes on show no longer what was taken away.
func (r *setupRun) afterRemoval(ctx context.Context, s *setup.Survey) error {
	if !r.isStale || r.dryRun {
		return nil
	}
	follows, err := r.follow(ctx, s)
	if err != nil || follows {
		return err
	}
	if s.IsService() && setup.HasManager(ctx) {
		return r.restart(ctx, s)
	}
	r.say("If a sidecar runs, start it anew, so that it reads what is written now:")
	r.say("  %s", s.Line())
	return nil
}

// testsFirst is why a sidecar that starts, or takes policies over, does not answer at once.
const testsFirst = "First the tests of its policies run, which takes up to a minute on a busy machine."

// startPatience is how long a sidecar may take until it answers.
const startPatience = 2 * time.Minute

// start has the sidecar run with what was written, and the doctor prove it. One that has read all of it goes on.
func (r *setupRun) start(ctx context.Context, s *setup.Survey) error {
	if !r.isStale && isServed(ctx, s.File) {
		return r.prove(ctx, s)
	}
	follows, err := r.follow(ctx, s)
	if err != nil {
		return err
	}
	if follows {
		return r.prove(ctx, s)
	}
	other := s.OtherService()
	if other != "" {
		r.say("Your service bailiff is that of %s, and stays so.", other)
	}
	switch {
	case other == "" && setup.HasManager(ctx):
		err = r.restart(ctx, s)
	case r.starts && !isServed(ctx, s.File):
		err = r.launch(ctx, s)
	default:
		r.say("Start the sidecar, anew if one runs; then bailiff doctor %s --wait 1m proves that it guards:", r.agent)
		r.say("  %s", s.Line())
		return nil
	}
	if err != nil {
		return err
	}
	return r.prove(ctx, s)
}

// launch starts the sidecar where no service manager does, and waits until it answers.
func (r *setupRun) launch(ctx context.Context, s *setup.Survey) error {
	r.say("Starting the sidecar. %s", testsFirst)
	sidecar, log, err := s.Launch()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = sidecar.Wait() // its log says how it ended
	}()
	if err := awaitServed(ctx, s.File, ended); err != nil {
		return fmt.Errorf("%w: %s says why", err, log)
	}
	r.say("The sidecar runs until process %d or this machine ends, and logs to %s. The line that starts it again:",
		sidecar.Process.Pid, log)
	r.say("  %s", s.Line())
	return nil
}

// restart has the service manager start the sidecar anew, and waits for it.
func (r *setupRun) restart(ctx context.Context, s *setup.Survey) error {
	r.say("Starting the sidecar. %s", testsFirst)
	if err := setup.Restart(ctx); err != nil {
		return err
	}
	return r.await(ctx, s)
}

// prove has the doctor look, whose failures are the command's.
func (r *setupRun) prove(ctx context.Context, s *setup.Survey) error {
	all, err := examine(ctx, s.File, 0, []string{r.agent})
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	printChecks(table, all)
	if err := table.Flush(); err != nil {
		return err
	}
	if all.Worst() == diagnosis.Failed {
		return cli.Status(1)
	}
	return nil
}

// awaitServed waits until a sidecar answers, which may end before.
func awaitServed(ctx context.Context, file string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for !isServed(ctx, file) {
		select {
		case <-ended:
			return errors.New("the sidecar ended before it answered")
		case <-ctx.Done():
			return errors.New("the sidecar does not answer")
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// await waits until the service answers.
func (r *setupRun) await(ctx context.Context, s *setup.Survey) error {
	if err := awaitServed(ctx, s.File, nil); err != nil {
		return fmt.Errorf("%w: journalctl --user -u bailiff says why", err)
	}
	r.say("The sidecar runs, as your service bailiff.")
	if !setup.Lingers() {
		r.say("It ends with your last login on this machine and starts with the next; \"loginctl enable-linger\" has it go on.")
	}
	return nil
}

// isServed says whether a sidecar answers its operators.
func isServed(ctx context.Context, file string) bool {
	operator, err := cli.SocketClient(io.Discard, file)
	if err != nil {
		return false
	}
	_, err = operator.Status(ctx)
	return err == nil
}
