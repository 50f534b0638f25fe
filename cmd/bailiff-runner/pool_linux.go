package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// patience bounds how long processes are killed that do not go.
const patience = 3 * time.Second

// pool holds the supervisors.
type pool struct {
	hear func(*job, wire.Frame)
	lost func(*job)
	// limits are this process's from its start; nil where no command can change them.
	limits *limits

	// reaping is held while children are reaped and while processes are killed,
	// so that no process id changes its meaning in between.
	reaping sync.Mutex

	mu    sync.Mutex
	seats map[int]*seat
	idle  []*seat
	// demand is how many supervisors were at work at once of late.
	demand demand
	// stocking is set while a supervisor is started ahead.
	stocking bool
	// burials counts the dead supervisors that may have left processes to the runner.
	burials int
	// spawning is set while a process is on its way to be a supervisor. If it is
	// stopped then, who starts it waits for it.
	spawning atomic.Bool
	// closing is set when no supervisor is to be started any more.
	closing bool
}

// seat is a supervisor, as the runner sees it.
type seat struct {
	pid  int
	file *os.File
	out  *wire.Writer
	dead chan struct{}
	// job is the one it serves or, when that has ended, whose processes it keeps.
	job *job
}

func (p *pool) open(hear func(*job, wire.Frame), lost func(*job)) {
	p.hear, p.lost, p.seats = hear, lost, map[int]*seat{}
	onChanges(p.reap)
	onChanges(p.wake) // which must not wait for the other
	p.restock()
}

// onChanges does something whenever a child has ended or was stopped.
func onChanges(do func()) {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGCHLD)
	go func() {
		for range changes {
			do()
		}
	}()
}

// take seats a job at a supervisor that waits, or starts one.
func (p *pool) take(j *job) (err error) {
	if !p.keepsLimits(0) {
		return errLimits
	}
	for {
		s := p.next()
		if s == nil {
			if s, err = p.spawn(); err != nil {
				return fmt.Errorf("starting a supervisor: %w", err)
			}
		}
		if !p.keepsLimits(s.pid) {
			return errLimits
		}
		if p.seat(j, s) {
			return nil
		}
	}
}

// seat gives a job to a supervisor, unless that has died meanwhile: who buries it
// must know of the job.
func (p *pool) seat(j *job, s *seat) bool {
	p.mu.Lock()
	if p.seats[s.pid] != s {
		p.mu.Unlock()
		return false
	}
	s.job, j.seat = j, s
	p.demand.note(len(p.seats) - len(p.idle))
	p.watchDemand()
	short := len(p.idle) == 0 && len(p.seats) < mostIdle && !p.stocking
	p.stocking = p.stocking || short
	p.mu.Unlock()
	if short {
		go p.restock()
	}
	return true
}

// keepsLimits is true for a supervisor that is gone, too: that shows by itself.
func (p *pool) keepsLimits(pid int) bool {
	if p.limits == nil || pid != 0 && !p.isSeat(pid) {
		return true
	}
	now, err := readLimits(pid)
	return err != nil || now.kept(*p.limits)
}

func (p *pool) next() *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	s := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return s
}

// restock starts a supervisor ahead.
func (p *pool) restock() {
	s, err := p.spawn()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stocking = false
	if err == nil { // else the next command tries again, and tells
		p.shelve(s)
	}
}

// release makes a supervisor free whose job has ended and left nothing.
func (p *pool) release(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.job == nil || !s.job.isEnded() || !s.job.isGone() {
		return
	}
	s.job = nil
	p.shelve(s)
}

func (p *pool) shelve(s *seat) {
	p.idle = append(p.idle, s)
	p.trim()
}

// supervisorsEnv keeps down the number of threads, which count as processes of
// the sandbox. Commands do not inherit it.
var supervisorsEnv = []string{"GOMAXPROCS=1"}

