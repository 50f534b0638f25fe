// Package outage holds what keeps something from working at the moment, and tells the
// first failure from those that follow: the log says it once.
//
// Not here: what a failure means, and what is tried about it.
package outage

import "sync/atomic"

// Outage is why something does not work now. Its zero value says that it works; it may
// be used concurrently.
type Outage struct{ why atomic.Pointer[error] }

// Set takes in how the last attempt ended. It says whether an outage begins with it.
func (o *Outage) Set(err error) (begins bool) {
	if err == nil {
		o.why.Store(nil)
		return false
	}
	return o.why.Swap(&err) == nil
}

// Err is how the last attempt failed; nil if it did not, or there was none.
func (o *Outage) Err() error {
	if why := o.why.Load(); why != nil {
		return *why
	}
	return nil
}
