package rows

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Verdict is what policies say of a row.
type Verdict struct {
	Outcome  bailiff.Outcome
	Rules    []string
	Revision string
	Unparsed bool
	// Sights are the programs that no table knows, where nothing else of the row is to be asked about.
	Sights []string
	// Fault is why the policies gave no decision; the outcome is then a denial.
	Fault error
	Took  time.Duration
}

// Judge judges rows, several at a time.
type Judge interface {
	// Check says what is wrong with a row that cannot be judged.
	Check(row Row) error
	Judge(ctx context.Context, row Row) Verdict
}

// Run is a run over files of rows.
type Run struct {
	Judge Judge
	// GroupBy is the key of a row by whose value rows are counted together; empty is "group".
	GroupBy string
	// Labels say what is wanted of rows that do not say it themselves.
	Labels Labels
	// Show keeps the rows that are wrong in this way, [Through] or [False], or the first sights, [Sights].
	Show string

	tally *tally
}

// task is a row on its way.
type task struct {
	row     Row
	verdict Verdict
	done    chan struct{}
}

// Add judges the rows of a file and counts them in their order. An error names the file and the line.
func (r *Run) Add(ctx context.Context, in io.Reader, name string) error {
	if r.tally == nil {
		r.tally = newTally(r.Show)
	}
	workers := runtime.GOMAXPROCS(0)
	tasks, inOrder := make(chan *task, 4*workers), make(chan *task, 8*workers)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for t := range tasks {
				began := time.Now()
				t.verdict = r.Judge.Judge(ctx, t.row)
				t.verdict.Took = time.Since(began)
				close(t.done)
			}
		})
	}
	all.Go(func() {
		for t := range inOrder {
			<-t.done
			r.tally.add(name, t.row, t.verdict)
		}
	})
	err := read(in, name, r.GroupBy, func(row Row) error {
		row.Want = r.Labels.of(row)
		err := r.Judge.Check(row)
		if err = cmp.Or(err, ctx.Err()); err == nil {
			t := &task{row: row, done: make(chan struct{})}
			tasks <- t
			inOrder <- t
		}
		return err
	})
	close(tasks)
	close(inOrder)
	all.Wait()
	return err
}

// Report is what became of all that was added.
func (r *Run) Report() Report { return r.tally.sum() }