// spawn starts a supervisor.
func (p *pool) spawn() (*seat, error) {
	var down, up [2]int
	if err := unix.Pipe2(down[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	defer syscall.Close(down[0])
	if err := unix.Pipe2(up[:], unix.O_CLOEXEC); err != nil {
		syscall.Close(down[1])
		return nil, err
	}
	defer syscall.Close(up[1])
	p.reaping.Lock()
	defer p.reaping.Unlock()
	p.spawning.Store(true)
	defer p.spawning.Store(false)
	var pid int
	var err error
	lazily(func() {
		pid, err = syscall.ForkExec("/proc/self/exe", []string{"bailiff-runner", superviseArgument}, &syscall.ProcAttr{
			Dir: "/", Env: supervisorsEnv, Files: []uintptr{uintptr(down[0]), uintptr(up[1]), 2},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		syscall.Close(down[1])
		syscall.Close(up[0])
		return nil, err
	}
	s := &seat{pid: pid, file: file(down[1]), dead: make(chan struct{})}
	s.out = wire.NewWriter(s.file)
	p.mu.Lock()
	p.seats[pid] = s
	p.mu.Unlock()
	go p.listen(s, file(up[0]))
	return s, nil
}

// file is an end of a pipe or socket. Nobody waits for it in the kernel, so that
// it can be given up on, and keeps no thread busy.
func file(fd int) *os.File {
	_ = syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "stream")
}

// say tells the supervisor. One that does not listen is ended.
func (s *seat) say(f wire.Frame) {
	_ = s.file.SetWriteDeadline(time.Now().Add(time.Second))
	if s.out.Send(f) != nil {
		s.file.Close()
	}
}

// listen passes on what a supervisor says until it is dead.
func (p *pool) listen(s *seat, from *os.File) {
	defer from.Close()
	in := wire.NewReader(from)
	for {
		f, err := in.Next()
		if err != nil {
			break
		}
		if j := p.jobOf(s); j != nil {
			p.hear(j, f)
		}
	}
	p.bury(s)
}

// bury ends what a dead supervisor has left to the runner.
func (p *pool) bury(s *seat) {
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
		p.burials--
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

func (p *pool) jobOf(s *seat) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.job
}

// kill kills a supervisor that is still there.
func (p *pool) kill(pid int) {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.isSeat(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (p *pool) isSeat(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seats[pid] != nil
}

// wake has supervisors that a command has stopped go on, and what is becoming one.
// It holds nobody up and is held up by nobody. What else is stopped is so to be
// killed.
func (p *pool) wake() {
	for {
		pid := stoppedChild()
		if pid == 0 {
			return
		}
		if p.isSeat(pid) || p.spawning.Load() {
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
			p.unseat(pid, status.Signaled())
		}
	}
}

// unseat notes that a supervisor is dead. If it was killed, those that wait may
// have been too, and just not be dead yet: no command shall be given to them.
func (p *pool) unseat(pid int, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seats[pid]
	if s == nil {
		return
	}
	delete(p.seats, pid)
	p.burials++
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
	if pid := j.seat.pid; j.seat.job == j && p.seats[pid] != nil && !j.isGone() {
		strike(pid, none)
	}
}

// strikeStrays kills what is below the runner and below no supervisor.
func (p *pool) strikeStrays() int {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	return strike(os.Getpid(), p.isSeat)
}

// kept lists the jobs that have ended and left processes, and tells whether
// there may be processes of none.
func (p *pool) kept() (list []*job, strays bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.seats {
		if s.job != nil && s.job.isEnded() && !s.job.isGone() {
			list = append(list, s.job)
		}
	}
	return list, p.burials > 0
}

// leftovers counts the processes that ended commands left. Where a supervisor
// has not said that nothing is left, that is one at least: a process that forks
// all the time may escape the count.
func (p *pool) leftovers() (n int) {
	kept, strays := p.kept()
	for _, j := range kept {
		n += max(1, len(below(j.seat.pid, none)))
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
	return len(below(os.Getpid(), p.isSeat))
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
	for _, s := range p.seats {
		s.file.Close()
	}
	p.mu.Unlock()
	p.until(time.Now().Add(patience/6), p.isEmpty)
	p.until(time.Now().Add(patience), func() bool {
		p.reaping.Lock()
		defer p.reaping.Unlock()
		return strike(os.Getpid(), none) == 0
	})
}

func (p *pool) isEmpty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seats) == 0
}

func (j *job) isGone() bool {
	select {
	case <-j.gone:
		return true
	default:
		return false
	}
}
