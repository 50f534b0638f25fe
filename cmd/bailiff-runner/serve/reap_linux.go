package serve

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
)

// discard frees the slot of a supervisor that has ended, and ends what that has left to the runner.
func (p *pool) discard(s *slot) {
	s.file.Close()
	p.kill(s.pid)
	<-s.dead
	p.mu.Lock()
	j := s.job
	s.job = nil
	for i, other := range p.idle {
		if other == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if p.until(time.Now().Add(patience), func() bool { return p.strikeStrays() == 0 }) {
		p.mu.Lock()
		p.discards--
		p.mu.Unlock()
	}
	if j == nil {
		return
	}
	if !j.isGone() {
		close(j.gone)
	}
	p.lost(j)
}

func (p *pool) jobOf(s *slot) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.job
}

// kill kills a supervisor that is still there.
func (p *pool) kill(pid int) {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.isSlot(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// labelOf is the label of the command that a process belongs to, 0 where none does.
func (p *pool) labelOf(pid int) uint32 {
	for known := true; known && pid > 1; {
		if j := p.jobAt(pid); j != nil {
			return j.Label
		}
		pid, known = processes.ParentOf(pid)
	}
	return 0
}

// jobAt is the job of the supervisor that a process is.
func (p *pool) jobAt(pid int) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.slots[pid]; s != nil {
		return s.job
	}
	return nil
}

func (p *pool) isSlot(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slots[pid] != nil
}

// wake has supervisors that a command has stopped go on, and what is becoming one.
// It holds up no other process and is held up by none. What else is stopped is so to be
// killed.
func (p *pool) wake() {
	for {
		pid := stoppedChild()
		if pid == 0 {
			return
		}
		if p.isSlot(pid) || p.spawning.Load() {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// siPID is where the kernel's word about a child has its number.
const siPID = 16

// stoppedChild takes the news of a child that was stopped; zero if there is none.
func stoppedChild() int {
	for {
		var news unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &news, unix.WSTOPPED|unix.WNOHANG|unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0
		}
		return int(*(*int32)(unsafe.Add(unsafe.Pointer(&news), siPID)))
	}
}

// reap takes the dead from the process table.
func (p *pool) reap() {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil || pid == 0:
			return
		default:
			p.freeSlot(pid, status.Signaled())
		}
	}
}

// freeSlot notes that a supervisor has ended. If it was killed, those that wait may
// have been too, and just not be dead yet: no command shall be given to them.
func (p *pool) freeSlot(pid int, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[pid]
	if s == nil {
		return
	}
	delete(p.slots, pid)
	p.discards++
	close(s.dead)
	if killed {
		for _, idle := range p.idle {
			idle.file.Close()
		}
		p.idle = nil
	}
}

// end kills a job. It returns when nothing of it is left, or false when
// something does not go.
func (p *pool) end(j *job) bool {
	return p.until(time.Now().Add(patience), func() bool {
		p.strikeJob(j)
		return j.isGone()
	})
}

// until repeats an attempt until it succeeds or there is no more time.
func (p *pool) until(deadline time.Time, attempt func() bool) bool {
	for pause := 200 * time.Microsecond; !attempt(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// strikeJob holds the lock throughout, so that the supervisor cannot get another
// job meanwhile.
func (p *pool) strikeJob(j *job) {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if pid := j.slot.pid; j.slot.job == j && p.slots[pid] != nil && !j.isGone() {
		processes.Kill(pid, processes.None)
	}
}

// strikeStrays kills what is below the runner and below no supervisor.
func (p *pool) strikeStrays() int {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	return processes.Kill(os.Getpid(), p.isSlot)
}

// atWork lists the jobs that run or left something that does.
func (p *pool) atWork() (list []*job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slots {
		if s.job != nil && !s.job.isGone() {
			list = append(list, s.job)
		}
	}
	return list
}

// kept lists the jobs that have ended and left processes, and tells whether
// there may be processes of none.
func (p *pool) kept() (list []*job, strays bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.slots {
		if s.job != nil && s.job.isEnded() && !s.job.isGone() {
			list = append(list, s.job)
		}
	}
	return list, p.discards > 0
}

// leftovers counts the processes that ended commands left. Where a supervisor
// has not said that nothing is left, that is one at least: a process that forks
// all the time may escape the count.
func (p *pool) leftovers() (n int) {
	kept, strays := p.kept()
	for _, j := range kept {
		n += max(1, len(processes.Below(j.slot.pid, processes.None)))
	}
	if strays {
		n += p.strays()
	}
	return n
}

// strays counts what is below the runner and below no supervisor. Meanwhile none
// is started that could be taken for one.
func (p *pool) strays() int {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	return len(processes.Below(os.Getpid(), p.isSlot))
}

// clear ends what ended commands left.
func (p *pool) clear() {
	var all sync.WaitGroup
	kept, strays := p.kept()
	for _, j := range kept {
		all.Go(func() { p.end(j) })
	}
	all.Wait()
	if strays {
		p.until(time.Now().Add(patience), func() bool { return p.strikeStrays() == 0 })
	}
}

// close ends everything. Supervisors end what is below them themselves; those
// that cannot are killed, and what they leave too.
func (p *pool) close() {
	p.mu.Lock()
	p.closing = true
	for _, s := range p.slots {
		s.file.Close()
	}
	p.mu.Unlock()
	p.until(time.Now().Add(patience/6), p.isEmpty)
	p.until(time.Now().Add(patience), func() bool {
		p.reaping.Lock()
		defer p.reaping.Unlock()
		return processes.Kill(os.Getpid(), processes.None) == 0
	})
}

func (p *pool) isEmpty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots) == 0
}

func (j *job) isGone() bool {
	select {
	case <-j.gone:
		return true
	default:
		return false
	}
}
