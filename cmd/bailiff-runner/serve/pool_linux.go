package serve

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
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
	slots map[int]*slot
	idle  []*slot
	// peak is how many supervisors were at work at once of late.
	peak peak
	// stocking is set while a supervisor is started ahead.
	stocking bool
	// discards counts the dead supervisors that may have left processes to the runner.
	discards int
	// spawning is set while a process is on its way to be a supervisor. If it is
	// stopped then, who starts it waits for it.
	spawning atomic.Bool
	// closing is set when no supervisor is to be started any more.
	closing bool
}

// slot is a supervisor, as the runner sees it.
type slot struct {
	pid  int
	file *os.File
	out  *wire.Writer
	dead chan struct{}
	// job is the one it serves or, when that has ended, whose processes it keeps.
	job *job
}

func (p *pool) open(hear func(*job, wire.Frame), lost func(*job)) {
	p.hear, p.lost, p.slots = hear, lost, map[int]*slot{}
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

// take gives a job to a supervisor that waits, or starts one.
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
		if p.assign(j, s) {
			return nil
		}
	}
}

// assign gives a job to a supervisor, unless that has ended meanwhile: discard must know of
// the job.
func (p *pool) assign(j *job, s *slot) bool {
	p.mu.Lock()
	if p.slots[s.pid] != s {
		p.mu.Unlock()
		return false
	}
	s.job, j.slot = j, s
	p.peak.note(len(p.slots) - len(p.idle))
	p.watchPeak()
	short := len(p.idle) == 0 && len(p.slots) < mostIdle && !p.stocking
	p.stocking = p.stocking || short
	p.mu.Unlock()
	if short {
		go p.restock()
	}
	return true
}

// keepsLimits is true for a supervisor that is gone, too: that shows by itself.
func (p *pool) keepsLimits(pid int) bool {
	if p.limits == nil || pid != 0 && !p.isSlot(pid) {
		return true
	}
	now, err := readLimits(pid)
	return err != nil || now.kept(*p.limits)
}

func (p *pool) next() *slot {
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
		p.addIdleLocked(s)
	}
}

// release makes a supervisor free whose job has ended and left nothing.
func (p *pool) release(s *slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.job == nil || !s.job.isEnded() || !s.job.isGone() {
		return
	}
	s.job = nil
	p.addIdleLocked(s)
}

// addIdleLocked keeps a supervisor for a later job.
func (p *pool) addIdleLocked(s *slot) {
	p.idle = append(p.idle, s)
	p.trim()
}

// SuperviseArgument makes a process of this program a supervisor.
const SuperviseArgument = "supervise"

// supervisorsEnv keeps down the number of threads, which count as processes of
// the sandbox. Commands do not inherit it.
var supervisorsEnv = []string{"GOMAXPROCS=1"}

// spawn starts a supervisor.
func (p *pool) spawn() (*slot, error) {
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
	processes.Lazily(func() {
		pid, err = syscall.ForkExec("/proc/self/exe", []string{"bailiff-runner", SuperviseArgument}, &syscall.ProcAttr{
			Dir: "/", Env: supervisorsEnv, Files: []uintptr{uintptr(down[0]), uintptr(up[1]), 2},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		syscall.Close(down[1])
		syscall.Close(up[0])
		return nil, err
	}
	s := &slot{pid: pid, file: flow.File(down[1]), dead: make(chan struct{})}
	s.out = wire.NewWriter(s.file)
	p.mu.Lock()
	p.slots[pid] = s
	p.mu.Unlock()
	go p.listen(s, flow.File(up[0]))
	return s, nil
}

// say tells the supervisor. One that does not listen is ended.
func (s *slot) say(f wire.Frame) {
	_ = s.file.SetWriteDeadline(time.Now().Add(time.Second))
	if s.out.Send(f) != nil {
		s.file.Close()
	}
}

// listen passes on what a supervisor says until it is dead.
func (p *pool) listen(s *slot, from *os.File) {
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
	p.discard(s)
}
