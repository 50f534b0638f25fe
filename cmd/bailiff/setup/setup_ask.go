package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/agents/setup"
)

// choice is something that holds only by a person's yes.
type choice struct {
	text string
	yes  *bool
}

// choices are those that are not agreed to yet.
func (r *setupRun) choices(ctx context.Context, s *setup.Survey) []choice {
	all := []struct {
		applies bool
		choice
	}{
		{len(s.Missing) > 0, choice{"Go without the limits that this machine cannot hold for " + s.Backend + ": " +
			strings.Join(s.Missing, ", ") + ". A command could use all of them up. Without this yes nothing is written " +
			"(--accept-missing-limits).", &r.answers.AcceptMissingLimits}},
		{s.Modules != "", choice{"Show sandboxes the modules that Go keeps in " + s.Modules + ", read-only. Without them commands " +
			"find none (--go-modules).", &r.answers.ShowModules}},
		{s.SameUser, choice{"Answer approvals as this user, which is the agent's too: a command on this machine could answer as you. " +
			"Without it only another user may answer (--allow-same-user).", &r.answers.AllowSameUser}},
		{!setup.HasManager(ctx) && s.OtherService() == "" && !isServed(ctx, s.File), choice{"Start the sidecar now, which no service " +
			"manager does here: it goes on without this terminal until the machine's next start (--start).", &r.starts}},
	}
	var left []choice
	for _, c := range all {
		if c.applies && !*c.yes {
			left = append(left, c.choice)
		}
	}
	return left
}

// ask lists what must be agreed to, and asks once where a person is there. Elsewhere nothing is agreed to; what is only shown is
// shown as if all were.
func (r *setupRun) ask(ctx context.Context, s *setup.Survey) error {
	choices := r.choices(ctx, s)
	if len(choices) == 0 {
		return nil
	}
	r.say("Only by your yes:")
	for i, c := range choices {
		r.say("  %d  %s", i+1, c.text)
	}
	agreed, err := r.agreed(ctx, len(choices))
	for _, i := range agreed {
		*choices[i].yes = true
	}
	return err
}

// agreed are the places in a list of so many of those that a person agrees to.
func (r *setupRun) agreed(ctx context.Context, listed int) ([]int, error) {
	all := make([]int, listed)
	for i := range all {
		all[i] = i
	}
	switch {
	case r.dryRun:
		return all, nil
	case !r.isAttended:
		return nil, nil
	}
	question := `To which do you agree? Numbers as "1 2", "all", or nothing for none: `
	if listed == 1 {
		question = "Do you agree? [y/N] "
	}
	for {
		line, err := r.answer(ctx, question)
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		chosen, err := chosenOf(all, line)
		if err == nil {
			return chosen, nil
		}
		r.say("%s", err.Error())
	}
}

// answer is a line that a person types. An interrupt ends the wait for it.
func (r *setupRun) answer(ctx context.Context, question string) (string, error) {
	fmt.Fprint(r.out, question)
	type typed struct {
		line string
		err  error
	}
	typing := make(chan typed, 1)
	go func() {
		line, err := r.in.ReadString('\n')
		typing <- typed{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.New("interrupted, so nothing is written")
	case t := <-typing:
		return t.line, t.err
	}
}

// chosenOf reads an answer about a list. One that is not wholly understood agrees to nothing.
func chosenOf(all []int, answer string) (chosen []int, err error) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(answer, ",", " ")))
	switch line := strings.Join(words, " "); {
	case line == "n" || line == "no" || line == "none":
		return nil, nil
	case line == "all", len(all) == 1 && (line == "y" || line == "yes"):
		return all, nil
	}
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(all) {
			return nil, fmt.Errorf("%q is no number of the list", word)
		}
		chosen = append(chosen, n-1)
	}
	return chosen, nil
}
