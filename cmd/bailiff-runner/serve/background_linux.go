package serve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/journal"
)

// maxBackground bounds the background commands that are not forgotten.
const maxBackground = 64

var (
	errManyProcesses = fmt.Errorf("%d background commands are remembered, which is all that can be: forget some that have ended",
		maxBackground)
	errNoProcess = errors.New("the sandbox has no such background command")
	errRunsStill = errors.New("the background command runs still")
	errHasEnded  = errors.New("the background command has ended")
)

// own makes a background command known under its tag. The caller holds the lock.
func (r *runner) own(j *job) error {
	switch {
	case j.Mode != wire.Background:
		return nil
	case len(r.background) >= maxBackground:
		return errManyProcesses
	case j.Tag == "" || len(j.Tag) > wire.MaxTag:
		return fmt.Errorf("%q is no name for a background command", j.Tag)
	case r.tagged(j.Tag) != nil:
		return fmt.Errorf("there is a background command %q already", j.Tag)
	}
	r.background = append(r.background, j)
	return nil
}

// disown takes a command from those that are known.
func (r *runner) disown(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.background = without(r.background, j)
}

func without(list []*job, j *job) []*job {
	return slices.DeleteFunc(list, func(other *job) bool { return other == j })
}

func (r *runner) tagged(tag string) *job {
	for _, j := range r.background {
		if j.Tag == tag {
			return j
		}
	}
	return nil
}

// known is what a client is told of background commands. The caller holds the lock.
func (r *runner) known() (list []wire.Known) {
	for _, j := range r.background {
		k := wire.Known{Tag: j.Tag, Over: j.over != nil}
		if k.Over {
			k.End = *j.over
		}
		list = append(list, k)
	}
	return list
}

// inherit takes the journal of a command that has ended.
func (r *runner) inherit(j *job, payload []byte) {
	piece, err := wire.Decode[wire.Piece](payload)
	if err != nil {
		return
	}
	if j.journal == nil {
		j.journal = journal.New(piece.From)
	}
	_, _ = j.journal.Write(piece.Data)
}

// announce tells that a background command has ended.
func (r *runner) announce(j *job, end wire.End) {
	end.Dir = "" // nothing goes on from there
	r.mu.Lock()
	if j.journal == nil { // it was lost with its supervisor
		j.journal = journal.New(0)
	}
	j.over = &end
	r.mu.Unlock()
	r.say(wire.Over, wire.Everything, wire.Encode(wire.Known{Tag: j.Tag, Over: true, End: end}))
}

// inquire answers a question about a background command, or has its supervisor do so.
func (r *runner) inquire(f wire.Frame) {
	i, err := wire.Decode[wire.Inquiry](f.Payload)
	if err != nil {
		return
	}
	r.mu.Lock()
	j := r.tagged(i.Tag)
	over := j != nil && j.over != nil
	r.mu.Unlock()
	stream := f.Stream
	switch {
	case j == nil:
		r.refuse(stream, wire.Unfit, errNoProcess)
	case f.Kind == wire.Stop:
		go r.finishOff(j, stream)
	case !over && f.Kind == wire.Forget:
		r.refuse(stream, wire.Unfit, errRunsStill)
	case !over:
		i.Asker, f.Stream = stream, j.stream
		f.Payload = wire.Encode(i)
		j.slot.say(f)
	case f.Kind == wire.Log:
		r.say(wire.Logged, stream, wire.Encode(j.journal.Read(i.Offset, i.Most)))
	case f.Kind == wire.Feed:
		r.refuse(stream, wire.Unfit, errHasEnded)
	case f.Kind == wire.Forget:
		r.disown(j)
		j.journal.Close()
		r.say(wire.Done, stream, nil)
	}
}

// finishOff ends a background command with all that it started.
func (r *runner) finishOff(j *job, stream uint32) {
	r.stop(j, &j.interrupted)
	if !r.destroy(j) {
		r.refuse(stream, wire.Unfit, errors.New("what the background command started does not go"))
		return
	}
	r.say(wire.Done, stream, nil)
}
