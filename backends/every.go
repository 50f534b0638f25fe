package backends

import "time"

// Every does something again and again, the first time after a while, until done is closed.
func Every(while time.Duration, done <-chan struct{}, do func()) {
	tick := time.NewTicker(while)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do()
		case <-done:
			return
		}
	}
}
