package nice

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// niceness is that of the calling thread.
func niceness(t *testing.T) int {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the niceness, as the system call has it
	if err != nil {
		t.Fatal(err)
	}
	return 20 - raw
}

func required(t *testing.T) {
	t.Helper()
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NICE, &limit)
	switch {
	case err == nil && (os.Geteuid() == 0 || limit.Cur >= 20-level):
	case os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "":
		t.Fatalf("a user is required here who may raise a thread: %v", err)
	default:
		t.Skipf("SKIPPED WITHOUT A USER WHO MAY RAISE A THREAD: %v", err)
	}
}

func TestWorkIsRaisedAndItsCallerIsNot(t *testing.T) {
	required(t)
	within := 0
	Run(func() { within = niceness(t) })
	if own := niceness(t); within != level || own != 0 {
		t.Errorf("niceness %d within and %d without, not %d and 0", within, own, level)
	}
}

func TestACommandThatIsStartedBesideRaisedWorkInheritsNothing(t *testing.T) {
	required(t)
	Run(func() {
		begin, out := make(chan bool), make(chan string)
		go func() {
			<-begin
			text, err := exec.Command("nice").Output()
			if err != nil {
				t.Error(err)
			}
			out <- strings.TrimSpace(string(text))
		}()
		begin <- true
		if got := <-out; got != "0" {
			t.Errorf("a command has niceness %s", got)
		}
	})
}

func TestAPanicOfTheWorkIsItsCallers(t *testing.T) {
	defer func() {
		if cause := recover(); cause != "broken" {
			t.Errorf("the caller is told %v", cause)
		}
	}()
	Run(func() { panic("broken") })
	t.Error("the work went well")
}
