package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// dutyLasts is after how long without a word a duty is another sidecar's to take; dutyTrust is
	// how long its own word is enough for the one that has it, dutyEvery how often it renews it.
	dutyLasts = deadAfter
	dutyTrust = 10 * time.Second
	dutyEvery = 2 * time.Second
)

const (
	takeDuty = `INSERT INTO bailiff.duties AS d (name, replica, epoch, until)
		SELECT $1, $2, $3, clock_timestamp() + make_interval(secs => $4)
		WHERE EXISTS (SELECT FROM bailiff.replicas WHERE id = $2 AND epoch = $3)
		ON CONFLICT (name) DO UPDATE SET replica = excluded.replica, epoch = excluded.epoch, until = excluded.until
		WHERE d.replica = excluded.replica OR d.until < clock_timestamp()`
	hasDuty   = "SELECT replica FROM bailiff.duties WHERE name = $1 AND until > clock_timestamp()"
	leaveDuty = "DELETE FROM bailiff.duties WHERE name = $1 AND replica = $2 AND epoch = $3"
)

// Duty has one sidecar at a time do something until ctx ends: do is called where that is this one,
// and its context ends when it no longer is. Elsewhere is told the one that does it instead.
func (f *Fleet) Duty(ctx context.Context, name string, do func(context.Context), elsewhere func(replica string)) {
	for ctx.Err() == nil {
		begun := time.Now()
		switch holder, err := f.takeDuty(ctx, name); {
		case err != nil || holder == "": // PostgreSQL, or this sidecar's name, is away
		case holder == f.config.Replica:
			f.doDuty(ctx, name, begun, do)
		default:
			elsewhere(holder)
		}
		pause(ctx, dutyEvery)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// takeDuty takes or renews a duty, and says whose it is.
func (f *Fleet) takeDuty(ctx context.Context, name string) (holder string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue(takeDuty, name, f.config.Replica, f.config.Standing().Epoch, dutyLasts.Seconds())
	b.Queue(hasDuty, name).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&holder); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	return holder, fault(f.config.DB.Own().SendBatch(ctx, b).Close())
}

// doDuty does one that was taken, and leaves it to the others.
func (f *Fleet) doDuty(ctx context.Context, name string, taken time.Time, do func(context.Context)) {
	doing, stop := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() { defer close(renewed); f.renew(doing, name, taken, stop) }()
	do(doing)
	stop()
	<-renewed
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	_, _ = f.config.DB.Own().Exec(last, leaveDuty, name, f.config.Replica, f.config.Standing().Epoch) // else it ends by itself
}

// renew keeps a duty until its context ends, and ends that where it cannot.
func (f *Fleet) renew(ctx context.Context, name string, renewed time.Time, lost func()) {
	for {
		pause(ctx, dutyEvery)
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		holder, err := f.takeDuty(ctx, name)
		if err == nil && holder == f.config.Replica {
			renewed = begun
		}
		if err == nil && holder != f.config.Replica || time.Since(renewed) >= dutyTrust {
			lost()
			return
		}
	}
}
